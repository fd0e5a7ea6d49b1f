//! The world as the operating system shows it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::real_database;
use crate::real_git::RealGit;
use crate::{
    DatabaseQuestion, DatabaseRow, End, Entry, GitAnswer, GitQuestion, Kind, Meta, Owner,
    Ownership, ReadError, World,
};

/// Where the time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The system's clock.
    System,
    /// A time that stands still, for tests and for playing back.
    Fixed(Timestamp),
}

impl Clock {
    /// Returns the time.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the system's clock"
    )]
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(now) => now,
        }
    }
}

/// Where the user's time zone comes from.
#[derive(Debug, Clone)]
pub enum Zone {
    /// The system's, UTC where it has none. It is looked up when it is asked for, because that goes
    /// through the list of all zones.
    System,
    /// This one.
    Fixed(TimeZone),
}

impl Zone {
    fn get(&self) -> TimeZone {
        match self {
            Self::System => TimeZone::try_system().unwrap_or(TimeZone::UTC),
            Self::Fixed(zone) => zone.clone(),
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

/// Large enough that the cost of a read call disappears, small enough to stay in the cache.
const PIECE: usize = 256 * 1024;

impl RealWorld {
    /// Returns the view of `project`, with the clock read once; git is looked for in `search_path`.
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
        let meta = fs_err::symlink_metadata(path).map_err(|e| failure(&e))?;
        Ok(Meta {
            kind: kind(meta.file_type()),
            len: if meta.is_file() { meta.len() } else { 0 },
        })
    }

    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        let mut entries = Vec::new();
        for entry in fs_err::read_dir(folder).map_err(|e| failure(&e))? {
            let entry = entry.map_err(|e| failure(&e))?;
            // The type comes with the listing on every file system that matters; an entry that
            // vanished meanwhile is not there.
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
        let path = fs_err::canonicalize(path).map_err(|e| failure(&e))?;
        Utf8PathBuf::from_path_buf(path)
            .map_err(|path| ReadError::Failed(format!("`{}` is not UTF-8", path.display())))
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let file = open(path)?;
        let len = file.metadata().map_err(|e| failure(&e))?.len();
        if len > limit {
            return Err(ReadError::TooLarge { len, limit });
        }
        // A file that grows while it is read is cut off one byte over the limit.
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let mut file = file.take(limit.saturating_add(1));
        file.read_to_end(&mut bytes).map_err(|e| failure(&e))?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if len > limit {
            return Err(ReadError::TooLarge { len, limit });
        }
        Ok(bytes)
    }

    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        let mut file = open(path)?;
        // Many logs are small: a small file must not cost the zeroing of a large buffer.
        let len = file.metadata().map_err(|e| failure(&e))?.len();
        let size = usize::try_from(len).map_or(PIECE, |len| len.saturating_add(1).min(PIECE));
        let mut buffer = vec![0; size.max(4096)];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => sink(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failure(&error)),
            }
        }
    }

    fn read_end(&self, path: &Utf8Path, end: End, most: usize) -> Result<Vec<u8>, ReadError> {
        let mut file = open(path)?;
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        if end == End::Tail {
            let len = file.metadata().map_err(|e| failure(&e))?.len();
            file.seek(SeekFrom::Start(len.saturating_sub(most)))
                .map_err(|e| failure(&e))?;
        }
        let mut bytes = Vec::new();
        let mut file = file.take(most);
        file.read_to_end(&mut bytes).map_err(|e| failure(&e))?;
        Ok(bytes)
    }

    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        let meta = fs_err::symlink_metadata(path).map_err(|e| failure(&e))?;
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
}

/// Opens a regular file and nothing else: reading a pipe or a device could wait for ever.
pub(crate) fn open(path: &Utf8Path) -> Result<fs_err::File, ReadError> {
    let meta = fs_err::metadata(path).map_err(|e| failure(&e))?;
    if !meta.is_file() {
        return Err(ReadError::NotFound);
    }
    fs_err::File::open(path).map_err(|e| failure(&e))
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

fn failure(error: &io::Error) -> ReadError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the system's own, open list of error kinds"
    )]
    match error.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::InvalidFilename => ReadError::NotFound,
        io::ErrorKind::PermissionDenied => ReadError::Denied,
        _ => ReadError::Failed(error.to_string()),
    }
}
