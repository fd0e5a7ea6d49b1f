//! The protocol's texts for events of a task.

use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{Attempted, Happened};

/// Composes a protocol's records of events, and reads them.
pub trait Scribe {
    /// Returns the line that records what happened.
    fn record(
        &self,
        workflow: &str,
        actor: &str,
        task: &str,
        attempt: u32,
        happened: &Happened,
    ) -> String;

    /// Returns what a line of an attempt's log reports, with task and attempt, if it is a record of ours.
    fn heard(&self, line: &str) -> Option<(String, u32, Happened)>;

    /// Returns the log of an attempt, relative to the project.
    fn log(&self, workflow: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf;

    /// Returns the folders at the top of a project that hold the workflow's own files, which never land.
    fn own_folders(&self) -> &'static [&'static str];

    /// Returns the files that describe an attempt in the protocol's own worktree, each with its name.
    fn evidence(&self, attempted: &Attempted) -> Vec<(&'static str, String)>;

    /// Returns the host's own record of a task with the event in it, if the record changes.
    fn mirrored(&self, file: &[u8], happened: &Happened) -> Option<Vec<u8>>;

    /// Records a time that all later records must follow.
    fn follow(&self, time: Timestamp);

    /// Returns the time of the newest event that was recorded or heard.
    fn latest(&self) -> Option<Timestamp>;

    /// Returns a time in the protocol's form.
    fn stamp(&self) -> String;

    /// Returns the moment after so long a time.
    fn after(&self, time: Duration) -> Timestamp;

    /// Returns the time until a moment that an agent named; `None` if that is past.
    fn until(&self, time: &str) -> Option<Duration>;
}
