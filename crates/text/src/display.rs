//! Makes foreign text safe to print.
//!
//! Text from state files, logs and agents may contain terminal escapes, line breaks and characters
//! that reorder the line. They become visible escapes such as `\u{1b}`. A backslash is not escaped,
//! so the result cannot be read back. Lengths are in characters, not in columns.

use std::borrow::Cow;

/// Returns the text with every character escaped that could disturb its terminal line.
pub fn printable(text: &str) -> Cow<'_, str> {
    escape_where(text, is_unsafe)
}

/// Escapes like [`printable`], except `\n` and `\t`. A `\r` could overwrite the line.
pub fn printable_block(text: &str) -> Cow<'_, str> {
    escape_where(text, |c| is_unsafe(c) && c != '\n' && c != '\t')
}

/// Escapes like [`printable`] and truncates to `max_chars` characters, including the final `…`.
///
/// An escape is never split. Only the part that is shown is read.
pub fn excerpt(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    let mut n_chars = 0;
    // The end of the last piece that leaves room for `…`.
    let mut cut = 0;
    for c in text.chars() {
        n_chars += if is_unsafe(c) {
            c.escape_default().count()
        } else {
            1
        };
        if n_chars > max_chars {
            shown.truncate(cut);
            if max_chars > 0 {
                shown.push('…');
            }
            return shown;
        }
        push(&mut shown, c, is_unsafe(c));
        if n_chars < max_chars {
            cut = shown.len();
        }
    }
    shown
}

/// Quotes a text as one shell word in printable characters.
///
/// Control characters need the form `$'…'` of bash, zsh and newer shells.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.into();
    }
    if text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', r"'\''")).into();
    }
    let mut word = String::from("$'");
    for c in text.chars() {
        if is_unsafe(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Three octal digits: unlike `\x1b`, they end before a digit that follows.
                word.push_str(&format!("\\{byte:03o}"));
            }
        } else {
            if matches!(c, '\'' | '\\') {
                word.push('\\');
            }
            word.push(c);
        }
    }
    word.push('\'');
    word.into()
}

/// Returns an option with its value: `--task T1`, or `--task=-x` if the value looks like an option.
pub fn option_words(option: &str, value: &str) -> String {
    let sign = if value.starts_with('-') { '=' } else { ' ' };
    format!("{option}{sign}{}", shell_word(value))
}

/// Longer runs of blanks are shown as a number.
const MOST_BLANKS: usize = 8;

/// Returns a whole command in one line with nothing hidden: escaped like [`printable`], and with
/// long runs of blanks counted.
pub fn visible_command(text: &str) -> String {
    let text = printable(text);
    let mut shown = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(start) = rest.find(char::is_whitespace) {
        let (before, blanks) = rest.split_at(start);
        let end = blanks
            .find(|c: char| !c.is_whitespace())
            .unwrap_or(blanks.len());
        let (blanks, after) = blanks.split_at(end);
        shown.push_str(before);
        match blanks.chars().count() {
            n if n > MOST_BLANKS => shown.push_str(&format!(" [{n} blanks] ")),
            _ => shown.push_str(blanks),
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Returns whether a text is at most `longest` ASCII letters, digits and `-_.:/`, which is safe in
/// sentences and commands.
pub fn is_plain_word(text: &str, longest: usize) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte);
    !text.is_empty() && text.len() <= longest && text.bytes().all(is_plain)
}

/// Returns a fence of tildes that the text does not contain, so that it cannot close the block.
pub fn fence(text: &str) -> String {
    let runs = text.split(|c| c != '~').map(str::len);
    "~".repeat(runs.max().unwrap_or_default().max(2) + 1)
}

/// Returns whether a character is safe in a terminal line.
pub fn is_printable(c: char) -> bool {
    !is_unsafe(c)
}

fn is_unsafe(c: char) -> bool {
    // Control characters are C0 with ESC, DEL, and C1, where U+009B alone starts a command.
    c.is_control() || is_reordering(c) || is_separator(c) || is_invisible(c)
}

/// Returns whether a character reorders the text around it; see "Trojan Source", CVE-2021-42574.
fn is_reordering(c: char) -> bool {
    matches!(
        c,
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    )
}

/// Returns whether a character has no width, so that a sentence for programs could hide in a text.
/// Joiners are allowed, since scripts and emoji need them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{206A}'..='\u{206F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Returns whether a character ends a line or paragraph in browsers and editors.
fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn escape_where(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_escaped) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(first);
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push_str(clean);
    for c in rest.chars() {
        push(&mut escaped, c, is_escaped(c));
    }
    Cow::Owned(escaped)
}

fn push(out: &mut String, c: char, is_escaped: bool) {
    if is_escaped {
        out.extend(c.escape_default());
    } else {
        out.push(c);
    }
}

