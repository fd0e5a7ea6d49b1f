//! Ids of git objects.

use std::fmt;

use crate::error::Error;

/// The full id of an object: 40 (SHA-1) or 64 (SHA-256) lowercase hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(String);

impl ObjectId {
    /// Reads a full id; abbreviations and names are for [`crate::Repo::resolve`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let is_hex = text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_hex && matches!(text.len(), 40 | 64) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::BadObjectId(text.to_owned()))
        }
    }

    /// Returns the hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads an id from git's output, where all zeros mean "none".
    pub(crate) fn from_output(bytes: &[u8]) -> Option<Self> {
        Self::parse(str::from_utf8(bytes).ok()?).ok()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lowercase_hex_is_an_id() {
        assert!(ObjectId::parse(&"a1".repeat(20)).is_ok());
        assert!(ObjectId::parse(&"a1".repeat(32)).is_ok());
        for wrong in ["", "HEAD", "a1b2c3d", &"A1".repeat(20), &"-".repeat(40)] {
            assert!(ObjectId::parse(wrong).is_err(), "{wrong}");
        }
    }
}
