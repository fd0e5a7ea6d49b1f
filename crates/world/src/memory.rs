//! A world in memory, for tests and playback.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::{
    DatabaseQuestion, DatabaseRow, Entry, GitAnswer, GitQuestion, Kind, Meta, Owner, Ownership,
    ProcessAnswer, ProcessQuestion, ReadError, World,
};

#[derive(Debug, Clone)]
enum Node {
    File(Vec<u8>),
    Folder,
    Link(Utf8PathBuf),
    Denied,
}

/// A file tree, an environment and a clock.
#[derive(Debug, Clone)]
pub struct MemoryWorld {
    project: Utf8PathBuf,
    now: Timestamp,
    zone: TimeZone,
    times: BTreeMap<Utf8PathBuf, Timestamp>,
    variables: BTreeMap<String, String>,
    nodes: BTreeMap<Utf8PathBuf, Node>,
    owners: BTreeMap<Utf8PathBuf, Ownership>,
    git: BTreeMap<(Utf8PathBuf, GitQuestion), GitAnswer>,
    databases: BTreeMap<(Utf8PathBuf, DatabaseQuestion), Vec<DatabaseRow>>,
    processes: BTreeMap<ProcessQuestion, ProcessAnswer>,
}

impl MemoryWorld {
    /// Returns an empty project at a fixed time, in UTC.
    pub fn new(project: impl Into<Utf8PathBuf>, now: Timestamp) -> Self {
        let world = Self {
            project: project.into(),
            now,
            zone: TimeZone::UTC,
            times: BTreeMap::new(),
            variables: BTreeMap::new(),
            nodes: BTreeMap::new(),
            owners: BTreeMap::new(),
            git: BTreeMap::new(),
            databases: BTreeMap::new(),
            processes: BTreeMap::new(),
        };
        world.put(Utf8Path::new(""), Node::Folder)
    }

    /// Adds a file; a relative path is inside the project.
    #[must_use]
    pub fn file(self, path: impl AsRef<Utf8Path>, contents: impl AsRef<[u8]>) -> Self {
        self.put(path.as_ref(), Node::File(contents.as_ref().to_vec()))
    }

    /// Adds a folder.
    #[must_use]
    pub fn folder(self, path: impl AsRef<Utf8Path>) -> Self {
        self.put(path.as_ref(), Node::Folder)
    }

    /// Adds a symbolic link to an absolute path.
    #[must_use]
    pub fn link(self, path: impl AsRef<Utf8Path>, target: impl Into<Utf8PathBuf>) -> Self {
        self.put(path.as_ref(), Node::Link(target.into()))
    }

    /// Adds an unreadable file.
    #[must_use]
    pub fn denied(self, path: impl AsRef<Utf8Path>) -> Self {
        self.put(path.as_ref(), Node::Denied)
    }

    /// Sets when a file was last written; otherwise that is unknown.
    #[must_use]
    pub fn written_at(mut self, path: impl AsRef<Utf8Path>, at: Timestamp) -> Self {
        let path = self.project.join(path);
        self.times.insert(path, at);
        self
    }

    /// Sets the user's time zone.
    #[must_use]
    pub fn in_zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets the owner of a path; all others belong to the user.
    #[must_use]
    pub fn owned(mut self, path: impl AsRef<Utf8Path>, owner: Owner, mode: u32) -> Self {
        let path = self.project.join(path);
        self.owners.insert(path, Ownership { owner, mode });
        self
    }

    /// Sets git's answer to a question in a folder; all others are not found.
    #[must_use]
    pub fn git_says(
        mut self,
        folder: impl AsRef<Utf8Path>,
        question: GitQuestion,
        answer: GitAnswer,
    ) -> Self {
        let folder = self.project.join(folder);
        self.git.insert((folder, question), answer);
        self
    }

    /// Sets the answer of a database to a query; all others are not found.
    #[must_use]
    pub fn database_says(
        mut self,
        path: impl AsRef<Utf8Path>,
        question: DatabaseQuestion,
        rows: Vec<DatabaseRow>,
    ) -> Self {
        let path = self.project.join(path);
        self.databases.insert((path, question), rows);
        self
    }

    /// Sets the answer to a question about processes; all others are not found.
    #[must_use]
    pub fn processes_say(mut self, question: ProcessQuestion, answer: ProcessAnswer) -> Self {
        self.processes.insert(question, answer);
        self
    }

