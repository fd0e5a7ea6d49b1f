//! A world from one input: files below lines that start with `== `.
//!
//! `== PATH` starts a file of the project, `== ~/PATH` one of the home folder, `== PATH/` is a folder and
//! `== PATH -> TARGET` a link. The plain format lets a fuzzer change names as easily as contents, and a
//! person read an input. git answers from files too: `.git/subjects` has the commits, `.git/branch` the
//! branch, and `.changes` of a worktree its changed paths.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rekindle_world::{
    DatabaseQuestion, DatabaseRow, Entry, GitAnswer, GitChange, GitCommit, GitEntry, GitHeadName,

    GitQuestion, GitRepository, GitTouch, GitTouched, GitWorktree, MemoryWorld, Meta, Ownership,
    ProcessAnswer, ProcessQuestion, ReadError, World,
};

/// The project of every input.
pub const PROJECT: &str = "/w";
/// The home of every input.
pub const HOME: &str = "/home/u";
/// The folder of Kiln's worktrees, named after the SHA-256 of [`PROJECT`].
const WORKTREES: &str = "/wt/kiln-d1bb8ca35467";
/// Further files are ignored, since each makes listing slower.
const MOST_FILES: usize = 64;

/// A tree in memory whose git answers from files of that tree.
pub struct Grown(MemoryWorld);

impl Grown {
    /// Reads an input; every input is valid.
    pub fn new(data: &[u8]) -> Self {
        let text = String::from_utf8_lossy(data);
        let now = Timestamp::from_second(1_771_254_000).unwrap_or_default();
        let mut world = MemoryWorld::new(PROJECT, now)
            .with_variable("HOME", HOME)
            .with_variable("KILN_WORKTREE_ROOT", "/wt");
        for part in sections(&text).take(MOST_FILES) {
            let path = path_of(part.name);
            world = match part.name.split_once(" -> ") {
                _ if part.name.ends_with('/') => world.folder(path),
                Some((from, to)) => world.link(path_of(from), path_of(to)),
                None => world.file(path, part.contents),
            };
        }
        Self(world)
    }

    /// Returns a world with one file, which belongs to the home folder.
    pub fn with(path: &str, data: &[u8]) -> Self {
        let Self(world) = Self::new(b"");
        Self(world.file(path, data))
    }

    fn lines(&self, path: &Utf8Path) -> Vec<String> {
        let bytes = self.0.read(path, 64 * 1024).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().take(MOST_FILES).map(str::to_owned).collect()
    }
}

/// One file of an input.
pub struct Section<'a> {
    /// The text after `== `.
    pub name: &'a str,
    /// Everything up to the next such line.
    pub contents: &'a str,
}

/// Splits an input into its files.
pub fn sections(text: &str) -> impl Iterator<Item = Section<'_>> {
    let text = text.strip_prefix("== ").unwrap_or(text);
    text.split("\n== ").map(|part| {
        let (name, contents) = part.split_once('\n').unwrap_or((part, ""));
        Section { name, contents }
    })
}

fn path_of(name: &str) -> Utf8PathBuf {
    let name = name.trim_end_matches('/');
    let path = match name.strip_prefix("~/") {
        Some(rest) => Utf8Path::new(HOME).join(rest),
        None => Utf8Path::new(PROJECT).join(name),
    };
    // A real path has no `..`, and a world with one could not be listed.
    let mut normal = Utf8PathBuf::from("/");
    for part in path.components() {
        if let camino::Utf8Component::Normal(part) = part {
            normal.push(part);
        }
    }
    normal
}

/// Returns an id in the format of git.
fn id(number: usize) -> String {
    format!("{number:040x}")
}

