//! Records of one file under our seal: read only if they are ours, written as a whole.

use camino::Utf8Path;
use rekindle_fs::{Company, Content, Error};

use crate::StateFolder;

/// Some thousand lines.
const LARGEST: u64 = 16 * 1024 * 1024;

impl StateFolder {
    /// Returns the bytes of a record; `None` if it is missing or not ours as it is.
    pub(crate) fn read_sealed(&self, path: &Utf8Path) -> Option<Vec<u8>> {
        let bytes = rekindle_fs::read_within(self.project(), path, LARGEST).ok()??;
        let seal = self.binding().seal(path)?;
        seal.is_on(&bytes).then_some(bytes)
    }

    /// Writes a JSON object with an empty `seal` as its first key. The state folder must be there.
    pub(crate) fn write_sealed(&self, path: &Utf8Path, object: &str) -> Result<(), Error> {
        let text = self.sealing(path)?.stamp(object);
        if let Some(folder) = path.parent() {
            rekindle_fs::ensure_private_dir(folder, Company::GroupAbove)?;
        }
        let found = rekindle_fs::read_within(self.project(), path, LARGEST)?;
        let expected = found.as_deref().map_or(Content::Absent, Content::of);
        rekindle_fs::replace(path, &expected, text.as_bytes())
    }
}
