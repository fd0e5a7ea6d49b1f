//! A world that computes a digest of everything read through it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

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
    seen: RefCell<Readings>,
}

/// The questions that are about one path.
const OF_FILES: [&str; 6] = ["stat", "list", "read", "unread", "stream", "streamed"];

/// What was read of each path, as a short hash, to name the paths that have changed since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readings(BTreeMap<Utf8PathBuf, u64>);

impl Readings {
    /// Returns the paths that have changed between two readings.
    ///
    /// A path that only one of them asked about counts if it came or went with a folder that both
    /// asked about, and a folder does not count beside what changed in it.
    pub fn differences<'a>(&'a self, other: &'a Self) -> Vec<&'a Utf8Path> {
        let differs = |path: &Utf8Path| match (self.0.get(path), other.0.get(path)) {
            (Some(before), Some(after)) => before != after,
            (Some(_) | None, None) | (None, Some(_)) => false,
        };
        let is_changed = |path: &Utf8Path| {
            let is_known_to_both = self.0.contains_key(path) && other.0.contains_key(path);
            differs(path) || (!is_known_to_both && path.ancestors().skip(1).any(differs))
        };
        let all = self.0.keys().chain(other.0.keys());
        let all: BTreeSet<&Utf8Path> = all.map(Utf8PathBuf::as_path).collect();
        let changed: Vec<&Utf8Path> = all.into_iter().filter(|path| is_changed(path)).collect();
        let is_above_another = |path: &Utf8Path| {
            let mut others = changed.iter();
            others.any(|other| *other != path && other.starts_with(path))
        };
        let kept = changed.iter().filter(|path| !is_above_another(path));
        kept.copied().collect()
    }

    fn add(&mut self, path: &str, question: &str, answer: &[u8]) {
        let before = self.0.get(Utf8Path::new(path)).copied().unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&before.to_le_bytes());
        hasher.update(question.as_bytes());
        hasher.update(answer);
        let hash = hasher.finalize();
        let mut short = [0; 8];
        short.copy_from_slice(&hash.as_bytes()[..8]);
        self.0
            .insert(Utf8PathBuf::from(path), u64::from_le_bytes(short));
    }
}

impl<'w> Witness<'w> {
    /// Returns a witness of `inner` that has seen nothing yet.
    pub fn new(inner: &'w dyn World) -> Self {
        Self {
            inner,
            digest: RefCell::new(blake3::Hasher::new()),
            seen: RefCell::default(),
        }
    }

    /// Returns the digest of all that was read so far, as 32 hex digits.
    pub fn digest(&self) -> String {
        let hash = self.digest.borrow().finalize();
        hash.to_hex()[..32].to_owned()
    }

    /// Returns what was read of each path so far.
    pub fn readings(&self) -> Readings {
        self.seen.borrow().clone()
    }

    /// Adds an input of a protocol besides its files, if an answer depends on it.
    pub fn asked(&self, what: &str, value: &str) {
        self.note("asked", what, value.as_bytes());
    }

    fn note(&self, question: &str, about: &str, answer: &[u8]) {
        if OF_FILES.contains(&question) {
            self.seen.borrow_mut().add(about, question, answer);
        }
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
        let answer = self.inner.git(folder, question);
        let shown = format!("{answer:?}");
        self.seen
            .borrow_mut()
            .add(folder.join(".git").as_str(), &about, shown.as_bytes());
        self.noted("git", &about, answer)
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
