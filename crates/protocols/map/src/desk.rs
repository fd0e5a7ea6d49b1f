//! What a command works on: the project through a World, and the folder of one branch in it.
//!
//! Files are read as the peer reads them: strict UTF-8, every line end `\n`. What is not there is no
//! fault, what is there and can not be read is one.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::Action;
use rekindle_text::python_json::{self, Json};
use rekindle_text::python_text;
use rekindle_world::{Entry, GitAnswer, GitQuestion, Kind, ReadError, World};

use super::fault::Fault;
use super::layout::Branch;

/// No file of MAP's is larger.
pub(crate) const LARGEST: u64 = 64 * 1024 * 1024;

/// The project and the branch that a command is about.
#[derive(Clone, Copy)]
pub(crate) struct Desk<'a> {
    pub(crate) world: &'a dyn World,
    pub(crate) branch: &'a Branch,
}

/// A file that should hold JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Document {
    /// There is none.
    Absent,
    /// It is no JSON, for this reason.
    Broken(String),
    /// It holds this.
    Value(Json),
}

impl Desk<'_> {
    /// Returns the absolute form of a path that may be relative to the project.
    pub(crate) fn place(&self, path: &str) -> Utf8PathBuf {
        self.world.project().join(path)
    }

    /// Returns whether something is there; a link counts by what it leads to.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.kind(path).is_some()
    }

    /// Returns what is there; a link counts by what it leads to.
    pub(crate) fn kind(&self, path: &str) -> Option<Kind> {
        let place = self.place(path);
        match self.world.stat(&place).ok()?.kind {
            Kind::Link => {
                let target = self.world.resolve(&place).ok()?;
                self.world.stat(&target).ok().map(|meta| meta.kind)
            }
            kind @ (Kind::File | Kind::Folder | Kind::Other) => Some(kind),
        }
    }

    /// Returns the names in a folder, in order; one that is not there has none.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = self.world.list(&self.place(folder)).unwrap_or_default();
        entries.into_iter().map(|Entry { name, .. }| name).collect()
    }

    /// Returns the bytes of a file, or `None` if it is not there.
    pub(crate) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        match self.world.read(&self.place(path), LARGEST) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ReadError::NotFound) if !self.exists(path) => Ok(None),
            Err(ReadError::NotFound) => Err(Fault::new(format!("`{path}` is not a file"))),
            Err(error) => Err(Fault::new(format!("cannot read `{path}`: {error}"))),
        }
    }

    /// Returns the text of a file, or `None` if it is not there.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, Fault> {
        let Some(bytes) = self.bytes(path)? else {
            return Ok(None);
        };
        decoded(path, &bytes).map(Some)
    }

    /// Returns the text of the plan, or `None` if there is none.
    pub(crate) fn plan(&self) -> Result<Option<String>, Fault> {
        let path = self.branch.plan();
        if !self.branch.can_have_plan() {
            return Err(Fault::new(format!("the name of `{path}` is too long")));
        }
        self.text(&path)
    }

    /// Returns the JSON of a file.
    pub(crate) fn json(&self, path: &str) -> Result<Document, Fault> {
        Ok(match self.text(path)? {
            None => Document::Absent,
            Some(text) => match python_json::parse(&text) {
                Ok(value) => Document::Value(value),
                Err(error) => Document::Broken(error.to_string()),
            },
        })
    }

    /// Returns the effect that makes a file hold this text, if it does not yet.
    pub(crate) fn written(&self, path: &str, text: String) -> Result<Option<Action>, Fault> {
        Ok(replacing(path, self.bytes(path)?, text))
    }

    /// Asks git about the project.
    pub(crate) fn git(&self, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        self.world.git(self.world.project(), question)
    }

    /// Returns the time as MAP stamps what it records: `2026-11-15T20:00:00.123456Z`.
    pub(crate) fn stamp(&self) -> String {
        format!("{}Z", without_zone(self.world.now()))
    }

    /// Returns the time as a state says when it began: with `+00:00`.
    pub(crate) fn started_at(&self) -> String {
        format!("{}+00:00", without_zone(self.world.now()))
    }
}

/// Returns bytes as the peer reads text.
pub(crate) fn decoded(path: &str, bytes: &[u8]) -> Result<String, Fault> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Fault::new(format!("`{path}` is not UTF-8 at byte {at}"))
    })?;
    Ok(python_text::universal_newlines(text))
}

/// Returns the effect that brings a file from what it holds to a text, if they differ.
pub(crate) fn replacing(path: &str, before: Option<Vec<u8>>, text: String) -> Option<Action> {
    match before {
        None => Some(Action::Create {
            path: path.into(),
            contents: text.into_bytes(),
        }),
        Some(before) if before == text.as_bytes() => None,
        Some(before) => Some(Action::Edit {
            path: path.into(),
            before,
            after: text.into_bytes(),
        }),
    }
}

/// Writes an instant in UTC to the microsecond, which is left out where it is 0.
fn without_zone(now: Timestamp) -> String {
    let seconds = rekindle_text::format_seconds(now);
    let seconds = seconds.trim_end_matches('Z');
    match now.subsec_microsecond() {
        0 => seconds.to_owned(),
        micros => format!("{seconds}.{micros:06}"),
    }
}
