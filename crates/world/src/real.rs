//! The world as the operating system shows it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rekindle_fs::GuardedFile;

use crate::process_table;
use crate::real_database;
use crate::real_git::RealGit;
use crate::side_by_side::side_by_side;
use crate::{
    DatabaseQuestion, DatabaseRow, End, Entry, GitAnswer, GitQuestion, Kind, Meta, Owner,
    Ownership, ProcessAnswer, ProcessQuestion, ReadError, Seen, World, Zone,
};

/// Where the time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The system's clock.
    System,
    /// A fixed time, for tests and playback.
    Fixed(Timestamp),
}

impl Clock {
    /// Returns the time.
    #[expect(
        clippy::disallowed_methods,
        reason = "the only call that reads the system's clock"
    )]
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(now) => now,
        }
    }
}

/// The project on this machine.
pub struct RealWorld {
    project: Utf8PathBuf,
    now: Timestamp,
    zone: Zone,
    variables: BTreeMap<String, String>,
    git: RealGit,
}

/// The folder of rekindle's own files in a project.
const OWN_FOLDER: &str = ".rekindle";

/// The longest file that is streamed: the log of a long run has some megabytes.
const LONGEST_STREAM: u64 = 1 << 30;

/// How many paths one thread checks at a time: one takes about a microsecond.
const LOOKS_AT_ONCE: usize = 256;

/// Large enough to hide the cost of a read call, small enough for the cache.
const PIECE: usize = 256 * 1024;

impl RealWorld {
    /// Returns the view of `project`, with the clock read once; git is searched in `search_path`.
    pub fn new(
        project: Utf8PathBuf,
        clock: Clock,
        variables: BTreeMap<String, String>,
        search_path: OsString,
    ) -> Self {
        Self {
            project,
            now: clock.now(),
            zone: Zone::Fixed(TimeZone::UTC),
            variables,
            git: RealGit::new(search_path),
        }
    }

    /// Returns the same view in the user's time zone; without one it is UTC.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// Opens a file; in our own folder without following links, since a clone can contain any.
    fn open(&self, path: &Utf8Path) -> Result<GuardedFile, ReadError> {
        let inside = path.strip_prefix(&self.project);
        if !inside.is_ok_and(|inside| inside.starts_with(OWN_FOLDER)) {
            return open(path);
        }
        let found = GuardedFile::open_within(&self.project, path);
        found.map_err(refusal)?.ok_or(ReadError::NotFound)
    }
}

impl World for RealWorld {
    fn project(&self) -> &Utf8Path {
        &self.project
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn zone(&self) -> TimeZone {
        self.zone.get()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError> {
        Ok(meta(&fs_err::symlink_metadata(path)?))
    }

    fn look_at_each(&self, paths: &[Utf8PathBuf]) -> Vec<Option<Seen>> {
        let look = |path: &Utf8PathBuf| {
            let found = fs_err::symlink_metadata(path).ok()?;
            let time = found.modified().ok();
            Some(Seen {
                meta: meta(&found),
                modified: time.and_then(|time| Timestamp::try_from(time).ok()),
            })
        };
        let seen = side_by_side(paths, LOOKS_AT_ONCE, look);
        seen.into_iter().map(Option::flatten).collect()
    }

    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        let mut entries = Vec::new();
        for entry in fs_err::read_dir(folder)? {
            let entry = entry?;
            // File systems return the type with the listing; an entry that vanished meanwhile is
            // skipped.
            let Ok(file_type) = entry.file_type() else {
                continue;
            };
            entries.push(Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                kind: kind(file_type),
            });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        let path = fs_err::canonicalize(path)?;
        Utf8PathBuf::from_path_buf(path)
            .map_err(|path| ReadError::Failed(format!("`{}` is not UTF-8", path.display())))
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.open(path)?.bytes(limit).map_err(refusal)
    }

    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        let file = self.open(path)?.into_file();
        // Most logs are small and need no large zeroed buffer.
        let len = file.metadata()?.len();
        let limit = LONGEST_STREAM;
        if len > limit {
            return Err(ReadError::TooLarge { len, limit });
        }
        // A growing file is not followed forever.
        let mut file = file.take(limit);
        let size = usize::try_from(len).map_or(PIECE, |len| len.saturating_add(1).min(PIECE));
        let mut buffer = vec![0; size.max(4096)];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => sink(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read_end(&self, path: &Utf8Path, end: End, most: usize) -> Result<Vec<u8>, ReadError> {
        let file = self.open(path)?;
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        match end {
            End::Head => file.head(most),
            End::Tail => file.tail(most),
        }
        .map_err(refusal)
    }

    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        let meta = fs_err::symlink_metadata(path)?;
        let owner = match meta.uid() {
            uid if uid == rustix::process::geteuid().as_raw() => Owner::Me,
            0 => Owner::Root,
            _ => Owner::Other,
        };
        let mode = meta.mode() & 0o7777;
        Ok(Ownership { owner, mode })
    }

    fn modified(&self, path: &Utf8Path) -> Option<Timestamp> {
        let time = fs_err::metadata(path).ok()?.modified().ok()?;
        Timestamp::try_from(time).ok()
    }

    fn git(&self, folder: &Utf8Path, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        self.git.ask(folder, question)
    }

    fn git_of_each(
        &self,
        questions: &[(Utf8PathBuf, GitQuestion)],
    ) -> Vec<Result<GitAnswer, ReadError>> {
        self.git.ask_each(questions)
    }

    fn database(
        &self,
        path: &Utf8Path,
        question: &DatabaseQuestion,
    ) -> Result<Vec<DatabaseRow>, ReadError> {
        real_database::ask(path, question)
    }

    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError> {
        Ok(process_table::ask(question))
    }
}

/// Opens a regular file and nothing else: reading a pipe or device could block.
pub(crate) fn open(path: &Utf8Path) -> Result<GuardedFile, ReadError> {
    match GuardedFile::open_followed(path) {
        Err(rekindle_fs::Error::NotAFile(_)) => Err(ReadError::NotFound),
        other => other.map_err(refusal)?.ok_or(ReadError::NotFound),
    }
}

fn refusal(error: rekindle_fs::Error) -> ReadError {
    if let rekindle_fs::Error::Io { source, .. } = error {
        source.into()
    } else if let rekindle_fs::Error::TooLarge { len, limit, .. } = error {
        ReadError::TooLarge { len, limit }
    } else {
        ReadError::Failed(error.to_string())
    }
}

fn meta(found: &std::fs::Metadata) -> Meta {
    Meta {
        kind: kind(found.file_type()),
        len: if found.is_file() { found.len() } else { 0 },
    }
}

fn kind(file_type: std::fs::FileType) -> Kind {
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Folder
    } else if file_type.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}
