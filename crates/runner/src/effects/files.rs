//! Appends lines to logs, and creates files.

use camino::Utf8Path;
use rekindle_fs::{Log, Tail};

use super::Repeated;
use crate::Error;
use crate::reach::Site;

/// Creates a file; if it exists with these contents, a crash came after its creation.
pub(super) fn create(site: &Site, path: &Utf8Path, contents: &[u8]) -> Result<Repeated, Error> {
    let place = site.place(path)?;
    match rekindle_fs::create(&place, contents) {
        Ok(()) => Ok(Repeated::Done),
        Err(rekindle_fs::Error::Exists { .. }) => Ok(Repeated::Already),
        Err(error) => Err(error.into()),
    }
}

/// Appends a line, unless the log already contains it.
pub(super) fn repeat_append(site: &Site, log: &Utf8Path, record: &str) -> Result<Repeated, Error> {
    let path = site.place(log)?;
    if Log::holds(&path, record.as_bytes())? {
        return Ok(Repeated::Already);
    }
    append_at(&path, record)?;
    Ok(Repeated::Done)
}

/// Appends a line to a log of the project.
pub(crate) fn append(project: &Utf8Path, log: &Utf8Path, record: &str) -> Result<(), Error> {
    // A name in a state file must never make us write outside of the project.
    append_at(&rekindle_fs::confine_unlinked(project, log)?, record)
}

pub(super) fn append_at(path: &Utf8Path, record: &str) -> Result<(), Error> {
    let mut log = Log::open(path)?;
    // A torn tail was closed with a line end; the reader reports it, nothing is lost.
    let (Tail::Whole | Tail::Torn) = log.append(record.as_bytes())?;
    Ok(())
}
