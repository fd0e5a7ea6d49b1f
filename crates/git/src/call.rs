//! One run of git: its arguments, its scrubbed environment, and what its end means.

use std::ffi::{OsStr, OsString};
use std::process::Command;
use std::time::Duration;

use camino::Utf8Path;

use crate::error::Error;
use crate::id::ObjectId;
use crate::process::{Failure, Finished};
use crate::program::Program;
use crate::repo::Repo;

/// Variables that point git at another repository, index or object store, or change what our
/// arguments mean. Hooks and aliases run with many of them set.
///
/// Kept on purpose: `GIT_CEILING_DIRECTORIES` and `GIT_DISCOVERY_ACROSS_FILESYSTEM` can only stop
/// the search for a repository, not redirect it; `GIT_CONFIG_GLOBAL`, `GIT_CONFIG_SYSTEM` and
/// `GIT_CONFIG_COUNT` are how containers and tests give the user's settings (`safe.directory`);
/// `GIT_AUTHOR_*` and `GIT_COMMITTER_*` are the user's identity.
pub const SCRUBBED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_CONFIG",
    // What `git -c …` hands to the alias or hook we may be running in.
    "GIT_CONFIG_PARAMETERS",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_ATTR_SOURCE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    // Only `LC_MESSAGES` is ours to set, and these two would win over it.
    "LC_ALL",
    "LANGUAGE",
];

/// The place before each run of git that writes, by its subcommand; `git-scratch`, `git-make-folder`
/// and `git-break-lock` are before what is made and removed here without git.
///
/// A test looks that every one of them is passed somewhere, and that none is passed that is not here.
pub const PLACES: &[&str] = &[
    "git-add",
    "git-break-lock",
    "git-checkout-index",
    "git-clean",
    "git-commit-tree",
    "git-make-folder",
    "git-merge-tree",
    "git-mktree",
    "git-read-tree",
    "git-reset",
    "git-scratch",
    "git-update-index",
    "git-update-ref",
    "git-worktree-add",
    "git-worktree-prune",
    "git-worktree-remove",
    "git-worktree-repair",
    "git-worktree-unlock",
    "git-write-tree",
];

const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "core.quotepath=false",
    // Reads have no hooks, except that an index refresh would run `post-index-change`.
    "core.hooksPath=/dev/null",
];

/// git does not flush loose objects to the disk by default, only the refs to them. After a power cut
/// a rescue would be a name without content, and the reset that followed it would stand.
/// `batch` flushes once for all files of a `git add`.
const DURABLE: [&str; 2] = [
    "core.fsync=committed,loose-object",
    "core.fsyncMethod=batch",
];

/// How much of standard error an error keeps: the end, since git says last why it gave up.
const STDERR_KEPT: usize = 8 * 1024;

/// Whether git may take locks to save itself work later.
#[derive(Clone, Copy, Debug)]
enum Locks {
    /// A refresh of the user's index by a mere question would be a write.
    None,
    AsNeeded,
}

/// One run of git that is being put together.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    program: &'a Program,
    dir: &'a Utf8Path,
    locks: Locks,
    settings: Vec<OsString>,
    args: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    input: Option<Vec<u8>>,
}

impl<'a> Call<'a> {
    pub(crate) fn read(program: &'a Program, dir: &'a Utf8Path) -> Self {
        Self {
            program,
            dir,
            locks: Locks::None,
            settings: Vec::new(),
            args: Vec::new(),
            variables: Vec::new(),
            input: None,
        }
    }

    pub(crate) fn write(program: &'a Program, dir: &'a Utf8Path) -> Self {
        Self {
            locks: Locks::AsNeeded,
            settings: DURABLE.map(OsString::from).to_vec(),
            ..Self::read(program, dir)
        }
    }

    pub(crate) fn args<T: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds a `-c name=value`; later ones win.
    pub(crate) fn setting(mut self, setting: impl Into<OsString>) -> Self {
        self.settings.push(setting.into());
        self
    }

    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub(crate) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// Returns standard output; every status but 0 is an error.
    pub(crate) fn output(self) -> Result<Vec<u8>, Error> {
        let finished = self.finish()?;
        if finished.status.success() {
            Ok(finished.stdout)
        } else {
            Err(self.failed(&finished))
        }
    }

    /// Returns standard output, or `None` for status 1, by which git says "no".
    pub(crate) fn answer(self) -> Result<Option<Vec<u8>>, Error> {
        let finished = self.finish()?;
        match finished.status.code() {
            Some(0) => Ok(Some(finished.stdout)),
            Some(1) => Ok(None),
            _ => Err(self.failed(&finished)),
        }
    }

