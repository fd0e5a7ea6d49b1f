//! The `--raw -z` form of git's differences.

use crate::call::Unreadable;
use crate::changes::{Change, ChangeKind, Entry, Mode};
use crate::id::ObjectId;
use crate::path::RepoPath;

/// Reads `:<mode> <mode> <id> <id> <status>\0<path>\0[<path>\0]` records.
pub(crate) fn parse(output: &[u8]) -> Result<Vec<Change>, Unreadable> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    let mut unmerged = Vec::new();
    while let Some(head) = fields.next() {
        if head.is_empty() {
            // After the last terminator.
            continue;
        }
        let mut path = || {
            let name = fields.next().filter(|name| !name.is_empty());
            name.map(RepoPath::new)
                .ok_or_else(|| "a record without a path".to_owned())
        };
        let record = Record::parse(head)?;
        let first = path()?;
        let (kind, path) = match record.status {
            b'A' => (ChangeKind::Added, first),
            b'M' => (ChangeKind::Modified, first),
            b'D' => (ChangeKind::Deleted, first),
            b'T' => (ChangeKind::TypeChanged, first),
            b'R' => (ChangeKind::Renamed { from: first }, path()?),
            b'U' => {
                unmerged.push(first);
                continue;
            }
            other => return Err(format!("unknown status `{}`", char::from(other)).into()),
        };
        changes.push(Change {
            kind,
            path,
            old: record.old,
            new: record.new,
        });
    }
    if unmerged.is_empty() {
        Ok(changes)
    } else {
        Err(Unreadable::Unmerged(unmerged))
    }
}

struct Record {
    old: Option<Entry>,
    new: Option<Entry>,
    status: u8,
}

impl Record {
    fn parse(head: &[u8]) -> Result<Self, String> {
        let bad = || format!("bad record `{}`", String::from_utf8_lossy(head));
        let words: Vec<&[u8]> = head
            .strip_prefix(b":")
            .ok_or_else(bad)?
            .split(|byte| *byte == b' ')
            .collect();
        let [old_mode, new_mode, old_id, new_id, status] = words.as_slice() else {
            return Err(bad());
        };
        let status = *status.first().ok_or_else(bad)?;
        Ok(Self {
            old: entry(old_mode, old_id).map_err(|()| bad())?,
            new: entry(new_mode, new_id).map_err(|()| bad())?,
            status,
        })
    }
}

/// Returns `None` when there is no file on this side.
fn entry(mode: &[u8], id: &[u8]) -> Result<Option<Entry>, ()> {
    let id = ObjectId::from_output(id).ok_or(())?;
    if mode == b"000000" {
        return Ok(None);
    }
    let mode = Mode::parse(mode).ok_or(())?;
    Ok(Some(Entry { mode, id }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(modes: &str, status: &str, paths: &[&str]) -> String {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let names = [&[status], paths, &[""]].concat().join("\0");
        format!(":{modes} {one} {two} {names}")
    }

    #[test]
    fn renames_have_two_paths_and_names_may_look_like_records() {
        let text = record("100644 100755", "R087", &["old", ":100644"])
            + &record("120000 100644", "T", &["a\nb"]);
        let changes = parse(text.as_bytes()).unwrap();
        assert_eq!(changes[0].kind, ChangeKind::Renamed { from: "old".into() });
        assert_eq!(changes[0].path, ":100644".into());
        assert_eq!(changes[0].new.as_ref().unwrap().mode, Mode::Executable);
        assert_eq!(changes[1].kind, ChangeKind::TypeChanged);
        assert_eq!(changes[1].old.as_ref().unwrap().mode, Mode::Symlink);
    }

    #[test]
    fn unresolved_conflicts_are_reported_with_their_paths() {
        let text = record("100644 000000", "U", &["a"])
            + &record("100644 100644", "M", &["b"])
            + &record("100644 000000", "U", &["c"]);
        let unmerged = Unreadable::Unmerged(vec!["a".into(), "c".into()]);
        assert_eq!(parse(text.as_bytes()), Err(unmerged));
    }

    #[test]
    fn broken_output_is_refused() {
        for text in [
            "x\0".to_owned(),
            record("100644 100644", "M", &[]),
            record("100644 100644", "R100", &["only-one"]),
            record("100644 777777", "M", &["a"]),
            record("100644 100644", "X", &["a"]),
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
