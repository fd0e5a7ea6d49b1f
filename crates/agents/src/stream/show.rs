//! Reduces the output of an agent to one printable line.

use rekindle_text::is_printable;
use serde_json::Value;

/// The maximum length of a line in characters.
const MOST: usize = 200;

/// The arguments that describe the use of a tool, the best first.
const MAIN_ARGUMENTS: &str = "command cmd file_path filePath path pattern query url description";

/// Returns the last line that is not blank.
pub(super) fn line(text: &str) -> Option<String> {
    text.lines().rev().find_map(clean)
}

/// Returns the first line that is not blank, the most useful one of an error.
pub(crate) fn first_line(text: &str) -> Option<String> {
    text.lines().find_map(clean)
}

/// Returns the use of a tool in one line.
pub(crate) fn tool(name: &str, input: Option<&Value>) -> Option<String> {
    let argument = MAIN_ARGUMENTS
        .split(' ')
        .find_map(|key| input?.get(key)?.as_str())
        .and_then(first_line);
    match argument {
        Some(argument) => first_line(&format!("{name}: {argument}")),
        None => first_line(name),
    }
}

fn clean(line: &str) -> Option<String> {
    // Of a progress bar only the last state counts.
    let line = line.trim_end_matches('\r').rsplit('\r').next()?;
    let line = without_escapes(line);
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    let Some((cut, _)) = line.char_indices().nth(MOST) else {
        return Some(line.to_owned());
    };
    Some(format!("{}…", line.get(..cut)?.trim_end()))
}

/// Returns the text without control characters and terminal sequences.
fn without_escapes(line: &str) -> String {
    let mut kept = String::with_capacity(line.len().min(4 * MOST));
    let mut rest = line.chars();
    while let Some(char) = rest.next() {
        match char {
            '\u{1b}' => skip_escape(&mut rest),
            '\t' => kept.push(' '),
            char if !is_printable(char) => {}
            char => kept.push(char),
        }
    }
    kept
}

fn skip_escape(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        // `ESC [ … letter`
        Some('[') => {
            rest.find(|char| ('\u{40}'..='\u{7e}').contains(char));
        }
        // `ESC ] … BEL`, or closed by another escape.
        Some(']') => {
            rest.find(|char| matches!(char, '\u{7}' | '\u{1b}' | '\u{9c}'));
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_line_that_is_not_blank_is_shown() {
        assert_eq!(line("one\ntwo\n\n  \n").as_deref(), Some("two"));
        assert_eq!(first_line("\n one\ntwo").as_deref(), Some("one"));
        assert_eq!(line("10%\r100%\r\n").as_deref(), Some("100%"));
        assert_eq!(line(" \n\t\n"), None);
        assert_eq!(line(""), None);
    }

    #[test]
    fn terminal_sequences_are_removed() {
        let output = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}and\u{8}\ta\u{202e}b\u{1b}";
        assert_eq!(line(output).as_deref(), Some("red and ab"));
        assert_eq!(line("\u{1b}[999"), None);
    }

    #[test]
    fn a_long_line_is_truncated_between_characters() {
        let shown = line(&"ä".repeat(500)).unwrap();
        assert_eq!(shown.chars().count(), 201);
        assert!(shown.ends_with('…'));
    }

    #[test]
    fn a_tool_is_shown_with_its_main_argument() {
        let of = |input: Value| tool("Bash", Some(&input)).unwrap();
        assert_eq!(
            of(json!({"description": "list", "command": "ls\npwd"})),
            "Bash: ls"
        );
        assert_eq!(of(json!({"file_path": "/x/y"})), "Bash: /x/y");
        assert_eq!(of(json!({"command": 7})), "Bash");
        assert_eq!(tool("Bash", None).as_deref(), Some("Bash"));
    }
}
