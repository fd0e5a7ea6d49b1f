//! The protocol's words for what happens to a task.

use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{Attempted, Happened};

/// Gives a protocol's words to what happens, and understands them.
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

    /// Returns what a line of an attempt's log says, of which task and attempt, if it is a word of ours.
    fn heard(&self, line: &str) -> Option<(String, u32, Happened)>;

    /// Returns the log of an attempt, relative to the project.
    fn log(&self, workflow: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf;

    /// Returns the folders at the top of a project that hold the workflow's own files, which never land.
    fn own_folders(&self) -> &'static [&'static str];

    /// Returns the files that describe an attempt in the protocol's own worktree, each with its name.
    fn evidence(&self, attempted: &Attempted) -> Vec<(&'static str, String)>;

    /// Returns the host's own record of a task with what happened in it, where there is something to change.
    fn mirrored(&self, file: &[u8], happened: &Happened) -> Option<Vec<u8>>;

    /// Takes note of a time after which everything has to come that is recorded from now on.
    fn follow(&self, time: Timestamp);

    /// Returns the time of the newest event that was recorded, heard or taken note of.
    fn latest(&self) -> Option<Timestamp>;

    /// Returns the time as it is written.
    fn stamp(&self) -> String;

    /// Returns how long it is until a time that an agent named; nothing if that is past.
    fn until(&self, time: &str) -> Option<Duration>;
}
