//! Changes a file, if its contents are still those that were read.

use camino::Utf8Path;
use rekindle_fs::{Content, Fingerprint};

use super::{Repeated, changed};
use crate::Error;
use crate::reach::Site;

/// Replaces the old contents by the new; a file that has the new contents is done.
pub(super) fn perform(
    site: &Site,
    path: &Utf8Path,
    before: Fingerprint,
    after: &[u8],
) -> Result<Repeated, Error> {
    let place = site.place(path)?;
    if Content::of(after).is_at(&place)? {
        return Ok(Repeated::Already);
    }
    rekindle_fs::replace(&place, &Content::Present(before), after).map_err(changed)?;
    Ok(Repeated::Done)
}
