//! Workflows that were found to be finished, so that a hook does not look at each of them again.

use std::collections::BTreeMap;

use rekindle_fs::Error;
use rekindle_wire::finished::{FINISHED_SCHEMA, FinishedRecord};

use crate::StateFolder;

/// For each protocol its finished workflows, each with the signs by which it is known again.
pub type FinishedWorkflows = BTreeMap<String, BTreeMap<String, String>>;

impl StateFolder {
    /// Returns the finished workflows that were recorded; none if the record is missing or not ours.
    pub fn finished(&self) -> FinishedWorkflows {
        self.read_finished().unwrap_or_default()
    }

    fn read_finished(&self) -> Option<FinishedWorkflows> {
        let bytes = self.read_sealed(&self.finished_file().ok()?)?;
        let record: FinishedRecord = serde_json::from_slice(&bytes).ok()?;
        (record.schema == FINISHED_SCHEMA).then_some(record.protocols)
    }

    /// Records the finished workflows that were found; of a protocol without any, those that were known
    /// stay.
    pub fn keep_finished(
        &self,
        mut known: FinishedWorkflows,
        found: FinishedWorkflows,
    ) -> Result<(), Error> {
        if found.is_empty() {
            return Ok(());
        }
        known.extend(found);
        self.ensure()?;
        let record = FinishedRecord {
            seal: String::new(),
            schema: FINISHED_SCHEMA.to_owned(),
            protocols: known,
        };
        // Texts only: there is nothing in it that cannot be written as JSON.
        let text = serde_json::to_string(&record).unwrap_or_default();
        self.write_sealed(&self.finished_file()?, &text)
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use rekindle_fs::Content;

    use super::*;

    fn found(protocol: &str, n: usize) -> FinishedWorkflows {
        let of = (0..n).map(|n| (format!("run-{n}"), "sign".to_owned()));
        [(protocol.to_owned(), of.collect())].into()
    }

    #[test]
    fn a_record_keeps_what_other_protocols_found_and_counts_only_under_our_seal() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        let state = |key: &str| StateFolder::of(&root, Some(&root.join(key)), &[]);
        let mine = state("mine");
        let none = FinishedWorkflows::new;
        mine.keep_finished(none(), none()).unwrap();
        assert!(!root.join(".rekindle").exists());
        mine.keep_finished(none(), found("a", 2)).unwrap();
        assert_eq!(mine.finished(), found("a", 2));
        mine.keep_finished(mine.finished(), found("b", 1)).unwrap();
        mine.keep_finished(mine.finished(), found("a", 3)).unwrap();
        let both: FinishedWorkflows = [found("a", 3), found("b", 1)]
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(mine.finished(), both);
        assert_eq!(state("theirs").finished(), none());
        let path = mine.finished_file().unwrap();
        let read = || {
            rekindle_fs::read_within(&root, &path, u64::MAX)
                .unwrap()
                .unwrap()
        };
        let text = String::from_utf8(read()).unwrap();
        let forged = text.replace("run-1\"", "run-x\"");
        for forged in [forged, text[..99].to_owned(), String::new()] {
            let now = Content::of(&read());
            rekindle_fs::replace(&path, &now, forged.as_bytes()).unwrap();
            assert_eq!(mine.finished(), none());
        }
    }
}
