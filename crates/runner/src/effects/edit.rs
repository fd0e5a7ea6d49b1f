//! A file that is changed if it still is what was read.

use camino::Utf8Path;
use rekindle_fs::{Content, Fingerprint};

use super::{Repeated, changed};
use crate::Error;
use crate::reach::Site;

/// Brings a file from what was read to what it is to be; one that is that already is done.
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
