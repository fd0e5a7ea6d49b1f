//! The grammar of lines: fields, list items, headings and placeholders.

pub(crate) use rekindle_text::markdown::line::{Field, bold_field as field};

/// Reads a history entry: the length of its list mark, and its text.
///
/// A numbered line is always an entry; any other must start with a day.
pub(super) fn history_line(line: &str) -> Option<(usize, &str)> {
    let n_mark = list_mark(line);
    let text = line.get(n_mark..)?;
    let is_entry = number_mark(line).is_some() || is_dated(text);
    is_entry.then_some((n_mark, text))
}

/// Returns the length of a number or bullet at the start of a line.
pub(super) fn list_mark(line: &str) -> usize {
    let has_bullet = line.starts_with("- ") || line.starts_with("* ");
    number_mark(line).unwrap_or(if has_bullet { 2 } else { 0 })
}

/// Returns the length of `12. ` or `12) ` at the start of a line.
pub(crate) fn number_mark(line: &str) -> Option<usize> {
    let n_digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(n_digits..)?;
    let is_mark = n_digits > 0 && (rest.starts_with(". ") || rest.starts_with(") "));
    is_mark.then_some(n_digits + 2)
}

/// Returns whether a text starts with a day in bold: `**2026-03-13`.
fn is_dated(text: &str) -> bool {
    let day = text.strip_prefix("**").and_then(|rest| rest.get(..10));
    day.is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok())
}

/// Returns the words of a heading without leading symbols and trailing remarks.
pub(super) fn heading_words(text: &str) -> String {
    let words = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let words = words.split('(').next().unwrap_or_default();
    let words = words
        .trim_end_matches([':', '*', '_', '`', ' '])
        .to_lowercase();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a text is a placeholder of the template.
pub(super) fn is_placeholder(text: &str) -> bool {
    let known = [
        "(To be filled during workflow execution)",
        "(To be documented during implementation)",
        "(To be filled when tasks are created)",
        "(Add notes here as needed)",
        "(Project-wide issues, not feature blockers)",
        "(Project-wide shortcuts)",
        "None",
    ];
    known.contains(&text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_with_positions() {
        let table = [
            ("- **Status**: Idle", "Status", "Idle", 0),
            (
                "  - **Task ID**:  T014 complete  ",
                "Task ID",
                "T014 complete",
                2,
            ),
            (
                "**Last Updated**: 2026-03-13  ",
                "Last Updated",
                "2026-03-13",
                0,
            ),
            ("- **Active Task**:", "Active Task", "", 0),
            ("* **Phase:** plan", "Phase", "plan", 0),
            ("- **Progress** : 0/0", "Progress", "0/0", 0),
        ];
        for (line, key, value, indent) in table {
            let found = field(line).unwrap();
            assert_eq!((found.key, found.value, found.indent), (key, value, indent));
            assert_eq!(
                line.get(found.value_at..).unwrap().trim_end(),
                value,
                "{line}"
            );
        }
        for line in [
            "",
            "- Status: Idle",
            "**CP-001** (2026-03-13 15:20): x",
            "**bold** text",
            "**",
        ] {
            assert_eq!(field(line), None, "{line}");
        }
    }

    #[test]
    fn history_entries_are_numbered_or_dated() {
        let table = [
            ("1. **2026-03-13** - Plan: x", Some(3)),
            ("12) **2026-03-13 21:00** - x", Some(4)),
            ("1. anything", Some(3)),
            ("- **2026-03-13** - x", Some(2)),
            ("**2026-03-13** - x", Some(0)),
            ("- **Bold** - x", None),
            ("  continued", None),
            ("1.x", None),
            ("", None),
        ];
        for (line, mark) in table {
            assert_eq!(history_line(line).map(|(mark, _)| mark), mark, "{line}");
        }
    }

    #[test]
    fn identifies_headings_by_their_words() {
        for (text, words) in [
            ("🎯 Active Focus", "active focus"),
            (
                "⚠\u{fe0f} Known Issues & Blockers",
                "known issues & blockers",
            ),
            ("Session History (Last 5)", "session history"),
            ("Latest  Checkpoint:", "latest checkpoint"),
            ("**Latest Checkpoint**", "latest checkpoint"),
            ("**Session History** (Last 5)", "session history"),
            ("🎯", ""),
        ] {
            assert_eq!(heading_words(text), words);
        }
    }
}
