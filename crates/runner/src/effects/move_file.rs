//! A file that gets another name, at which nothing is.

use camino::Utf8Path;

use super::Repeated;
use crate::reach::Site;
use crate::{Error, crash};

/// Gives a file another name; something that has that name already is never written over.
pub(super) fn perform(site: &Site, from: &Utf8Path, to: &Utf8Path) -> Result<(), Error> {
    let (from, to) = (site.place(from)?, site.place(to)?);
    if !from.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Err(Error::Changed { path: from });
    }
    crash::point("move-file-before-rename");
    match rekindle_fs::rename(&from, &to) {
        Err(rekindle_fs::Error::Exists { path }) => Err(Error::Changed { path }),
        other => Ok(other?),
    }?;
    crash::point("move-file-after-rename");
    Ok(())
}

/// Gives it that name unless it has it: what stands at the old one is then another file.
pub(super) fn repeat(site: &Site, from: &Utf8Path, to: &Utf8Path) -> Result<Repeated, Error> {
    if site.place(to)?.symlink_metadata().is_ok() {
        return Ok(Repeated::Already);
    }
    Repeated::of(perform(site, from, to).map(|()| Repeated::Done))
}
