//! The tasks of spec-kit: `- [ ] T012 [P] [US1] Create the model in src/model.py`.

use rekindle_protocol::lists::grammar::{self, Bare, Boxed, Closed, skip_blanks, tag};
use rekindle_protocol::lists::reading::{self, Grammar, Parents, WithoutId, Words, plain_claim};
use rekindle_protocol::lists::remarks;
use rekindle_protocol::lists::scan::{self, Page};
use rekindle_protocol::lists::task::TaskFile;

/// Tags by which a list leaves a task out.
const LEFT_OUT: [&str; 3] = ["deferred", "skip", "skipped"];

const GRAMMAR: Grammar = Grammar {
    words,
    claim: plain_claim,
    without_id: WithoutId::StepsInGroups,
    parents: Parents::Indent,
    has_groups: true,
};

/// Reads the tasks of a file.
pub(crate) fn read(page: &Page<'_>) -> TaskFile {
    let mut file = reading::read(page, &GRAMMAR);
    remarks::add_needs(&mut file, id);
    file
}

/// Returns what stands behind a box.
fn words<'l>(boxed: &Boxed<'l>) -> Option<Words<'l>> {
    let mut text = boxed.check.rest;
    let is_apart = text.is_empty() || text.starts_with(scan::BLANKS) || text.starts_with('[');
    if !is_apart || !boxed.check.is_spaced {
        return None;
    }
    let mut words = Words::default();
    let mut open = Vec::new();
    loop {
        text = skip_blanks(text);
        if words.id.is_none()
            && let Some((id, closed)) = decorated_id(text)
        {
            words.id = Some(id);
            words.is_left_out = closed.is_struck;
            open = closed.open;
            text = closed.rest;
        } else if let Some((inside, rest)) = tag(text) {
            match id(inside) {
                Some(found) if found.len() == inside.len() && words.id.is_none() => {
                    words.id = Some(found);
                }
                Some(_) | None => words.tags.push(inside),
            }
            text = rest;
        } else {
            break;
        }
    }
    let (text, is_struck) = grammar::struck(text, &open);
    let is_word = |tag: &&str| LEFT_OUT.contains(&tag.to_ascii_lowercase().as_str());
    words.text = text;
    words.is_left_out |= is_struck || words.tags.iter().any(is_word);
    words.is_parallel = words.tags.contains(&"P");
    words.is_task = words.tags.first().is_some_and(|tag| {
        let story = tag.strip_prefix("US");
        *tag == "P" || story.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    Some(words)
}

/// Returns the id at the start of a text, decorated or not, and what follows it.
fn decorated_id(text: &str) -> Option<(&str, Closed<'_>)> {
    let bare = Bare::of(text);
    let found = id(bare.text)?;
    let rest = &bare.text[found.len()..];
    let closed = bare.close(rest, &[':', '.']);
    let is_end = closed.rest.is_empty() || closed.rest.starts_with(scan::BLANKS);
    let is_apart = is_end || closed.rest.starts_with('[') || closed.end == Some(':');
    is_apart.then_some((found, closed))
}

/// Returns the id at the start of a text: `T012`, `T-12`, `T-HF01`, `T030b`, `T030.2`, `G001`, `TXXX`.
pub(crate) fn id(text: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let bytes = text.as_bytes();
    let first = bytes.first().filter(|byte| byte.is_ascii_uppercase())?;
    if text.starts_with("TXXX") && !text[4..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some(&text[..4]);
    }
    let mut at = 1 + usize::from(bytes.get(1) == Some(&b'-'));
    let mut least = 3;
    if *first == b'T' {
        let capitals = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_uppercase());
        at += capitals.count().min(4);
        least = 1;
    }
    let n_digits = digits(text.get(at..)?);
    if n_digits < least {
        return None;
    }
    at += n_digits;
    at += usize::from(bytes.get(at).is_some_and(u8::is_ascii_alphabetic));
    while bytes.get(at) == Some(&b'.') && digits(text.get(at + 1..)?) > 0 {
        at += 1 + digits(&text[at + 1..]);
    }
    let follows = text[at..].chars().next();
    (!follows.is_some_and(|c| c.is_alphanumeric() || c == '_' && !text[at..].starts_with("__")))
        .then(|| &text[..at])
}
