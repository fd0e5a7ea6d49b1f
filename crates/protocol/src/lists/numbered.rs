//! Ids that number an outline, `1.2.3`, as `OpenSpec` and Kiro have them.

use crate::lists::grammar::{Bare, Closed};
use crate::lists::scan;

/// An id at the start of a task's text.
pub struct Numbered<'t> {
    /// The id.
    pub id: &'t str,
    /// What follows it.
    pub after: Closed<'t>,
    /// Whether the text behind it may begin without a blank.
    pub is_starred: bool,
}

/// Which ids a format knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Numbers only: `1.2a`.
    Numbers,
    /// Letters may stand in front: `A.1.2`, `T-04`, `T1:`, `Task 1.1`.
    Letters,
}

/// Returns the id at the start of a text.
pub fn numbered(text: &str, form: Form) -> Option<Numbered<'_>> {
    let bare = Bare::of(text);
    let after_word = match form {
        Form::Letters => bare.text.strip_prefix("Task ").map(str::trim_start),
        Form::Numbers => None,
    };
    let has_word = after_word.is_some();
    let start = after_word.unwrap_or(bare.text);
    let (len, kind) = length(start, form)?;
    let (id, rest) = start.split_at(len);
    let after = bare.close(rest, &['.', ':', ')']);
    let is_starred = form == Form::Numbers && after.rest.starts_with('*');
    let is_apart = after.rest.is_empty() || after.rest.starts_with(scan::BLANKS) || is_starred;
    let is_marked = after.end.is_some();
    let is_id = match kind {
        Kind::Outline => true,
        Kind::Number => is_marked || after.is_bold || has_word,
        Kind::Word => is_marked,
    };
    (is_apart && is_id).then_some(Numbered {
        id,
        after,
        is_starred,
    })
}

/// What an id looks like.
enum Kind {
    /// It has several parts.
    Outline,
    /// It is one number, which could be a number of something.
    Number,
    /// It is letters and a number, which could be any word.
    Word,
}

/// Returns how long the id at the start of a text is.
fn length(text: &str, form: Form) -> Option<(usize, Kind)> {
    let bytes = text.as_bytes();
    let letters = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let mut at = 0;
    let mut kind = Kind::Number;
    if letters > 0 {
        if form == Form::Numbers || letters > 4 {
            return None;
        }
        at = letters;
        if matches!(bytes.get(at), Some(b'-' | b'.')) {
            at += 1;
            kind = Kind::Outline;
        } else {
            let digits = part(bytes, at)?;
            let is_plain = bytes
                .get(at + digits..)
                .is_none_or(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric));
            return is_plain.then_some((at + digits, Kind::Word));
        }
    }
    at += part(bytes, at)?;
    at += letter(bytes, at);
    while bytes.get(at) == Some(&b'.')
        && let Some(digits) = part(bytes, at + 1)
    {
        at += 1 + digits;
        at += letter(bytes, at);
        kind = Kind::Outline;
    }
    Some((at, kind))
}

fn part(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = bytes
        .get(at..)?
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    (digits > 0).then_some(digits)
}

fn letter(bytes: &[u8], at: usize) -> usize {
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    usize::from(is_letter(at) && !is_letter(at + 1))
}

/// Returns the id of the task that a task of this id is a part of.
pub fn parent(id: &str) -> Option<&str> {
    id.rsplit_once('.').map(|(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, form: Form) -> String {
        match numbered(text, form) {
            Some(numbered) => format!("{}|{}", numbered.id, numbered.after.rest),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn ids_are_told_from_numbers_and_words() {
        for (text, letters, numbers) in [
            ("1.1 Set up", "1.1| Set up", "1.1| Set up"),
            ("1. Set up", "1| Set up", "1| Set up"),
            ("3 retries on failure", "none", "none"),
            ("**3** retries", "3| retries", "3| retries"),
            ("3D view", "none", "none"),
            ("1a.2 Copy", "1a.2| Copy", "1a.2| Copy"),
            ("2.10a) Copy", "2.10a| Copy", "2.10a| Copy"),
            ("Task 1.3: Switch", "1.3| Switch", "none"),
            ("Task 3 Switch", "3| Switch", "none"),
            ("**Task 1.1:** Switch", "1.1| Switch", "none"),
            ("**1.1 Switch**", "1.1| Switch**", "1.1| Switch**"),
            ("T-04 Measure", "T-04| Measure", "none"),
            ("A.1.2 Alert", "A.1.2| Alert", "none"),
            ("T1: First", "T1| First", "none"),
            ("T1 First", "none", "none"),
            ("v2 of the format", "none", "none"),
            ("1.1-beta of it", "none", "none"),
            ("`1.2` Switch", "1.2| Switch", "1.2| Switch"),
            ("3.3* Glossary", "none", "3.3|* Glossary"),
            ("1.1", "1.1|", "1.1|"),
            ("Tasks for later", "none", "none"),
        ] {
            assert_eq!(found(text, Form::Letters), letters, "{text}");
            assert_eq!(found(text, Form::Numbers), numbers, "{text}");
        }
        assert_eq!(parent("1.2.3"), Some("1.2"));
        assert_eq!(parent("1"), None);
    }
}
