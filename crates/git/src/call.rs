//! One run of git: arguments, environment, and the meaning of its exit.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::process::Command;

use camino::Utf8Path;

use crate::environment::{
    self, DURABLE, FORM, OFF_VALUES, Off, Purpose, SCRUBBED, SETTINGS, Sections, VARIABLES,
    VARIABLES_TO_LOOK, VARIABLES_TO_READ,
};
use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::process::{Failure, Finished};
use crate::program::Program;
use crate::repo::Repo;

/// The crash point before each run of git that writes, by its subcommand, and those before what
/// this crate changes without git.
///
/// A test checks that each one is passed and that no other is.
pub const PLACES: &[&str] = &[
    "git-add",
    "git-break-lock",
    "git-checkout-index",
    "git-clean",
    "git-commit-tree",
    "git-hash-object",
    "git-keep-index",
    "git-make-folder",
    "git-merge-tree",
    "git-mktree",
    "git-read-tree",
    "git-register",
    "git-rejoin",
    "git-remove-added",
    "git-reset",
    "git-scratch",
    "git-tidy",
    "git-update-index",
    "git-update-ref",
    "git-worktree-add",
    "git-worktree-remove",
    "git-worktree-unlock",
    "git-write-tree",
];

/// How much of standard error an error keeps: the end, where git says why it failed.
const STDERR_KEPT: usize = 8 * 1024;

/// Whether git may take locks to save itself work later.
#[derive(Clone, Copy, Debug)]
enum Locks {
    /// A refresh of the user's index by a question would be a write.
    None,
    AsNeeded,
}

/// Why an output of git cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// These files have unresolved conflicts.
    Unmerged(Vec<RepoPath>),
    /// It does not match git's manual.
    Malformed(String),
}

impl From<String> for Unreadable {
    fn from(what: String) -> Self {
        Self::Malformed(what)
    }
}

