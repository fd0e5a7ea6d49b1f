//! A file that is moved to a place where nothing is, if it still is what was read.

use camino::Utf8Path;
use rekindle_fs::{Content, Fingerprint};

use super::Repeated;
use crate::Error;
use crate::reach::Site;

/// Moves a file; one that stands there already is done.
pub(super) fn perform(
    site: &Site,
    from: &Utf8Path,
    to: &Utf8Path,
    contents: Fingerprint,
) -> Result<Repeated, Error> {
    let (from, to) = (site.place(from)?, site.place(to)?);
    let expected = Content::Present(contents);
    match (Content::read(&from)?, Content::read(&to)?) {
        // What stands at the old place by then is another file.
        (_, there) if there == expected => return Ok(Repeated::Already),
        (here, Content::Absent) if here == expected => {}
        (here, _) if here != expected => return Err(Error::Changed { path: from }),
        (_, _) => return Err(Error::Changed { path: to }),
    }
    if let Some(folder) = to.parent() {
        rekindle_fs::ensure_dir(folder)?;
    }
    rekindle_fs::rename(&from, &to)?;
    Ok(Repeated::Done)
}
