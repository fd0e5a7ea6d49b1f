//! Moves a file to a path that does not exist, if its contents are still those that were read.

use camino::Utf8Path;
use rekindle_fs::{Content, Fingerprint};

use super::Repeated;
use crate::Error;
use crate::reach::Site;

/// Moves a file; one that is at the new path already is done.
pub(super) fn perform(
    site: &Site,
    from: &Utf8Path,
    to: &Utf8Path,
    contents: Fingerprint,
) -> Result<Repeated, Error> {
    let (from, to) = (site.place(from)?, site.place(to)?);
    let expected = Content::Present(contents);
    // A file at the old path is then another one.
    if expected.is_at(&to)? {
        return Ok(Repeated::Already);
    }
    if !expected.is_at(&from)? {
        return Err(Error::Changed { path: from });
    }
    if !Content::Absent.is_at(&to)? {
        return Err(Error::Changed { path: to });
    }
    if let Some(folder) = to.parent() {
        rekindle_fs::ensure_dir(folder)?;
    }
    rekindle_fs::rename(&from, &to)?;
    Ok(Repeated::Done)
}
