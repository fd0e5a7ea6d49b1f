//! A project, read through a World, and one of its branches.
//!
//! Files are read as Python reads them: strict UTF-8, every line end `\n`. An unreadable file is a fault,
//! a missing one is not.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::Action;
use rekindle_text::python_json::{self, Json};
use rekindle_text::python_text;
use rekindle_world::{Entry, GitAnswer, GitQuestion, Kind, ReadError, World};

use crate::layout::Branch;
use crate::reply::Fault;

/// The largest file of MAP.
pub(crate) const LARGEST: u64 = 64 * 1024 * 1024;

/// The project and the branch of a command.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The project.
    pub world: &'a dyn World,
    /// The branch.
    pub branch: &'a Branch,
}

/// A file of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// It does not exist.
    Absent,
    /// It is not JSON, for this reason.
    Broken(String),
    /// Its value.
    Value(Json),
}

impl<'a> Desk<'a> {
    /// Returns the view of a project and one of its branches.
    pub fn new(world: &'a dyn World, branch: &'a Branch) -> Self {
        Self { world, branch }
    }

    /// Returns the absolute form of a path.
    pub(crate) fn place(&self, path: &str) -> Utf8PathBuf {
        self.world.project().join(path)
    }

    /// Returns whether a path exists; a link is followed.
    pub fn exists(&self, path: &str) -> bool {
        self.kind(path).is_some()
    }

    /// Returns the kind of a path; a link is followed.
    pub fn kind(&self, path: &str) -> Option<Kind> {
        let place = self.place(path);
        match self.world.stat(&place).ok()?.kind {
            Kind::Link => {
                let target = self.world.resolve(&place).ok()?;
                self.world.stat(&target).ok().map(|meta| meta.kind)
            }
            kind @ (Kind::File | Kind::Folder | Kind::Other) => Some(kind),
        }
    }

    /// Returns the names in a folder, in order.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = self.world.list(&self.place(folder)).unwrap_or_default();
        entries.into_iter().map(|Entry { name, .. }| name).collect()
    }

    /// Returns the bytes of a file, or `None` if it does not exist.
    pub fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        match self.world.read(&self.place(path), LARGEST) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ReadError::NotFound) if !self.exists(path) => Ok(None),
            Err(ReadError::NotFound) => Err(Fault::new(format!("`{path}` is not a file"))),
            Err(error) => Err(Fault::new(format!("cannot read `{path}`: {error}"))),
        }
    }

    /// Returns the text of a file, or `None` if it does not exist.
    pub fn text(&self, path: &str) -> Result<Option<String>, Fault> {
        let bytes = self.bytes(path)?;
        bytes.map(|bytes| decoded(path, &bytes)).transpose()
    }

    /// Returns the text of the plan, or `None` if it does not exist.
    pub fn plan(&self) -> Result<Option<String>, Fault> {
        let path = self.branch.plan();
        if !self.branch.can_have_plan() {
            return Err(Fault::new(format!("the name of `{path}` is too long")));
        }
        self.text(&path)
    }

    /// Returns the JSON of a file.
    pub fn json(&self, path: &str) -> Result<Document, Fault> {
        Ok(match self.text(path)? {
            None => Document::Absent,
            Some(text) => match python_json::parse(&text) {
                Ok(value) => Document::Value(value),
                Err(error) => Document::Broken(error.to_string()),
            },
        })
    }

    /// Returns the effect that writes a text to a file, if it differs.
    pub(crate) fn written(&self, path: &str, text: String) -> Result<Option<Action>, Fault> {
        Ok(replacing(path, self.bytes(path)?, text))
    }

    /// Asks git about the project.
    pub fn git(&self, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        self.world.git(self.world.project(), question)
    }

    /// Returns the commit that is checked out.
    pub fn head(&self) -> Option<String> {
        let name = "HEAD".to_owned();
        let answer = self.git(&GitQuestion::Commit { name });
        answer.and_then(GitAnswer::commit).ok().flatten()
    }

    /// Returns the time in the form of MAP's records: `2026-11-15T20:00:00.123456Z`.
    pub fn stamp(&self) -> String {
        format!("{}Z", without_zone(self.world.now()))
    }

    /// Returns the time in the form of `started_at`, with `+00:00`.
    pub(crate) fn started_at(&self) -> String {
        format!("{}+00:00", without_zone(self.world.now()))
    }
}

/// Decodes bytes as Python does.
pub(crate) fn decoded(path: &str, bytes: &[u8]) -> Result<String, Fault> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Fault::new(format!("`{path}` is not UTF-8 at byte {at}"))
    })?;
    Ok(python_text::universal_newlines(text))
}

/// Returns the effect that replaces the contents of a file, if they differ.
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

/// Formats a time in UTC with microseconds, which are omitted if they are 0.
fn without_zone(now: Timestamp) -> String {
    let seconds = rekindle_text::format_seconds(now);
    let seconds = seconds.trim_end_matches('Z');
    match now.subsec_microsecond() {
        0 => seconds.to_owned(),
        micros => format!("{seconds}.{micros:06}"),
    }
}
