//! The first words of a shell command: which program it starts, and where a relative path begins.
//!
//! Only plain words are understood. Anything that needs a shell, such as a quoted or computed name,
//! is left as it is.

use std::ops::Range;

use camino::Utf8Path;

/// Programs that get the path of a script as their first argument.
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "dash", "deno", "node", "perl", "python", "python3", "ruby", "sh", "zsh",
];

/// Returns a command whose program, and the script of an interpreter, are absolute paths.
///
/// A relative path is meant in the folder where it was typed, and an agent starts elsewhere. A script
/// is one only if `is_file` says so.
pub fn anchored(command: &str, folder: &Utf8Path, is_file: &dyn Fn(&Utf8Path) -> bool) -> String {
    let Some(program) = program_at(command) else {
        return command.to_owned();
    };
    let mut anchored = command.to_owned();
    let name = &command[program.clone()];
    let script = word_at(command, program.end)
        .filter(|_| INTERPRETERS.contains(&name))
        .filter(|script| !command[script.clone()].starts_with('-'))
        .filter(|script| is_file(&folder.join(&command[script.clone()])));
    // From the end, so that the places before it stay right.
    for place in script
        .into_iter()
        .chain(name.contains('/').then_some(program))
    {
        let path = folder.join(command[place.clone()].trim_start_matches("./"));
        anchored.replace_range(place, &rekindle_text::shell_word(path.as_str()));
    }
    anchored
}

/// Returns the program that a command starts, if that can be known without a shell.
pub fn program(command: &str) -> Option<&str> {
    program_at(command).map(|place| &command[place])
}

/// Returns where the program is: the first word that sets no variable.
fn program_at(command: &str) -> Option<Range<usize>> {
    let mut from = 0;
    loop {
        let place = word_at(command, from)?;
        if !sets_a_variable(&command[place.clone()]) {
            return Some(place);
        }
        from = place.end;
    }
}

fn sets_a_variable(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns where the next word is, if it is plain.
fn word_at(command: &str, from: usize) -> Option<Range<usize>> {
    let rest = &command[from..];
    let start = from + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let rest = &command[start..];
    let len = rest
        .find(|c: char| c.is_whitespace() || ";|&<>()".contains(c))
        .unwrap_or(rest.len());
    let word = &rest[..len];
    let is_plain = !word.is_empty()
        && !word.contains([
            '"', '\'', '\\', '$', '`', '*', '?', '[', '{', '}', '~', '#', '!',
        ]);
    is_plain.then_some(start..start + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_program_begins_where_it_was_typed() {
        let is_file = |path: &Utf8Path| path.as_str().ends_with("/agent.py");
        for (typed, meant) in [
            ("./agent.sh", "/home/me/agent.sh"),
            ("  ./agent.sh --fast", "  /home/me/agent.sh --fast"),
            ("bin/agent; true", "/home/me/bin/agent; true"),
            ("KEY=1 ../agent", "KEY=1 /home/me/../agent"),
            ("python3 agent.py ./src", "python3 /home/me/agent.py ./src"),
            ("sh ./agent.py", "sh /home/me/agent.py"),
            ("python3 -m agent.py", "python3 -m agent.py"),
            ("sh missing.sh", "sh missing.sh"),
            ("/opt/agent ./x", "/opt/agent ./x"),
            ("agent ./agent.py", "agent ./agent.py"),
            ("cat > ./x", "cat > ./x"),
            ("\"./my agent\"", "\"./my agent\""),
            ("$HOME/agent", "$HOME/agent"),
            ("", ""),
        ] {
            assert_eq!(
                anchored(typed, "/home/me".into(), &is_file),
                meant,
                "{typed}"
            );
        }
        let odd = anchored("./agent", "/home/my things".into(), &is_file);
        assert_eq!(odd, "'/home/my things/agent'");
    }

    #[test]
    fn the_program_is_the_first_plain_word() {
        for (command, found) in [
            ("agent --fast", Some("agent")),
            ("A=1 B=x /opt/agent", Some("/opt/agent")),
            ("cat>x", Some("cat")),
            ("(cd x; agent)", None),
            ("$AGENT", None),
            ("'my agent'", None),
            ("", None),
        ] {
            assert_eq!(program(command), found, "{command}");
        }
    }
}
