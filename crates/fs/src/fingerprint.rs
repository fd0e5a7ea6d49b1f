//! Fingerprints of files: small enough to store in a plan, to notice that a file changed.
//!
//! They say nothing about mode, owner or times, and do not protect against an attacker who can
//! write the same files. Start at [`Content`], which callers pass to [`replace`](crate::replace()).

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use camino::Utf8Path;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::At as _;
use crate::{Error, GuardedFile};

/// The BLAKE3 hash of some contents together with their length.
///
/// As text it is 80 hexadecimal digits: the 64 that `b3sum` prints, then 16 for the length. This is
/// version 1; a later form must have another length, which this reader refuses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    hash: [u8; 32],
    length: u64,
}

impl Fingerprint {
    /// Returns the fingerprint of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytes);
        Self::finish(&hasher)
    }

    /// Returns the 80 digits that [`FromStr`] reads.
    pub fn to_hex(&self) -> String {
        self.to_string()
    }

    /// Returns how many bytes the contents have.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn finish(hasher: &blake3::Hasher) -> Self {
        Self {
            hash: *hasher.finalize().as_bytes(),
            length: hasher.count(),
        }
    }
}

/// What a file was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// There was no file.
    Absent,
    /// There was a file with these contents.
    Present(Fingerprint),
}

impl Content {
    /// Returns the content of a file that holds these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::Present(Fingerprint::of(bytes))
    }

    /// Fingerprints a file without holding it in memory; [`Content::is_at`] is faster where the
    /// content is known.
    ///
    /// Gives [`Error::Link`] for a link and [`Error::NotAFile`] for anything else that is not an
    /// ordinary file.
    pub fn read(path: &Utf8Path) -> Result<Self, Error> {
        let Some(file) = GuardedFile::open(path)? else {
            return Ok(Self::Absent);
        };
        let content = hash_to(file.into_file(), &mut io::sink()).at("read", path)?;
        Ok(Self::Present(content))
    }

    /// Returns whether the file has this content now; a file of another length is not read.
    ///
    /// Fails as [`Content::read`] does.
    pub fn is_at(&self, path: &Utf8Path) -> Result<bool, Error> {
        match (self, GuardedFile::open(path)?) {
            (Self::Absent, None) => Ok(true),
            (Self::Absent, Some(_)) | (Self::Present(_), None) => Ok(false),
            (Self::Present(expected), Some(file)) => {
                if file.metadata()?.len() != expected.length {
                    return Ok(false);
                }
                // A file that grows meanwhile is not read to its end.
                let most = expected.length.saturating_add(1);
                let file = file.into_file().take(most);
                Ok(hash_to(file, &mut io::sink()).at("read", path)? == *expected)
            }
        }
    }
}

/// Copies everything to a writer and returns the fingerprint of it.
pub(crate) fn hash_to(mut from: impl Read, to: &mut dyn io::Write) -> io::Result<Fingerprint> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => return Ok(Fingerprint::finish(&hasher)),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..n]);
        io::Write::write_all(to, &buffer[..n])?;
    }
}

/// Returns the first hexadecimal digits of the BLAKE3 hash over all parts.
pub(crate) fn short_hash(parts: &[&[u8]], n_digits: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..n_digits].to_owned()
}

/// The text is not a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is 80 hexadecimal digits")]
pub struct ParseFingerprintError;

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{:016x}",
            blake3::Hash::from_bytes(self.hash).to_hex(),
            self.length
        )
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// Reads what [`Fingerprint::to_hex`] wrote, and nothing else (capital letters are refused).
impl FromStr for Fingerprint {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Self, ParseFingerprintError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 80 || !text.bytes().all(is_digit) {
            return Err(ParseFingerprintError);
        }
        let (hash, length) = text.split_at(64);
        Ok(Self {
            hash: *blake3::Hash::from_hex(hash)
                .map_err(|_| ParseFingerprintError)?
                .as_bytes(),
            length: u64::from_str_radix(length, 16).map_err(|_| ParseFingerprintError)?,
        })
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::log::tests::folder;

    proptest! {
        #[test]
        fn text_form_reads_back(bytes: Vec<u8>) {
            let fingerprint = Fingerprint::of(&bytes);
            prop_assert_eq!(Fingerprint::from_str(&fingerprint.to_hex()), Ok(fingerprint));
            prop_assert_eq!(fingerprint.length(), bytes.len() as u64);
            let json = serde_json::to_string(&fingerprint).unwrap();
            prop_assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), fingerprint);
        }

        #[test]
        fn any_text_is_parsed_without_panic_and_only_in_its_own_spelling(text in "[0-9a-fA-Fé-]{78,82}") {
            if let Ok(fingerprint) = Fingerprint::from_str(&text) {
                prop_assert_eq!(fingerprint.to_hex(), text);
            }
        }
    }

    #[test]
    fn text_form_starts_with_what_b3sum_prints() {
        assert_eq!(
            Fingerprint::of(b"").to_hex(),
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f32620000000000000000"
        );
    }

    #[test]
    fn content_read_from_disk_equals_content_of_the_same_bytes() {
        let (_folder, base) = folder();
        let path = base.join("file");
        assert_eq!(Content::read(&path).unwrap(), Content::Absent);
        let bytes = vec![7; 300_000];
        crate::create(&path, &bytes).unwrap();
        assert_eq!(Content::read(&path).unwrap(), Content::of(&bytes));
    }

    #[test]
    fn a_folder_is_not_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        assert!(matches!(Content::read(path), Err(Error::NotAFile(named)) if named == path));
    }

    #[test]
    fn content_has_a_stable_json_form() {
        assert_eq!(
            serde_json::to_string(&Content::Absent).unwrap(),
            r#""absent""#
        );
        let present = serde_json::to_string(&Content::of(b"")).unwrap();
        assert!(present.starts_with(r#"{"present":"af1349"#), "{present}");
    }
}