    /// Returns standard output and whether the status was 0; by status 1 git says that it found something.
    pub(crate) fn found(self) -> Result<(bool, Vec<u8>), Error> {
        let finished = self.finish()?;
        match finished.status.code() {
            Some(0) => Ok((true, finished.stdout)),
            Some(1) => Ok((false, finished.stdout)),
            _ => Err(self.failed(&finished)),
        }
    }

    /// Returns the one line that is printed, without its end.
    pub(crate) fn line(self) -> Result<Vec<u8>, Error> {
        self.output().map(without_newline)
    }

    /// Returns the one object id that is printed.
    pub(crate) fn object_id(self) -> Result<ObjectId, Error> {
        let (args, dir) = (self.shown_args(), self.dir.to_owned());
        let line = self.line()?;
        ObjectId::from_output(&line).ok_or_else(|| Error::Unexpected {
            args,
            dir,
            what: format!("`{}` is no object id", String::from_utf8_lossy(&line)),
        })
    }

    /// Returns standard output as `parse` reads it; `parse` says what is wrong with it otherwise.
    pub(crate) fn parsed<T>(
        self,
        parse: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<T, Error> {
        let (args, dir) = (self.shown_args(), self.dir.to_owned());
        let output = self.output()?;
        parse(&output).map_err(|what| Error::Unexpected { args, dir, what })
    }

    fn finish(&self) -> Result<Finished, Error> {
        let mut finished = self.once()?;
        if let Locks::AsNeeded = self.locks {
            let here = Repo::at(self.program, self.dir);
            // It names one lock at a time.
            while !finished.status.success() && here.remove_abandoned(&finished.stderr) {
                finished = self.once()?;
            }
        }
        Ok(finished)
    }

    fn once(&self) -> Result<Finished, Error> {
        if let Locks::AsNeeded = self.locks
            && let Err(error) = rekindle_fault::growth(&self.place())
        {
            // As git says that the disk is full.
            return Ok(Finished::failed(&format!("fatal: cannot write: {error}\n")));
        }
        let mut command = self.command();
        self.program
            .run(&mut command, self.input.as_deref())
            .map_err(|failure| match failure {
                Failure::TimedOut => Error::TimedOut {
                    args: self.shown_args(),
                    dir: self.dir.to_owned(),
                    limit: self.limit(),
                },
                Failure::Io(source) => Error::Run {
                    path: self.program.path().to_path_buf(),
                    source,
                },
            })
    }

    fn command(&self) -> Command {
        let mut command = self.program.command();
        for name in SCRUBBED {
            command.env_remove(name);
        }
        command
            .env("LC_MESSAGES", "C")
            .env("GIT_TERMINAL_PROMPT", "0");
        if let Locks::None = self.locks {
            command.env("GIT_OPTIONAL_LOCKS", "0");
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.arg("-C").arg(self.dir.as_os_str());
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        for setting in &self.settings {
            command.arg("-c").arg(setting);
        }
        command.args(&self.args);
        command
    }

    fn failed(&self, finished: &Finished) -> Error {
        let dir = self.dir.to_owned();
        if !dir.is_dir() {
            return Error::NoSuchFolder { dir };
        }
        let tail = finished.stderr.len().saturating_sub(STDERR_KEPT);
        let stderr = String::from_utf8_lossy(&finished.stderr[tail..]).into_owned();
        // git has no exit status of its own for this. The text is the same since 1.5, and the
        // message language is pinned.
        if stderr
            .lines()
            .any(|line| line.starts_with("fatal: not a git repository"))
        {
            return Error::NotARepository { dir };
        }
        if let Some((_, told)) = stderr.split_once("detected dubious ownership in repository") {
            // The folder that was asked about may lie below the one that has to be trusted.
            let line = told.lines().next().unwrap_or_default();
            let named = line
                .strip_prefix(" at '")
                .and_then(|at| at.strip_suffix('\''));
            let dir = named.map_or(dir, Into::into);
            return Error::OfAnotherUser { dir };
        }
        Error::Failed {
            args: self.shown_args(),
            dir,
            status: finished.status,
            stderr,
        }
    }

    /// Returns the name of the place that is passed before git writes; [`PLACES`] has all of them.
    fn place(&self) -> String {
        let mut words = self.args.iter().map(|arg| arg.to_string_lossy());
        let verb = words.next().unwrap_or_default();
        match (verb.as_ref(), words.next()) {
            ("worktree", Some(what)) => format!("git-worktree-{what}"),
            _ => format!("git-{verb}"),
        }
    }

    fn shown_args(&self) -> Vec<String> {
        self.args
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect()
    }

    fn limit(&self) -> Duration {
        self.program.limit()
    }
}

/// Takes away the one newline that ends a line; the name in it may end with more of them.
fn without_newline(mut line: Vec<u8>) -> Vec<u8> {
    line.pop_if(|byte| *byte == b'\n');
    line
}
