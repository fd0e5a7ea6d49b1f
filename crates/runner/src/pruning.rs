//! Removes the records of a workflow that is over: what its agents and checks printed, the journal, and
//! what was agreed to.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::{Content, Lock};
use rekindle_model::WorkflowId;

use crate::{Error, StateFolder};

impl StateFolder {
    /// Returns the records of a workflow that are there.
    pub fn records(&self, id: &WorkflowId) -> Result<Vec<Utf8PathBuf>, Error> {
        let mut records = vec![self.attempts(id)?];
        records.extend(self.record_files(id)?);
        records.retain(|path| path.symlink_metadata().is_ok());
        Ok(records)
    }

    /// Removes the records of a workflow, and the folder of a run of ours last: until then it is listed,
    /// so a removal that a crash cut short is repeated.
    ///
    /// A workflow that somebody works on is left alone: [`Error::Lock`]. The lock file stays.
    pub fn remove_records(
        &self,
        id: &WorkflowId,
        run: Option<&Utf8Path>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.ensure()?;
        let stamp = rekindle_text::format_seconds(now);
        let _lock = Lock::acquire(&self.lock(id), "prune", stamp)?;
        rekindle_fs::discard(&self.attempts(id)?)?;
        for path in self.record_files(id)? {
            let found = Content::read(&path)?;
            rekindle_fs::remove(&path, &found)?;
        }
        if let Some(run) = run {
            let run = self.project().join(run);
            rekindle_fs::refuse_links(self.project(), &run)?;
            rekindle_fs::discard(&run)?;
        }
        Ok(())
    }

    /// Removes what removals left that a crash cut short.
    pub fn sweep_records(&self) {
        let runs = self.project().join(".rekindle/runs");
        if rekindle_fs::refuse_links(self.project(), &runs).is_ok() {
            rekindle_fs::sweep_drafts(&runs);
        }
    }

    fn record_files(&self, id: &WorkflowId) -> Result<[Utf8PathBuf; 2], Error> {
        Ok([self.journal(id)?, self.agreed_file(id)?])
    }
}
