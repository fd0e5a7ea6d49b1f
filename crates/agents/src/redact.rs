//! Masks secrets in the output of an agent before it is saved.
//!
//! Secrets are found in the visible text (`view`): by shapes of tokens and names of values (`scan`), by
//! the rules of gitleaks (`rules`), in command lines (`command`), and in base64 (`encoded`). Each string
//! of a JSON line is a separate text (`json`), so the line stays JSON. This protects against accidents,
//! not against an agent that leaks a secret on purpose. Start at [`Redactor::line`].

use std::borrow::Cow;
use std::ops::Range;

mod command;
mod encoded;
mod follow;
mod json;
mod known;
mod names;
mod rules;
mod scan;
mod shape;
mod value;
mod view;

use follow::Follow;
use known::Known;
use scan::Scan;
use view::View;

pub(crate) use command::redact_command;

/// The replacement of a secret.
const MASK: &str = "***";

/// The maximum number of passes over a line, since a mask can reveal another secret. A line that needs
/// more is masked as a whole.
const MOST_PASSES: usize = 16;

/// The maximum depth of JSON in strings of JSON.
const MOST_DEPTH: u8 = 4;

/// Masks secrets line by line, with state for secrets over several lines.
#[derive(Debug, Default)]
pub struct Redactor {
    follow: Follow,
    known: Known,
}

impl Redactor {
    /// Returns a redactor for the beginning of an output.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a redactor that also masks the values in files of variables, such as `.env`, wherever
    /// they occur.
    pub fn knowing<'f>(files: impl IntoIterator<Item = &'f str>) -> Self {
        Self {
            follow: Follow::default(),
            known: Known::of(files),
        }
    }

    /// Returns the next line with its secrets masked.
    pub fn line<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        let mut text = self.known.mask(line);
        for _ in 0..MOST_PASSES {
            let mut follow = self.follow;
            let masks = find(&text, &mut follow, 0);
            if masks.is_empty() {
                self.follow = follow;
                return text;
            }
            text = Cow::Owned(apply(&text, &masks));
        }
        self.follow = Follow::default();
        Cow::Borrowed(MASK)
    }
}

/// Returns a text with its secrets masked.
pub fn redact(text: &str) -> Cow<'_, str> {
    Redactor::new().line(text)
}

/// A range that is replaced by [`MASK`], or removed if it continues a mask.
struct Mask {
    range: Range<usize>,
    is_first: bool,
}

/// Finds the secrets of a text in order.
fn find(text: &str, follow: &mut Follow, depth: u8) -> Vec<Mask> {
    let view = View::of_terminal(text);
    if let Some(secrets) = follow.private_key(&view.text) {
        return in_source(&view, masks(secrets));
    }
    if depth < MOST_DEPTH
        && let Some(masks) = json::find(&view.text, depth)
    {
        *follow = Follow::default();
        return in_source(&view, masks);
    }
    let (mut secrets, key_is_open) = find_plain(&view.text);
    encoded::find(&view.text, &mut secrets);
    follow.lines(&view.text, &mut secrets, key_is_open);
    in_source(&view, masks(tidy(&view.text, secrets)))
}

/// Finds secrets in plain text, and returns whether a private key continues after it.
fn find_plain(text: &str) -> (Vec<Range<usize>>, bool) {
    let mut scan = Scan::new(text);
    scan.run();
    let (mut secrets, key_is_open) = scan.into_found();
    command::find(text, &mut secrets);
    let n_own = secrets.len();
    rules::find(text, &mut secrets);
    let (own, of_rules) = secrets.split_at_mut(n_own);
    for range in of_rules {
        // The readable prefix of a token stays readable.
        let inside = |own: &&mut Range<usize>| range.contains(&own.start);
        if let Some(own) = own.iter_mut().find(inside) {
            range.start = own.start;
        }
    }
    (secrets, key_is_open)
}

/// Sorts ranges, joins overlapping ones, and drops those that are masked already.
fn tidy(text: &str, mut secrets: Vec<Range<usize>>) -> Vec<Range<usize>> {
    secrets.sort_by_key(|range| (range.start, range.end));
    let mut tidied: Vec<Range<usize>> = Vec::new();
    for range in secrets {
        match tidied.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => tidied.push(range),
        }
    }
    tidied.retain(|range| {
        let secret = text.get(range.clone()).unwrap_or_default();
        secret.bytes().any(|byte| byte != b'*')
    });
    tidied
}

fn masks(secrets: Vec<Range<usize>>) -> Vec<Mask> {
    let is_first = true;
    let secrets = secrets.into_iter();
    secrets.map(|range| Mask { range, is_first }).collect()
}

fn in_source(view: &View<'_>, masks: Vec<Mask>) -> Vec<Mask> {
    let parts = |mask: Mask| {
        let parts = view.parts(&mask.range).into_iter().enumerate();
        parts.map(move |(index, range)| Mask {
            range,
            is_first: mask.is_first && index == 0,
        })
    };
    masks.into_iter().flat_map(parts).collect()
}

fn apply(text: &str, masks: &[Mask]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for mask in masks {
        masked.push_str(text.get(at..mask.range.start).unwrap_or_default());
        if mask.is_first {
            masked.push_str(MASK);
        }
        at = mask.range.end.max(at);
    }
    masked.push_str(text.get(at..).unwrap_or_default());
    masked
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "redact_formats_tests.rs"]
mod formats_tests;
