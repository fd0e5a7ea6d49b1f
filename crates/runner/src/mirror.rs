//! The host's own record of a task: updated in addition to our log, never instead of it.

use camino::Utf8Path;
use rekindle_fs::Content;
use rekindle_model::Happened;

use crate::{Error, Scribe};

/// How often a file that others write at the same time is read again.
const MOST_TRIES: u32 = 20;

/// The largest record that is read.
pub(crate) const LARGEST: u64 = 16 * 1024 * 1024;

/// Updates the record. A missing record is not created again: the host has removed the task.
pub(crate) fn update(
    file: &Utf8Path,
    scribe: &dyn Scribe,
    happened: &Happened,
) -> Result<(), Error> {
    for _ in 0..MOST_TRIES {
        let Some(before) = rekindle_fs::read_followed(file, LARGEST)? else {
            return Ok(());
        };
        let Some(after) = scribe.mirrored(&before, happened) else {
            return Ok(());
        };
        if after == before {
            return Ok(());
        }
        match rekindle_fs::replace(file, &Content::of(&before), &after) {
            Err(rekindle_fs::Error::Changed { .. }) => {}
            other => return Ok(other?),
        }
    }
    Err(rekindle_fs::Error::Changed(file.to_owned()).into())
}
