//! Why a case does not hold, or could not be run at all.

use std::io;

use camino::Utf8PathBuf;

use crate::process;

/// The first thing that is wrong with a case.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The binary did something else than the case says.
    #[error("{0}")]
    Mismatch(String),
    /// The case itself cannot be understood.
    #[error("`{path}` is no case")]
    Case {
        /// The `case.json`.
        path: Utf8PathBuf,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// A pattern of the case is no regular expression.
    #[error("the case has a bad pattern")]
    Pattern(#[from] regex::Error),
    /// A time or a zone of the case cannot be read.
    #[error("the case has a bad time")]
    Time(#[from] jiff::Error),
    /// A zone of the case does not exist.
    #[error("there is no time zone `{0}`")]
    Zone(String),
    /// A file that should be JSON is not.
    #[error("not JSON")]
    Json(#[from] serde_json::Error),
    /// A file of the scene could not be read or written; the message names it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The binary or git could not be run to its end.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// Git refused while the scene was laid out or looked at.
    #[error("`git {args}` said: {stderr}")]
    Git {
        /// Its arguments.
        args: String,
        /// What it said.
        stderr: String,
    },
}

impl Error {
    /// Returns the message with all its causes on one line.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(deeper) = cause {
            text.push_str(": ");
            text.push_str(&deeper.to_string());
            cause = deeper.source();
        }
        text
    }
}

/// Ends a check with what is wrong.
pub(crate) fn mismatch<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error::Mismatch(text.into()))
}
