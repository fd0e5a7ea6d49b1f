//! Moves a folder to a path that does not exist.

use std::io::ErrorKind;

use camino::Utf8Path;
use rekindle_fs::Relocation;

use super::Repeated;
use crate::reach::Site;
use crate::{Error, crash};

/// Moves a folder, or continues a move that a crash interrupted.
pub(super) fn perform(site: &Site, from: &Utf8Path, to: &Utf8Path) -> Result<Repeated, Error> {
    let (from, to) = (site.place(from)?, site.place(to)?);
    let relocation = Relocation::new(&from, &to);
    match (is_folder(&from)?, is_folder(&to)?) {
        (None, Some(true)) => return Ok(Repeated::Already),
        // A crash came between copy and removal. If the two differ, both are kept.
        (Some(true), Some(true)) => {}
        (Some(true), None) => {
            if let Some(folder) = to.parent() {
                rekindle_fs::ensure_dir(folder)?;
            }
            crash::point("move-before-rename");
            let renamed = rekindle_fs::rename(&from, &to);
            crash::point("move-after-rename");
            match renamed {
                Ok(()) => return Ok(Repeated::Done),
                Err(rekindle_fs::Error::Io { source, .. })
                    if source.kind() == ErrorKind::CrossesDevices => {}
                Err(error) => return Err(error.into()),
            }
            relocation.copy()?;
            crash::point("move-after-copy");
            relocation.place()?;
            crash::point("move-after-place");
        }
        (None, None) | (Some(false), _) => return Err(Error::NoFolder { path: from }),
        (_, Some(false)) => return Err(Error::NoFolder { path: to }),
    }
    relocation.finish()?;
    crash::point("move-after-removal");
    Ok(Repeated::Done)
}

/// Returns whether a path is a folder, or `None` if it does not exist.
fn is_folder(path: &Utf8Path) -> Result<Option<bool>, Error> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found.is_dir())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Files(rekindle_fs::Error::Io {
            action: "look at",
            path: path.to_owned(),
            source,
        })),
    }
}
