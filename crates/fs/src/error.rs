//! Why a file could not be written: one type for all writers, because callers act on the case.
//!
//! Only the lock has its own error, since "held by another process" is not a failure.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::journal::IntentId;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "the message of each variant explains its fields"
)]
pub enum Error {
    /// The file is not what it was when the caller read it; nothing was written.
    #[error("`{0}` changed since it was read")]
    Changed(Utf8PathBuf),
    /// Something with this name already exists; nothing was written.
    #[error("`{0}` already exists")]
    Exists(Utf8PathBuf),
    /// The path leads out of the folder it has to stay in, by `..`, a symbolic link or openly.
    #[error("`{path}` leads outside `{root}`")]
    Outside {
        root: Utf8PathBuf,
        path: Utf8PathBuf,
    },
    /// The path names a folder, a pipe, a device or nothing that could be a file.
    #[error("`{0}` is not an ordinary file")]
    NotAFile(Utf8PathBuf),
    /// The path is a symbolic link, or contains one, where links are not allowed.
    #[error(
        "`{0}` is a symbolic link, which rekindle does not follow here; replace it with the file or folder itself"
    )]
    Link(Utf8PathBuf),
    /// The file has hard links, and a write would change it under all its names.
    #[error(
        "`{0}` has other names too (hard links), so rekindle does not write to it; replace it with a copy"
    )]
    SeveralNames(Utf8PathBuf),
    /// The file is larger than any that rekindle has a use for.
    #[error(
        "`{path}` is too large: it has {len} bytes, and rekindle reads at most {limit}; move it away if it is not needed"
    )]
    TooLarge {
        path: Utf8PathBuf,
        len: u64,
        limit: u64,
    },
    /// The name no longer leads to the open file; further writes would be lost.
    #[error("`{0}` was moved, deleted or replaced while it was open")]
    Replaced(Utf8PathBuf),
    /// Another process kept the file locked for longer than an append can take.
    #[error("another process keeps `{0}` locked for appending")]
    Busy(Utf8PathBuf),
    /// A record of a line-based file must not contain a line break.
    #[error("a record for `{0}` contains a line break")]
    LineBreak(Utf8PathBuf),
    /// A record has no JSON form, or one that would not read back.
    #[error("a record for `{path}` has no JSON form that reads back")]
    Encode {
        path: Utf8PathBuf,
        source: serde_json::Error,
    },
    /// The journal has no open intent with this number.
    #[error("`{path}` has no open intent {id}")]
    NotOpen { path: Utf8PathBuf, id: IntentId },
    /// The key is damaged, or others could know it or have made it.
    #[error("rekindle's key `{path}` cannot be used: {why}")]
    BadKey {
        path: Utf8PathBuf,
        why: &'static str,
    },
    /// There is no key yet, and none can be written.
    #[error("rekindle's key `{path}` cannot be made")]
    KeyNotMade {
        path: Utf8PathBuf,
        source: Box<Self>,
    },
    /// The environment names no folder for the key, so no record can be written.
    #[error("no folder for rekindle's key: neither XDG_STATE_HOME nor HOME names one")]
    NoKeyPlace,
    /// The system refused; `action` is a verb.
    #[error("cannot {action} `{path}`")]
    Io {
        action: &'static str,
        path: Utf8PathBuf,
        source: io::Error,
    },
}

/// Returns a path for a message; bytes that are not UTF-8 are replaced.
pub(crate) fn shown(path: &std::path::Path) -> Utf8PathBuf {
    Utf8PathBuf::from(path.to_string_lossy().into_owned())
}

/// Adds what was tried, and on which path, to a system error.
pub(crate) trait At<T> {
    fn at(self, action: &'static str, path: &Utf8Path) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, action: &'static str, path: &Utf8Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io {
            action,
            path: path.to_owned(),
            source: source.into(),
        })
    }
}
