//! Names of files inside a repository.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path inside a repository, relative to its top: any bytes with `/` between.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Takes the bytes as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the name as a relative path of the file system.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Returns the name as text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        str::from_utf8(&self.0).ok()
    }

    /// Returns whether this is `folder` or below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        self.0
            .strip_prefix(folder.0.as_slice())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || folder.0.is_empty())
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// Shows the name on one line: control characters, backslashes and invalid bytes are escaped.
impl fmt::Display for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            let valid = chunk.valid().replace('\\', "\\\\");
            formatter.write_str(&one_line(&valid))?;
            for byte in chunk.invalid() {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{self}`")
    }
}

/// Returns the non-empty records of an output of git with `-z`.
pub(crate) fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|byte| *byte == 0)
        .filter(|record| !record.is_empty())
}

/// Escapes control characters, so that a text stays on one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_names_are_shown_on_one_line() {
        let shown = |bytes: &[u8]| RepoPath::new(bytes).to_string();
        assert_eq!(shown(b"src/a b.rs"), "src/a b.rs");
        assert_eq!(shown(b"a\nb"), "a\\nb");
        assert_eq!(shown(b"\xff\"\\"), "\\xff\"\\\\");
        assert_eq!(shown("żółw".as_bytes()), "żółw");
    }

    #[test]
    fn a_folder_does_not_contain_its_longer_neighbor() {
        let folder = RepoPath::from(".kiln");
        assert!(RepoPath::from(".kiln").is_within(&folder));
        assert!(RepoPath::from(".kiln/STATE.md").is_within(&folder));
        assert!(!RepoPath::from(".kiln-snapshot/x").is_within(&folder));
    }
}
