//! Findings: what was noticed in the user's files. Never errors; the run continues with what is readable.

use camino::Utf8PathBuf;

use crate::Code;

/// How much a finding matters to a resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Resuming continues, with care.
    Warning,
    /// Nothing is resumed until it is dealt with.
    Blocker,
}

impl Severity {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Blocker => "blocker",
        }
    }
}

/// Where something is: a file, and the line in it where that is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file or folder, relative to the project where it is inside.
    pub path: Utf8PathBuf,
    /// The 1-based line.
    pub line: Option<u64>,
}

impl Place {
    /// Returns a place that is a whole file or folder.
    pub fn path(path: impl Into<Utf8PathBuf>) -> Self {
        Self {
            path: path.into(),
            line: None,
        }
    }

    /// Returns one line of a file, by its number from 1.
    pub fn line(path: impl Into<Utf8PathBuf>, line: impl TryInto<u64>) -> Self {
        Self {
            path: path.into(),
            line: Some(line.try_into().unwrap_or(u64::MAX)),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => write!(f, "{}", self.path),
        }
    }
}

/// One thing noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The stable code; its page says what it means and what to do.
    pub code: Code,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// Its state.
    pub place: Option<Place>,
    /// What to type or do about it.
    pub hint: Option<String>,
}

impl Finding {
    /// Returns a finding with no place and no hint yet.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            place: None,
            hint: None,
        }
    }

    /// Returns its state.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns how much it matters, which its code decides.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}