impl World for Grown {
    fn project(&self) -> &Utf8Path {
        self.0.project()
    }

    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn zone(&self) -> TimeZone {
        self.0.zone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }

    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError> {
        self.0.stat(path)
    }

    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        self.0.list(folder)
    }

    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        self.0.resolve(path)
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.0.read(path, limit)
    }

    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        self.0.stream(path, sink)
    }

    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        self.0.ownership(path)
    }

    fn modified(&self, path: &Utf8Path) -> Option<Timestamp> {
        self.0.modified(path)
    }

    fn database(
        &self,
        path: &Utf8Path,
        question: &DatabaseQuestion,
    ) -> Result<Vec<DatabaseRow>, ReadError> {
        if let Ok(rows) = self.0.database(path, question) {
            return Ok(rows);
        }
        // Every line is a row, and tabs separate its columns.
        let column = |text: &str| (text != "-").then(|| text.to_owned());
        let lines = self.lines(path);
        let row = |line: &String| line.split('\t').map(column).collect();
        Ok(lines.iter().map(row).collect())
    }

    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError> {
        self.0.processes(question)
    }

    fn git(&self, folder: &Utf8Path, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        let subjects = self.lines(Utf8Path::new("/w/.git/subjects"));
        if subjects.is_empty() {
            return Err(ReadError::NotFound);
        }
        let head = id(subjects.len());
        let branch = self.lines(Utf8Path::new("/w/.git/branch"));
        let branch = branch.first().map_or("main", String::as_str).to_owned();
        Ok(match question {
            GitQuestion::Repository => GitAnswer::Repository(GitRepository {
                top_level: folder.to_owned(),
                common_dir: "/w/.git".into(),
                head: Some(head),
                branch: Some(branch),
            }),
            GitQuestion::HeadName => GitAnswer::HeadName(GitHeadName {
                top_level: folder.to_owned(),
                git_dir: Some("/w/.git".into()),
                name: Some(branch),
            }),
            GitQuestion::Worktrees => {
                let folder = Utf8Path::new(WORKTREES);
                let below = self.0.list(folder).unwrap_or_default();
                let below = below.iter().map(|entry| folder.join(&entry.name));
                let all = std::iter::once(Utf8PathBuf::from(PROJECT)).chain(below);
                let worktrees = all.map(|path| GitWorktree {
                    path,
                    head: Some(head.clone()),
                    branch: None,
                    locked: None,
                    prunable: None,
                });
                GitAnswer::Worktrees(worktrees.collect())
            }
            GitQuestion::Commits { .. } => {
                let newest_first = subjects.into_iter().enumerate().rev();
                let commits = newest_first.map(|(at, subject)| GitCommit {
                    id: id(at + 1),
                    parent: at.checked_sub(1).map(|_| id(at)),
                    subject,
                });
                GitAnswer::Commits(commits.collect())
            }
            GitQuestion::Has { commit } => GitAnswer::Has(commit.ends_with(['0', '1', '2'])),
            GitQuestion::Changes { .. } | GitQuestion::Between { .. } | GitQuestion::Staged => {
                let paths = self.lines(&folder.join(".changes"));
                let entry = |id: String| GitEntry {
                    mode: "100644".to_owned(),
                    id,
                };
                let changes = paths.iter().enumerate().map(|(at, path)| GitChange {
                    path: path.as_str().into(),
                    from: None,
                    before: (at % 2 == 1).then(|| entry(id(7))),
                    after: (at % 3 != 2).then(|| entry(id(8))),
                });
                GitAnswer::Changes(changes.collect())
            }
            GitQuestion::Commit { .. } => GitAnswer::Commit(Some(head)),
            GitQuestion::PrintedStatus { .. } => {
                let paths = self.lines(&folder.join(".changes"));
                GitAnswer::Printed(paths.iter().map(|path| format!(" M {path}\n")).collect())
            }
            GitQuestion::PrintedNamesSince { .. } | GitQuestion::PrintedNamesIn { .. } => {
                GitAnswer::Printed(self.lines(&folder.join(".changes")).join("\n"))
            }
            GitQuestion::PrintedIgnored { .. } => GitAnswer::Printed(String::new()),
            GitQuestion::Touched { .. } | GitQuestion::Trailed { .. } => GitAnswer::Touched(GitTouched {
                commits: self.lines(&self.0.project().join(".git/touched")).iter().filter_map(touch).collect(),
                uncommitted: Vec::new(),
            }),
        })
    }
}

/// Reads `SECONDS LIST TASK PATH` as a commit of a task.
fn touch(line: &String) -> Option<GitTouch> {
    let mut words = line.split(' ');
    let at = words.next()?.parse().ok()?;
    let keys = ["Rekindle-List", "Rekindle-Task"];
    let trailers = keys.into_iter().zip(words.by_ref());
    let trailers = trailers.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Some(GitTouch {
        at,
        subject: String::new(),
        trailers: trailers.collect(),
        paths: words.map(|path| path.into()).collect(),
    })
}