/// A run of git under construction.
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

    /// Runs git for its effect; every status but 0 is an error.
    pub(crate) fn done(self) -> Result<(), Error> {
        self.output().map(drop)
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
        let (is_yes, output) = self.found()?;
        Ok(is_yes.then_some(output))
    }

    /// Returns whether the status was 0 rather than 1, and standard output.
    pub(crate) fn found(self) -> Result<(bool, Vec<u8>), Error> {
        let finished = self.finish()?;
        match finished.status.code() {
            Some(code @ (0 | 1)) => Ok((code == 0, finished.stdout)),
            _ => Err(self.failed(&finished)),
        }
    }

    /// Returns the one line that is printed, without its end.
    pub(crate) fn line(self) -> Result<Vec<u8>, Error> {
        let mut line = self.output()?;
        // Only one: a name may end with more of them.
        line.pop_if(|byte| *byte == b'\n');
        Ok(line)
    }

    /// Returns the one object id that is printed.
    pub(crate) fn object_id(self) -> Result<ObjectId, Error> {
        let (args, dir) = (self.shown_args(), self.dir.to_owned());
        let line = self.line()?;
        ObjectId::from_output(&line).ok_or_else(|| Error::Unexpected {
            args,
            dir,
            what: format!("`{}` is not an object id", String::from_utf8_lossy(&line)),
        })
    }

    /// Returns standard output as `parse` reads it.
    pub(crate) fn parsed<T, E: Into<Unreadable>>(
        self,
        parse: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Result<T, Error> {
        let (args, dir) = (self.shown_args(), self.dir.to_owned());
        let output = self.output()?;
        parse(&output).map_err(|unreadable| match unreadable.into() {
            Unreadable::Unmerged(paths) => Error::Conflicted { dir, paths },
            Unreadable::Malformed(what) => Error::Unexpected { args, dir, what },
        })
    }

    fn finish(&self) -> Result<Finished, Error> {
        let off = match self.switched_off()? {
            Ok(off) => off,
            Err(finished) => return Ok(finished),
        };
        let here = Repo::at(self.program, self.dir);
        let mut finished = self.once(&off)?;
        let may_write = self.program.purpose() == Purpose::Work;
        // It names one worktree at a time.
        while !finished.status.success() && here.await_registration(&finished.stderr, may_write) {
            finished = self.once(&off)?;
        }
        if let Locks::AsNeeded = self.locks {
            // It names one lock at a time.
            while !finished.status.success() && here.remove_abandoned(&finished.stderr) {
                finished = self.once(&off)?;
            }
        }
        Ok(finished)
    }

    /// Returns the settings that switch off configured programs, or the failed git that could not
    /// read the configuration.
    fn switched_off(&self) -> Result<Result<Vec<Off>, Finished>, Error> {
        let writes = matches!(self.locks, Locks::AsNeeded);
        let purpose = self.program.purpose();
        let sections = Sections::of(&self.args, purpose, writes, self.program.version());
        let Some(pattern) = sections.pattern() else {
            return Ok(Ok(Vec::new()));
        };
        // During work, the configuration of a folder is read once.
        if purpose == Purpose::Work
            && let Some(known) = self.program.known_off(self.dir)
        {
            return Ok(Ok(known));
        }
        let ask = ["config", "--null", "--name-only", "--get-regexp", pattern];
        let mut command = self.command(&[], Locks::None, &ask.map(OsString::from));
        let finished = self.run(&mut command, None)?;
        let off = match finished.status.code() {
            Some(0) => environment::switched_off(&finished.stdout),
            // Nothing is configured.
            Some(1) => BTreeSet::new(),
            _ => return Ok(Err(finished)),
        };
        let off: Vec<Off> = off.into_iter().collect();
        if purpose == Purpose::Work {
            self.program.know_off(self.dir, &off);
        }
        Ok(Ok(off))
    }

    fn once(&self, off: &[Off]) -> Result<Finished, Error> {
        if let Locks::AsNeeded = self.locks
            && let Err(error) = rekindle_fault::growth(&self.place())
        {
            // As git reports a full disk.
            return Ok(Finished::failed(&format!("fatal: cannot write: {error}\n")));
        }
        let mut command = self.command(off, self.locks, &self.args);
        self.run(&mut command, self.input.as_deref())
    }

    fn run(&self, command: &mut Command, input: Option<&[u8]>) -> Result<Finished, Error> {
        self.program
            .run(command, input)
            .map_err(|failure| match failure {
                Failure::TimedOut => Error::TimedOut {
                    args: self.shown_args(),
                    dir: self.dir.to_owned(),
                    limit: self.program.limit(),
                },
                Failure::Io(source) => Error::Run {
                    path: self.program.path().to_path_buf(),
                    source,
                },
            })
    }

    fn command(&self, off: &[Off], locks: Locks, args: &[OsString]) -> Command {
        let mut command = self.program.command();
        for name in SCRUBBED {
            command.env_remove(name);
        }
        command.envs(VARIABLES.iter().copied());
        if self.program.purpose() == Purpose::Look {
            command.envs(VARIABLES_TO_LOOK.iter().copied());
        }
        if let Locks::None = locks {
            command.envs(VARIABLES_TO_READ.iter().copied());
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.arg("-C").arg(self.dir.as_os_str());
        let ours = FORM.iter().map(OsStr::new);
        let of_the_call = self.settings.iter().map(OsString::as_os_str);
        // Last, since later ones win and a call may include the repository's own file.
        let fixed = SETTINGS.iter().map(OsStr::new);
        for setting in ours.chain(of_the_call).chain(fixed) {
            command.arg("-c").arg(setting);
        }
        if !off.is_empty() {
            command.envs(OFF_VALUES);
            command.args(off.iter().map(Off::argument));
        }
        command.args(args);
        command
    }

    fn failed(&self, finished: &Finished) -> Error {
        let dir = self.dir.to_owned();
        if !dir.is_dir() {
            return Error::NoSuchFolder(dir);
        }
        let tail = finished.stderr.len().saturating_sub(STDERR_KEPT);
        let stderr = String::from_utf8_lossy(&finished.stderr[tail..]).into_owned();
        // git has no exit status for this. The text is the same since 1.5, and the language is
        // pinned.
        if stderr
            .lines()
            .any(|line| line.starts_with("fatal: not a git repository"))
        {
            return Error::NotARepository(dir);
        }
        if stderr.contains("cannot use bare repository") {
            return Error::Bare(dir);
        }
        let args = self.shown_args();
        if stderr.contains("lazy fetching disabled") || stderr.contains("promisor remote") {
            return Error::NotFetched { args, dir };
        }
        let paths = unmerged(&stderr);
        if !paths.is_empty() {
            return Error::Conflicted { dir, paths };
        }
        if let Some((_, rest)) = stderr.split_once("detected dubious ownership in repository") {
            // The folder to trust may be above the one we asked about.
            let line = rest.lines().next().unwrap_or_default();
            let named = line
                .strip_prefix(" at '")
                .and_then(|at| at.strip_suffix('\''));
            let dir = named.map_or(dir, Into::into);
            return Error::OfAnotherUser(dir);
        }
        Error::Failed {
            args,
            dir,
            status: finished.status,
            stderr,
        }
    }

    /// Returns the crash point before git writes, one of [`PLACES`].
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
}

/// Returns the files in lines like `<path>: unmerged (<id>)`, each once.
fn unmerged(stderr: &str) -> Vec<RepoPath> {
    let named = stderr
        .lines()
        .filter_map(|line| line.rsplit_once(": unmerged ("));
    let mut paths: Vec<RepoPath> = named.map(|(path, _)| path.into()).collect();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_cannot_be_written_names_the_conflicts_once() {
        let stderr = "a b: unmerged (7898)\na b: unmerged (f2ad)\nc: unmerged (6178)\nfatal: git-write-tree: error building trees\n";
        assert_eq!(unmerged(stderr), ["a b".into(), "c".into()]);
        assert!(unmerged("fatal: index file corrupt\n").is_empty());
    }
}