/// Returns bytes as hexadecimal digits, two each.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quoted_text_is_one_shell_word() {
        for (text, expected) in [
            ("/a/b-1.txt", "/a/b-1.txt"),
            ("/a b/FILE", "'/a b/FILE'"),
            ("/it's/$(x)", r"'/it'\''s/$(x)'"),
            ("", "''"),
            ("a\rb", r"$'a\015b'"),
            ("\u{1b}[2K'\\1", r"$'\033[2K\'\\1'"),
            ("\u{202e}x", r"$'\342\200\256x'"),
        ] {
            assert_eq!(shell_word(text), expected);
        }
    }

    #[test]
    fn an_option_value_is_never_read_as_an_option() {
        for (value, expected) in [
            ("T1", "--task T1"),
            ("-x", "--task=-x"),
            ("--all y", "--task='--all y'"),
        ] {
            assert_eq!(option_words("--task", value), expected);
        }
    }

    #[test]
    fn no_part_of_a_command_can_be_missed() {
        for (text, expected) in [
            ("cargo test  -q", "cargo test  -q"),
            ("true\r# harmless", r"true\r# harmless"),
            ("a\nb\u{1b}[8m", r"a\nb\u{1b}[8m"),
            ("a", "a"),
        ] {
            assert_eq!(visible_command(text), expected);
        }
        let padded = format!("true{};rm -rf x", " ".repeat(5000));
        assert_eq!(visible_command(&padded), "true [5000 blanks] ;rm -rf x");
        let long = "x".repeat(10_000);
        assert_eq!(visible_command(&long), long);
    }

    #[test]
    fn plain_words_are_short_and_without_special_characters() {
        for (text, expected) in [
            ("T001", true),
            ("agent-memory:2026_01.x/y", true),
            ("12345678901234567890123456", true),
            ("123456789012345678901234567", false),
            ("", false),
            ("a b", false),
            ("a\nb", false),
            ("$(x)", false),
            ("ü", false),
        ] {
            assert_eq!(is_plain_word(text, 26), expected, "{text:?}");
        }
    }

    #[test]
    fn ordinary_text_is_borrowed_unchanged() {
        for text in ["", "plain", "naïve ✓ 日本語 👩‍💻", r"C:\new\table", "a … b"] {
            assert!(
                matches!(printable(text), Cow::Borrowed(same) if same == text),
                "{text:?}"
            );
        }
        assert!(matches!(
            printable_block("a\n\tb\n"),
            Cow::Borrowed("a\n\tb\n")
        ));
    }

    #[test]
    fn control_characters_become_visible() {
        check("a\nb\r\n\tc", r"a\nb\r\n\tc");
        check("\u{1b}[31mred\u{1b}[0m", r"\u{1b}[31mred\u{1b}[0m");
        check("nul\0 bell\u{7} del\u{7f}", r"nul\u{0} bell\u{7} del\u{7f}");
        check("csi\u{9b}2J nel\u{85}", r"csi\u{9b}2J nel\u{85}");
    }

    #[test]
    fn characters_that_reorder_the_line_become_visible() {
        for c in ('\u{202A}'..='\u{202E}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{200E}', '\u{200F}', '\u{061C}', '\u{2028}', '\u{2029}'])
        {
            check(&format!("a{c}b"), &format!("a\\u{{{:x}}}b", u32::from(c)));
        }
    }

    #[test]
    fn neighbors_of_the_escaped_ranges_are_kept() {
        let kept =
            " ~\u{a0}\u{AE}\u{200A}\u{200C}\u{200D}\u{2027}\u{202F}\u{2065}\u{FFFC}\u{1FFFD}";
        check(kept, kept);
    }

    #[test]
    fn characters_without_width_become_visible() {
        // Tag characters spell invisible text.
        check("a\u{E0041}\u{E0042}b", r"a\u{e0041}\u{e0042}b");
        check(
            "\u{AD}\u{200B}\u{2060}\u{FEFF}",
            r"\u{ad}\u{200b}\u{2060}\u{feff}",
        );
    }

    #[test]
    fn a_block_keeps_only_line_ends_and_tabs() {
        assert_eq!(
            printable_block("a\n\tb\r\n\u{1b}[2J"),
            "a\n\tb\\r\n\\u{1b}[2J"
        );
    }

    #[test]
    fn an_excerpt_ends_with_an_ellipsis_that_counts() {
        let check = |text, max_chars, expected: &str| {
            assert_eq!(
                excerpt(text, max_chars),
                expected,
                "{text:?} cut at {max_chars}"
            );
        };
        check("", 0, "");
        check("", 5, "");
        check("abc", 0, "");
        check("abc", 1, "…");
        check("abc", 2, "a…");
        check("abc", 3, "abc");
        check("abc", 4, "abc");
        check("日本語です", 3, "日本…");
        check("a\nb", 4, r"a\nb");
        check("a\nb", 3, "a…");
        check("\u{1b}[2J", 6, "…");
        check("\u{1b}[2J", 7, r"\u{1b}…");
        check("\u{1b}[2J", 9, r"\u{1b}[2J");
    }

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        for (text, expected) in [("", "~~~"), ("a ~~ b", "~~~"), ("~~~\n~~~~~ x", "~~~~~~")] {
            assert_eq!(fence(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_unsafe_character_is_left(text in any::<String>()) {
            prop_assert!(!printable(&text).chars().any(is_unsafe));
            prop_assert!(printable_block(&text).chars().all(|c| !is_unsafe(c) || "\n\t".contains(c)));
        }

        #[test]
        fn escaping_twice_changes_nothing_more(text in any::<String>()) {
            let once = printable(&text);
            prop_assert_eq!(printable(&once), once.as_ref());
        }

        #[test]
        fn an_excerpt_is_the_whole_text_or_a_marked_prefix(text in any::<String>(), max in 0_usize..40) {
            let whole = printable(&text);
            let cut = excerpt(&text, max);
            prop_assert!(cut.chars().count() <= max);
            if whole.chars().count() <= max {
                prop_assert_eq!(cut, whole);
            } else if max > 0 {
                let kept = cut.strip_suffix('…').ok_or_else(|| TestCaseError::fail("no mark"))?;
                prop_assert!(whole.starts_with(kept));
            }
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(printable(text), expected, "{text:?}");
    }
}
