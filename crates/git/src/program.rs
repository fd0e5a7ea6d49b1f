//! The git executable: found once, version checked, runs counted.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Access, access};

use crate::call::Call;
use crate::environment::{Off, Purpose};
use crate::error::Error;
use crate::process::{self, Failure, Finished};

/// Enough for a full `git add` in a large repository.
const LIMIT: Duration = Duration::from_secs(120);

/// `git version` reads nothing.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// The git executable. Clones are cheap and count their runs together.
#[derive(Clone, Debug)]
pub struct Program {
    path: Arc<Path>,
    version: Version,
    variables: Vec<(OsString, OsString)>,
    limit: Duration,
    n_started: Arc<AtomicU64>,
    purpose: Purpose,
    off: Arc<Mutex<BTreeMap<Utf8PathBuf, Vec<Off>>>>,
}

impl Program {
    /// Finds the first `git` in the absolute folders of PATH (a repository could bring its own) and
    /// checks its version.
    pub fn find(path_env: &OsStr) -> Result<Self, Error> {
        let path = Self::locate(path_env);
        Self::at(path.ok_or_else(|| Error::Missing(path_env.to_owned()))?)
    }

    /// Returns the path of the first git on PATH without starting it.
    pub fn locate(path_env: &OsStr) -> Option<PathBuf> {
        std::env::split_paths(&absolute_folders(path_env))
            .map(|folder| folder.join("git"))
            .find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
    }

    /// Returns the git at a path whose version another process of ours has just checked.
    pub fn checked(path: PathBuf, version: Version) -> Self {
        Self {
            path: path.into(),
            version,
            variables: Vec::new(),
            limit: LIMIT,
            n_started: Arc::default(),
            purpose: Purpose::Look,
            off: Arc::default(),
        }
    }

    fn at(path: PathBuf) -> Result<Self, Error> {
        let mut program = Self::checked(path, Version::MINIMUM).with_limit(VERSION_LIMIT);
        let answer = Call::read(&program, Utf8Path::new("/"))
            .args(["version"])
            .output()?;
        program.version = Version::parse(&answer).ok_or_else(|| Error::NotGit {
            path: program.path.to_path_buf(),
            answer: String::from_utf8_lossy(&answer).trim().to_owned(),
        })?;
        if program.version < Version::MINIMUM {
            return Err(Error::TooOld {
                path: program.path.to_path_buf(),
                found: program.version,
                needed: Version::MINIMUM,
            });
        }
        Ok(program.with_limit(LIMIT))
    }

    /// Returns the program with another environment variable; those that point git elsewhere are
    /// still removed.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Returns the program with another time limit for each run; the default is two minutes.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the program for work that a person agreed to: filters and merge drivers convert
    /// files, as in the user's own git. Without this, git starts no other program.
    #[must_use]
    pub fn for_work(mut self) -> Self {
        self.purpose = Purpose::Work;
        self
    }

    /// Returns the program as it is before [`Program::for_work`].
    #[must_use]
    pub fn for_looking(&self) -> Self {
        Self {
            purpose: Purpose::Look,
            ..self.clone()
        }
    }

    /// Returns the absolute path of the executable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its version, which is at least [`Version::MINIMUM`].
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns how many processes this program and its clones have started.
    pub fn processes_started(&self) -> u64 {
        self.n_started.load(Ordering::Relaxed)
    }

    pub(crate) fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Returns the cached settings that switch off programs in a folder.
    pub(crate) fn known_off(&self, dir: &Utf8Path) -> Option<Vec<Off>> {
        self.off.lock().ok()?.get(dir).cloned()
    }

    pub(crate) fn know_off(&self, dir: &Utf8Path, off: &[Off]) {
        if let Ok(mut known) = self.off.lock() {
            known.insert(dir.to_owned(), off.to_vec());
        }
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns a command with our variables; the caller must scrub it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&*self.path);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(
        &self,
        command: &mut Command,
        input: Option<&[u8]>,
    ) -> Result<Finished, Failure> {
        self.n_started.fetch_add(1, Ordering::Relaxed);
        process::run(command, input, self.limit)
    }
}

/// Returns a value of PATH without relative folders, in which a repository could bring its own
/// programs.
pub fn absolute_folders(path_env: &OsStr) -> OsString {
    let folders = std::env::split_paths(path_env).filter(|folder| folder.is_absolute());
    match std::env::join_paths(folders) {
        // An empty PATH would mean the current folder.
        Ok(kept) if !kept.is_empty() => kept,
        Ok(_) | Err(_) => "/dev/null".into(),
    }
}

/// A version of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 2 in 2.47.3.
    pub major: u32,
    /// 47 in 2.47.3.
    pub minor: u32,
    /// 3 in 2.47.3.
    pub patch: u32,
}

impl Version {
    /// The oldest supported git: 2.38 has `merge-tree --write-tree` and `cat-file -z`.
    pub const MINIMUM: Self = Self {
        major: 2,
        minor: 38,
        patch: 0,
    };

    /// Reads `git version 2.39.5 (Apple Git-154)` and the like.
    fn parse(answer: &[u8]) -> Option<Self> {
        let text = str::from_utf8(answer)
            .ok()?
            .trim()
            .strip_prefix("git version ")?;
        // The rest varies: `2.45.1.windows.1`, `2.50.0.rc1`, `2.38.GIT`.
        let mut numbers = text.split(['.', ' ', '-']).map(|part| part.parse().ok());
        Some(Self {
            major: numbers.next()??,
            minor: numbers.next()??,
            patch: numbers.next().flatten().unwrap_or(0),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 {
            write!(formatter, ".{}", self.patch)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_folders_of_a_path_are_kept() {
        for (path, kept) in [
            ("/a:/b", "/a:/b"),
            ("bin:/a::.:/b:../c", "/a:/b"),
            (".", "/dev/null"),
            ("", "/dev/null"),
        ] {
            assert_eq!(
                absolute_folders(OsStr::new(path)),
                OsStr::new(kept),
                "{path}"
            );
        }
    }

    #[test]
    fn versions_of_all_vendors_are_read() {
        let read = |text: &str| Version::parse(text.as_bytes()).map(|version| version.to_string());
        assert_eq!(read("git version 2.47.3\n").as_deref(), Some("2.47.3"));
        assert_eq!(
            read("git version 2.39.5 (Apple Git-154)\n").as_deref(),
            Some("2.39.5")
        );
        assert_eq!(
            read("git version 2.45.1.windows.1").as_deref(),
            Some("2.45.1")
        );
        assert_eq!(read("git version 2.38.GIT").as_deref(), Some("2.38"));
        assert_eq!(read("git version two"), None);
        assert_eq!(read("hub version 2.14"), None);
        assert_eq!(read(""), None);
    }
}
