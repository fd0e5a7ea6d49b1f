//! A world that computes a digest of everything read through it.

use std::cell::RefCell;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::{
    DatabaseQuestion, DatabaseRow, End, Entry, GitAnswer, GitQuestion, Meta, Ownership,
    ProcessAnswer, ProcessQuestion, ReadError, World,
};

/// Passes every question on and adds question and answer to a digest, except the time: a plan must
/// not expire because time passes.
pub struct Witness<'w> {
    inner: &'w dyn World,
    digest: RefCell<blake3::Hasher>,
}

impl<'w> Witness<'w> {
    /// Returns a witness of `inner` that has seen nothing yet.
    pub fn new(inner: &'w dyn World) -> Self {
        Self {
            inner,
            digest: RefCell::new(blake3::Hasher::new()),
        }
    }

    /// Returns the digest of all that was read so far, as 32 hex digits.
    pub fn digest(&self) -> String {
        let hash = self.digest.borrow().finalize();
        hash.to_hex()[..32].to_owned()
    }

    /// Adds an input of a protocol besides its files, if an answer depends on it.
    pub fn asked(&self, what: &str, value: &str) {
        self.note("asked", what, value.as_bytes());
    }

    fn note(&self, question: &str, about: &str, answer: &[u8]) {
        let mut digest = self.digest.borrow_mut();
        for part in [question.as_bytes(), about.as_bytes(), answer] {
            // Lengths separate the parts: different readings never give the same bytes.
            digest.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            digest.update(part);
        }
    }

    fn noted<T: std::fmt::Debug>(&self, question: &str, about: &str, answer: T) -> T {
        self.note(question, about, format!("{answer:?}").as_bytes());
        answer
    }
}

impl World for Witness<'_> {
    fn project(&self) -> &Utf8Path {
        self.inner.project()
    }

    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn zone(&self) -> TimeZone {
        self.inner.zone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.noted("variable", name, self.inner.variable(name))
    }

    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError> {
        self.noted("stat", path.as_str(), self.inner.stat(path))
    }

    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        self.noted("list", folder.as_str(), self.inner.list(folder))
    }

    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        self.noted("resolve", path.as_str(), self.inner.resolve(path))
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let answer = self.inner.read(path, limit);
        match &answer {
            Ok(bytes) => self.note("read", path.as_str(), bytes),
            Err(error) => self.note("unread", path.as_str(), format!("{error:?}").as_bytes()),
        }
        answer
    }

    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        let mut contents = blake3::Hasher::new();
        let answer = self.inner.stream(path, &mut |piece| {
            contents.update(piece);
            sink(piece);
        });
        self.note("stream", path.as_str(), contents.finalize().as_bytes());
        self.noted("streamed", path.as_str(), answer)
    }

    fn read_end(&self, path: &Utf8Path, end: End, most: usize) -> Result<Vec<u8>, ReadError> {
        let answer = self.inner.read_end(path, end, most);
        let about = format!("{path} {end:?} {most}");
        match &answer {
            Ok(bytes) => self.note("end", &about, bytes),
            Err(error) => self.note("no end", &about, format!("{error:?}").as_bytes()),
        }
        answer
    }

    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        self.noted("ownership", path.as_str(), self.inner.ownership(path))
    }

    fn modified(&self, path: &Utf8Path) -> Option<Timestamp> {
        self.inner.modified(path)
    }

    fn git(&self, folder: &Utf8Path, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        let about = format!("{folder} {question:?}");
        self.noted("git", &about, self.inner.git(folder, question))
    }

    fn git_of_each(
        &self,
        questions: &[(Utf8PathBuf, GitQuestion)],
    ) -> Vec<Result<GitAnswer, ReadError>> {
        let answers = self.inner.git_of_each(questions);
        for ((folder, question), answer) in questions.iter().zip(&answers) {
            self.noted("git", &format!("{folder} {question:?}"), answer);
        }
        answers
    }

    fn database(
        &self,
        path: &Utf8Path,
        question: &DatabaseQuestion,
    ) -> Result<Vec<DatabaseRow>, ReadError> {
        let about = format!("{path} {question:?}");
        self.noted("database", &about, self.inner.database(path, question))
    }

    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError> {
        let about = format!("{question:?}");
        self.noted("processes", &about, self.inner.processes(question))
    }
}