    fn put(mut self, path: &Utf8Path, node: Node) -> Self {
        let path = self.project.join(path);
        for folder in path.ancestors().skip(1) {
            self.nodes.entry(folder.to_owned()).or_insert(Node::Folder);
        }
        self.nodes.insert(path, node);
        self
    }

    /// Follows the links in all but the last part of a path.
    fn parent_resolved(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        let Some((parent, name)) = path.parent().zip(path.file_name()) else {
            return Ok(path.to_owned());
        };
        Ok(self.follow(parent, 32)?.join(name))
    }

    fn follow(&self, path: &Utf8Path, depth: u8) -> Result<Utf8PathBuf, ReadError> {
        let here = match path.parent().zip(path.file_name()) {
            Some((parent, name)) => self.follow(parent, depth)?.join(name),
            None => path.to_owned(),
        };
        match self.nodes.get(&here) {
            Some(Node::Link(target)) if depth > 0 => self.follow(target, depth - 1),
            Some(Node::Link(_)) => Err(ReadError::Failed("too many links".to_owned())),
            Some(Node::File(_) | Node::Folder | Node::Denied) => Ok(here),
            None => Err(ReadError::NotFound),
        }
    }

    fn contents(&self, path: &Utf8Path) -> Result<&[u8], ReadError> {
        match self.nodes.get(&self.follow(path, 32)?) {
            Some(Node::File(bytes)) => Ok(bytes),
            Some(Node::Denied) => Err(ReadError::Denied),
            Some(Node::Folder | Node::Link(_)) | None => Err(ReadError::NotFound),
        }
    }
}

impl Node {
    fn meta(&self) -> Meta {
        let (kind, len) = match self {
            Self::File(bytes) => (Kind::File, bytes.len()),
            Self::Folder => (Kind::Folder, 0),
            Self::Link(_) => (Kind::Link, 0),
            Self::Denied => (Kind::File, 1),
        };
        Meta {
            kind,
            len: u64::try_from(len).unwrap_or(u64::MAX),
        }
    }
}

impl World for MemoryWorld {
    fn project(&self) -> &Utf8Path {
        &self.project
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn zone(&self) -> TimeZone {
        self.zone.clone()
    }

    fn modified(&self, path: &Utf8Path) -> Option<Timestamp> {
        self.times.get(&self.follow(path, 32).ok()?).copied()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError> {
        let node = self.nodes.get(&self.parent_resolved(path)?);
        node.map(Node::meta).ok_or(ReadError::NotFound)
    }

    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        let folder = self.follow(folder, 32)?;
        if !matches!(self.nodes.get(&folder), Some(Node::Folder)) {
            return Err(ReadError::NotFound);
        }
        let inside = self
            .nodes
            .iter()
            .filter(|(path, _)| path.parent() == Some(&folder));
        let entries = inside.filter_map(|(path, node)| {
            let (name, kind) = (path.file_name()?.to_owned(), node.meta().kind);
            Some(Entry { name, kind })
        });
        Ok(entries.collect())
    }

    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        self.follow(path, 32)
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let bytes = self.contents(path)?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if len > limit {
            return Err(ReadError::TooLarge { len, limit });
        }
        Ok(bytes.to_vec())
    }

    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        for piece in self.contents(path)?.chunks(64 * 1024) {
            sink(piece);
        }
        Ok(())
    }

    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        let meta = self.stat(path)?;
        let mode = match meta.kind {
            Kind::Folder => 0o755,
            Kind::File | Kind::Link | Kind::Other => 0o644,
        };
        let owner = Owner::Me;
        Ok(*self.owners.get(path).unwrap_or(&Ownership { owner, mode }))
    }

    fn git(&self, folder: &Utf8Path, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        let answer = self.git.get(&(folder.to_owned(), question.clone()));
        answer.cloned().ok_or(ReadError::NotFound)
    }

    fn database(
        &self,
        path: &Utf8Path,
        question: &DatabaseQuestion,
    ) -> Result<Vec<DatabaseRow>, ReadError> {
        let answer = self.databases.get(&(path.to_owned(), question.clone()));
        answer.cloned().ok_or(ReadError::NotFound)
    }

    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError> {
        let answer = self.processes.get(question);
        answer.cloned().ok_or(ReadError::NotFound)
    }
}
