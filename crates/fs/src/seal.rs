//! Seals: proof that a record was written here, by this user, with the user's own key.
//!
//! A project folder can come from a clone, an archive or a copy. Its records say what to finish and
//! which processes are ours, so each has a keyed hash over its bytes, its location and its origin.
//! Without the [`Key`], which is stored outside every project, nobody can forge a record or move
//! one elsewhere. The caller defines the origin.
//!
//! A seal is the text after the first `"seal":"` of a JSON text, and covers all other bytes. In a
//! JSON string those quotes would be escaped, so the first match is the key itself if the writer
//! puts it before any foreign text.

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt as _;

use camino::Utf8Path;

use crate::error::At as _;
use crate::folder::parent;
use crate::guarded::GuardedFile;
use crate::{Company, Error, ProcessIdentity, ensure_private_dir};

const KEY_LENGTH: usize = blake3::KEY_LEN;

/// The text before the seal's digits.
const MARK: &[u8] = b"\"seal\":\"";
const N_DIGITS: usize = 2 * blake3::OUT_LEN;

/// A user's secret on a machine, with which all seals are made.
#[derive(Clone)]
pub struct Key([u8; KEY_LENGTH]);

impl Key {
    /// Reads the key; `None` if there is none yet. Gives [`Error::BadKey`] if others could know it
    /// or have made it.
    pub fn read(path: &Utf8Path) -> Result<Option<Self>, Error> {
        let bad = |why: &'static str| Error::BadKey {
            path: path.to_owned(),
            why,
        };
        let user = rustix::process::geteuid().as_raw();
        let folder = parent(path);
        match folder.symlink_metadata() {
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error).at("look at", folder),
            Ok(found) if !found.is_dir() => return Err(bad("its folder is a link or a file")),
            Ok(found) if found.uid() != user => return Err(bad("its folder is another user's")),
            Ok(found) if found.mode() & 0o022 != 0 => {
                return Err(bad("others may write to its folder"));
            }
            Ok(_) => {}
        }
        let file = match GuardedFile::open(path) {
            Ok(None) => return Ok(None),
            Ok(Some(file)) => file,
            Err(Error::Link { .. }) => return Err(bad("it is a link")),
            Err(Error::NotAFile { .. }) => return Err(bad("it is not an ordinary file")),
            Err(error) => return Err(error),
        };
        let found = file.metadata()?;
        if found.uid() != user {
            return Err(bad("it is another user's"));
        }
        if found.mode() & 0o077 != 0 {
            return Err(bad("others may read it or write to it"));
        }
        if found.len() != KEY_LENGTH as u64 {
            return Err(bad("it does not have 32 bytes"));
        }
        let key = file.bytes(KEY_LENGTH as u64)?.try_into();
        key.map(|key| Some(Self(key)))
            .map_err(|_| bad("it does not have 32 bytes"))
    }

    /// Reads the key, or creates one; processes that do so at the same time all get the same key.
    ///
    /// Gives [`Error::BadKey`] as [`Key::read`] does, and [`Error::KeyNotMade`] where it cannot be
    /// written.
    pub fn read_or_make(path: &Utf8Path) -> Result<Self, Error> {
        if let Some(key) = Self::read(path)? {
            return Ok(key);
        }
        Self::make(path).map_err(|source| Error::KeyNotMade {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        Self::read(path)?.ok_or_else(|| Error::BadKey {
            path: path.to_owned(),
            why: "it was removed as soon as it was made",
        })
    }

    fn make(path: &Utf8Path) -> Result<(), Error> {
        let mut bytes = [0; KEY_LENGTH];
        let n_random = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .at("make", path)?;
        if n_random != KEY_LENGTH {
            let short = io::Error::other("the system gave too few random bytes");
            return Err(short).at("make", path);
        }
        ensure_private_dir(parent(path), Company::Nobody)?;
        match crate::replace::create_private(path, &bytes) {
            // Another process was faster; its key is as good.
            Ok(()) | Err(Error::Exists { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the seal of an origin: this machine, this user, and the caller's parts.
    pub fn seal(&self, origin: &[&str]) -> Seal {
        let mut seal = Seal(Box::new(blake3::Hasher::new_keyed(&self.0)));
        let machine = machine();
        let user = rustix::process::geteuid().as_raw().to_string();
        let fixed = ["rekindle record", machine.as_str(), user.as_str()];
        for part in fixed.iter().chain(origin) {
            seal.feed(part);
        }
        seal
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

fn is_absent(error: &io::Error) -> bool {
    let kind = error.kind();
    kind == io::ErrorKind::NotFound || kind == io::ErrorKind::NotADirectory
}

/// Returns what identifies this machine; without a machine id its name alone.
fn machine() -> String {
    let id = crate::guarded::read_followed("/etc/machine-id".into(), 4096);
    let id = id.ok().flatten().unwrap_or_default();
    let host = ProcessIdentity::host();
    format!("{}\n{host}", String::from_utf8_lossy(&id).trim())
}

/// Creates and checks the seals of one origin, or of one location in it.
#[derive(Clone)]
pub struct Seal(Box<blake3::Hasher>);

impl Seal {
    /// Returns the seal of a location; records of another location never match it.
    #[must_use]
    pub fn at(&self, location: &str) -> Self {
        let mut seal = self.clone();
        seal.feed(location);
        seal
    }

    /// Returns a JSON text with the seal in it; its first `"seal":"` must be followed by the
    /// closing quote.
    pub fn stamp(&self, blank: &str) -> String {
        let Some((before, after)) = split(blank.as_bytes()) else {
            return blank.to_owned();
        };
        let digits = self.digest(before, after).to_hex();
        let (before, after) = blank.split_at(before.len());
        format!("{before}{digits}{after}")
    }

    /// Returns whether a text has this seal.
    pub fn is_on(&self, text: &[u8]) -> bool {
        let Some((before, rest)) = split(text) else {
            return false;
        };
        let Some((digits, after)) = rest.split_at_checked(N_DIGITS) else {
            return false;
        };
        // The comparison takes constant time.
        blake3::Hash::from_hex(digits).is_ok_and(|found| found == self.digest(before, after))
    }

    fn digest(&self, before: &[u8], after: &[u8]) -> blake3::Hash {
        let mut hasher = self.0.clone();
        hasher.update(&(before.len() as u64).to_le_bytes());
        hasher.update(before).update(after).finalize()
    }

    /// Adds a part with its length, so that the boundaries between parts count.
    fn feed(&mut self, part: &str) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part.as_bytes());
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

/// Splits a text behind the first mark.
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.windows(MARK.len()).position(|window| window == MARK)?;
    text.split_at_checked(start + MARK.len())
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
