//! Why a file could not be written, in the cases a caller tells apart.
//!
//! One type serves all writers of the crate, because callers react to the case and not to the writer:
//! a changed file means reading again, an existing one means choosing another name, and the rest is
//! shown to the person. Only the lock has its own error, since "held by somebody" is not a failure.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::journal::IntentId;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is not what it was when the caller read it; nothing was written.
    #[error("`{path}` changed since it was read")]
    Changed {
        /// The file, with symbolic links resolved.
        path: Utf8PathBuf,
    },
    /// Something with this name is already there; nothing was written.
    #[error("`{path}` already exists")]
    Exists {
        /// The name that is taken.
        path: Utf8PathBuf,
    },
    /// The path leads out of the folder it has to stay in, by `..`, by a symbolic link or openly.
    #[error("`{path}` leads outside `{root}`")]
    Outside {
        /// The canonical folder that must not be left.
        root: Utf8PathBuf,
        /// The path as it was given.
        path: Utf8PathBuf,
    },
    /// The path names a folder, a pipe, a device or nothing that could be a file.
    #[error("`{path}` is not an ordinary file")]
    NotAFile {
        /// The path in question.
        path: Utf8PathBuf,
    },
    /// The path is a symbolic link, or one is on the way to it, where none may be.
    #[error(
        "`{path}` is a symbolic link, which rekindle does not follow here; replace it with the file or folder itself"
    )]
    Link {
        /// The link.
        path: Utf8PathBuf,
    },
    /// The file has other names too (hard links), and a write would change it under all of them.
    #[error(
        "`{path}` has other names too (hard links), so rekindle does not write to it; replace it with a copy"
    )]
    SeveralNames {
        /// The name in question.
        path: Utf8PathBuf,
    },
    /// The file is larger than any that rekindle has a use for.
    #[error(
        "`{path}` is too large: it has {len} bytes, and rekindle reads at most {limit}; move it away if it is not needed"
    )]
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
        /// How many bytes it has.
        len: u64,
        /// How many are read at most.
        limit: u64,
    },
    /// The name no longer leads to the file that is open; writing on would lose what is written.
    #[error("`{path}` was moved, deleted or replaced while it was open")]
    Replaced {
        /// The name under which the file was opened.
        path: Utf8PathBuf,
    },
    /// Another process kept the file locked for longer than an append can take.
    #[error("another process keeps `{path}` locked for appending")]
    Busy {
        /// The file that is locked.
        path: Utf8PathBuf,
    },
    /// A record of a line-based file must not contain a line break itself.
    #[error("a record for `{path}` contains a line break")]
    LineBreak {
        /// The file the record was meant for.
        path: Utf8PathBuf,
    },
    /// A record has no JSON form, or one that would not read back.
    #[error("a record for `{path}` has no JSON form that reads back")]
    Encode {
        /// The file the record was meant for.
        path: Utf8PathBuf,
        /// What serde says.
        source: serde_json::Error,
    },
    /// The journal knows no open intent of this number.
    #[error("`{path}` has no open intent {id}")]
    NotOpen {
        /// The journal.
        path: Utf8PathBuf,
        /// The number that was asked for.
        id: IntentId,
    },
    /// The key is one that others could know or have made, or is broken.
    #[error("rekindle's key `{path}` cannot be used: {why}")]
    BadKey {
        /// The key.
        path: Utf8PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no key yet, and none can be written.
    #[error("rekindle's key `{path}` cannot be made")]
    KeyNotMade {
        /// The key.
        path: Utf8PathBuf,
        /// Why not.
        source: Box<Self>,
    },
    /// The environment names no folder for the key, so no record can be written.
    #[error("there is no place for rekindle's key: neither XDG_STATE_HOME nor HOME names a folder")]
    NoKeyPlace,
    /// The system refused.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder it was tried on.
        path: Utf8PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Returns a path for a message; what is not UTF-8 in it is replaced.
pub(crate) fn shown(path: &std::path::Path) -> Utf8PathBuf {
    Utf8PathBuf::from(path.to_string_lossy().into_owned())
}

/// Adds the two facts that an `io::Error` does not have: what was tried, and on which path.
pub(crate) trait At<T> {
    fn at(self, action: &'static str, path: &Utf8Path) -> Result<T, Error>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Utf8Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io {
            action,
            path: path.to_owned(),
            source,
        })
    }
}
