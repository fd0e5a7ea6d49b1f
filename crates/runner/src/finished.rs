//! Workflows that were found to be finished, so that a hook does not look at each of them again.

use std::collections::BTreeMap;

use rekindle_fs::Error;
use rekindle_wire::finished::{FINISHED_SCHEMA, FinishedRecord};

use crate::StateFolder;

/// With fewer new ones a record saves less time than writing it takes.
const WORTH_WRITING: usize = 64;

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

    /// Records the finished workflows that were found, if that saves time at the next look.
    pub fn keep_finished(
        &self,
        known: &FinishedWorkflows,
        found: FinishedWorkflows,
    ) -> Result<(), Error> {
        let is_new = |(protocol, name, sign): &(&String, &String, &String)| {
            known.get(*protocol).and_then(|known| known.get(*name)) != Some(*sign)
        };
        let all = found.iter();
        let all =
            all.flat_map(|(protocol, of)| of.iter().map(move |(name, s)| (protocol, name, s)));
        if all.filter(is_new).count() < WORTH_WRITING {
            return Ok(());
        }
        self.ensure()?;
        let record = FinishedRecord {
            seal: String::new(),
            schema: FINISHED_SCHEMA.to_owned(),
            protocols: found,
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

    fn found(n: usize) -> FinishedWorkflows {
        let of = (0..n).map(|n| (format!("run-{n}"), "sign".to_owned()));
        [("agent-memory".to_owned(), of.collect())].into()
    }

    #[test]
    fn a_record_is_written_when_it_saves_time_and_counts_only_under_our_seal() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        let state = |key: &str| StateFolder::of(&root, Some(&root.join(key)), &[]);
        let mine = state("mine");
        let none = FinishedWorkflows::new();
        mine.keep_finished(&none, found(WORTH_WRITING - 1)).unwrap();
        assert!(!root.join(".rekindle").exists());
        mine.keep_finished(&none, found(WORTH_WRITING)).unwrap();
        assert_eq!(mine.finished(), found(WORTH_WRITING));
        mine.keep_finished(&found(WORTH_WRITING), found(WORTH_WRITING + 1))
            .unwrap();
        assert_eq!(mine.finished(), found(WORTH_WRITING));
        assert_eq!(state("theirs").finished(), none);
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
            assert_eq!(mine.finished(), none);
        }
    }
}
