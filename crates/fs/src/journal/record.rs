//! The line format of a journal, with a checksum against damage and a seal against foreign lines.
//!
//! ```json
//! {"v":2,"seq":7,"at":"2026-…","crc":"8 hex digits","seal":"64 hex digits","entry":{"begin":{"id":7,"body":…}}}
//! ```
//!
//! The other entries are `{"done":{"id":7,"step":2}}` (whose record has no `at`) and
//! `{"end":{"id":7,"outcome":"completed","note":"…"}}`. `crc` is the start of the BLAKE3 hash over
//! all other bytes of the line. `seal` is that of [`Seal`] over the line without the digits of
//! both; it covers the number and the file, so that no line can be repeated or moved to another
//! journal.
//!
//! This is version 2. Lines of version 1 have no seal: they are reported as foreign and never used.
//! A reader of version 1 reports lines of version 2 as lines of another version. A reader ignores
//! unknown fields and reports a line of a later version without using it; an older writer only
//! appends lines of its own version.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::{DamageKind, IntentId, Outcome};
use crate::Seal;
use crate::fingerprint::short_hash;

const VERSION: u32 = 2;

/// The text before the checksum. In a JSON string its quotes would be escaped, so the first match
/// is the key itself.
const MARK: &[u8] = b"\"crc\":\"";
const N_DIGITS: usize = 8;

/// The shortest possible record: a `done` of version 1 with one-digit numbers.
pub(super) const MIN_LENGTH: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry<B> {
    Begin {
        id: IntentId,
        body: B,
    },
    Done {
        id: IntentId,
        step: u32,
    },
    End {
        id: IntentId,
        outcome: Outcome,
        note: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Record<'a, E> {
    v: u32,
    seq: u64,
    // Only written; nothing here depends on time.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    at: Option<&'a str>,
    #[serde(skip_deserializing)]
    crc: &'a str,
    #[serde(skip_deserializing)]
    seal: &'a str,
    entry: E,
}

/// Returns the line, without its line break.
pub(super) fn encode<B: Serialize>(
    seq: u64,
    at: Option<&str>,
    entry: &Entry<B>,
    seal: &Seal,
) -> Result<String, serde_json::Error> {
    let blank = serde_json::to_string(&Record {
        v: VERSION,
        seq,
        at,
        crc: "",
        seal: "",
        entry,
    })?;
    let blank = seal.stamp(&blank);
    // Without the mark, which was just written, the line would safely be read as damaged.
    let at_digits = find(blank.as_bytes(), MARK).map_or(0, |start| start + MARK.len());
    let (before, after) = blank.split_at(at_digits);
    Ok(format!(
        "{before}{}{after}",
        checksum(before.as_bytes(), after.as_bytes())
    ))
}

/// Reads a line: its number and its entry, without a body that is not a `T`. Without a seal no line
/// is ours.
pub(super) fn decode<T: DeserializeOwned>(
    line: &[u8],
    seal: Option<&Seal>,
) -> Result<(u64, Entry<Option<T>>), DamageKind> {
    let Some(blank) = without_checksum(line) else {
        return Err(DamageKind::Checksum);
    };
    if !seal.is_some_and(|seal| seal.is_on(&blank)) {
        return Err(DamageKind::Foreign);
    }
    if let Ok(record) = serde_json::from_slice::<Record<'_, Entry<T>>>(line)
        && record.v == VERSION
    {
        let entry = match record.entry {
            Entry::Begin { id, body } => Entry::Begin {
                id,
                body: Some(body),
            },
            Entry::Done { id, step } => Entry::Done { id, step },
            Entry::End { id, outcome, note } => Entry::End { id, outcome, note },
        };
        return Ok((record.seq, entry));
    }
    match serde_json::from_slice::<Record<'_, Entry<IgnoredAny>>>(line) {
        Ok(Record {
            v: VERSION,
            seq,
            entry: Entry::Begin { id, .. },
            ..
        }) => Ok((seq, Entry::Begin { id, body: None })),
        // The checksum is right, and yet this is not a record of this version.
        _ => Err(DamageKind::Version),
    }
}

/// Returns the entry of a line that is not ours, as far as it can be read.
pub(super) fn foreign_entry(line: &[u8]) -> Option<Entry<IgnoredAny>> {
    let record = serde_json::from_slice::<Record<'_, Entry<IgnoredAny>>>(line).ok()?;
    Some(record.entry)
}

/// Returns an intact line without its checksum, which is what its seal covers.
fn without_checksum(line: &[u8]) -> Option<Vec<u8>> {
    let start = find(line, MARK)? + MARK.len();
    let (before, rest) = line.split_at_checked(start)?;
    let (digits, after) = rest.split_at_checked(N_DIGITS)?;
    (checksum(before, after).as_bytes() == digits).then(|| [before, after].concat())
}

fn checksum(before: &[u8], after: &[u8]) -> String {
    short_hash(&[before, after], N_DIGITS)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
