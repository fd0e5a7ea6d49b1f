//! Errors of the runner.

use camino::Utf8Path;
use rekindle_fs::LockError;
use rekindle_git::RepoPath;
use rekindle_text::{excerpt, shell_word};

/// Why a plan could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another rekindle holds the workflow, or its lock cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// An agent that an earlier rekindle started is still running.
    #[error("an agent of an earlier resume is still at work: process {} ({role}{})", listed(pids), of(task.as_ref()))]
    AgentAlive {
        /// Its processes.
        pids: Vec<u32>,
        /// Its role.
        role: String,
        /// Its task.
        task: Option<String>,
    },
    /// A worker is alive whose order was not written for this folder.
    #[error("a worker that was started for another folder or by another version of rekindle is still working on {}{}", excerpt(task, 80), numbered(*pid))]
    ForeignWorker {
        /// The task.
        task: String,
        /// Its process, if known.
        pid: Option<u32>,
    },
    /// git tracks files of `.rekindle/`, so anybody may have written them.
    #[error(
        "git tracks rekindle's own files in this project: {}",
        listed_paths(paths)
    )]
    Tracked {
        /// Some of them, each on one line.
        paths: Vec<String>,
    },
    /// The order of a worker is missing, not written for its project, or in an unknown format.
    #[error("`{path}` is not a valid worker order for this project")]
    NoOrder {
        /// The file.
        path: camino::Utf8PathBuf,
    },
    /// The run's branch is checked out, so moving it would make its files seem changed.
    #[error("the branch `{branch}` is checked out")]
    CheckedOut {
        /// The branch.
        branch: String,
    },
    /// The base commit of a run is not in the repository.
    #[error("the commit {base} that the run started from is no longer in the repository")]
    BaseGone {
        /// The commit.
        base: String,
    },
    /// Somebody else moves the run's branch to a commit that does not descend from ours.
    #[error("the branch `{branch}` was moved by somebody else")]
    BranchMoves {
        /// The branch.
        branch: String,
    },
    /// A file has changed since the plan was made; it was not written.
    #[error("`{path}` changed since it was read")]
    Changed {
        /// The file.
        path: camino::Utf8PathBuf,
    },
    /// An interrupted command left effects in an unknown format.
    #[error(
        "`{path}` records an unfinished command in a format that this version of rekindle does not know"
    )]
    Unfinished {
        /// The file.
        path: camino::Utf8PathBuf,
    },
    /// The steps of an interrupted command cannot be finished, now or ever; its record was moved aside.
    #[error("an interrupted command cannot be finished; its record was moved to `{aside}`")]
    PutAside {
        /// The new path of the record.
        aside: camino::Utf8PathBuf,
        /// Why it cannot be finished.
        source: Box<Self>,
    },
    /// A command failed, and a file that it had written could not be restored.
    #[error("the command was partly applied and could not be undone ({why})")]
    HalfDone {
        /// Why it could not be restored.
        why: Box<Self>,
        /// Why the command failed.
        source: Box<Self>,
    },
    /// A path leads into a repository's own folder, where a line can be a command.
    #[error("`{path}` is one of git's own files; a plan may not change it")]
    GitsOwn {
        /// The path.
        path: camino::Utf8PathBuf,
    },
    /// A folder to move does not exist, or is something else.
    #[error("`{path}` is not a folder that can be moved")]
    NoFolder {
        /// The expected path.
        path: camino::Utf8PathBuf,
    },
    /// Work lands on the checked-out branch, and there is none.
    #[error("no branch is checked out in the project, so there is nothing to land on")]
    NoBranch,
    /// The checked-out branch has no commit.
    #[error("the branch that is checked out has no commit yet, so there is nothing to land on")]
    NoCommit,
    /// The worktree is not the planned one.
    #[error(
        "the worktree `{worktree}` of {} cannot land: {what}",
        excerpt(task, 80)
    )]
    WorktreeMoved {
        /// The task.
        task: String,
        /// The worktree.
        worktree: camino::Utf8PathBuf,
        /// The difference from the plan.
        what: String,
    },
    /// A file where work is to land has neither the worktree's base contents nor its result.
    #[error(
        "{} cannot land: `{path}` in {holder} was changed by something else",
        excerpt(task, 80)
    )]
    InTheWay {
        /// The task.
        task: String,
        /// The path, on one line.
        path: String,
        /// Where it was found.
        holder: &'static str,
    },
    /// A submodule has changed in the worktree.
    #[error(
        "{} cannot land: `{path}` is a submodule; land its commit by hand",
        excerpt(task, 80)
    )]
    Submodule {
        /// The task.
        task: String,
        /// The path, on one line.
        path: String,
    },
    /// A worker was killed and still holds its task.
    #[error(
        "the worker of {} is still running after it was killed",
        excerpt(task, 80)
    )]
    WorkerStays {
        /// The task.
        task: String,
    },
    /// A worker, an agent or a check could not be started, for reasons of the system.
    #[error("an agent, a worker or a check could not be started")]
    Worker {
        /// The system's error.
        source: std::io::Error,
    },
    /// A worker failed before it could do anything; a retry would fail as well.
    #[error("the worker of `{task}` failed: {said}")]
    WorkerFailed {
        /// The task.
        task: String,
        /// Its output, on one line.
        said: String,
    },
    /// A command that has to run before a worktree is removed did not go well; the worktree stays.
    #[error(
        "`{}` of `[worktree] teardown` did not go well: {how}",
        excerpt(command, 200)
    )]
    Teardown {
        /// The command.
        command: String,
        /// How it ended.
        how: String,
    },
    /// The attempts of a task have used the highest number.
    #[error("no attempt number is left: `{folder}` has the highest number already")]
    NoNumber {
        /// The folder of the task's attempts.
        folder: camino::Utf8PathBuf,
    },
    /// The system does not allow waiting for processes and signals.
    #[error("cannot wait for processes and signals")]
    Runtime(#[source] std::io::Error),
    /// git failed.
    #[error(transparent)]
    Git(#[from] rekindle_git::Error),
    /// A file could not be written.
    #[error(transparent)]
    Files(#[from] rekindle_fs::Error),
}

impl Error {
    /// Returns whether the project differs from the plan's evidence, so that nothing was changed and a new
    /// plan is due.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Changed { .. }
                | Self::NoFolder { .. }
                | Self::NoBranch
                | Self::NoCommit
                | Self::WorktreeMoved { .. }
                | Self::InTheWay { .. }
                | Self::Submodule { .. }
        )
    }

    /// Returns whether no resume can continue the run, so that its workers work in vain.
    pub(crate) fn ends_the_run(&self) -> bool {
        matches!(self, Self::BaseGone { .. })
    }

    /// Returns whether trying again later cannot help: the path is wrong, not the moment.
    pub(crate) fn is_lasting(&self) -> bool {
        if let Self::Files(rekindle_fs::Error::Io { source, .. }) = self {
            let is_denied = source.kind() == std::io::ErrorKind::PermissionDenied;
            return !is_denied && !is_of_the_machine(source);
        }
        !matches!(
            self,
            Self::Lock(_) | Self::Files(rekindle_fs::Error::Busy { .. })
        )
    }

    /// Returns whether the machine failed, which says nothing about the files that were to be changed.
    pub(crate) fn is_of_the_machine(&self) -> bool {
        if let Self::Files(rekindle_fs::Error::Io { source, .. }) = self {
            return is_of_the_machine(source);
        }
        matches!(self, Self::Git(error) if error.is_of_the_machine())
    }

    /// Returns a hint, if the error has one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Changed { .. } | Self::NoFolder { .. } | Self::WorktreeMoved { .. } => {
                Some("run the command again".to_owned())
            }
            Self::NoBranch => {
                Some("check out a branch with `git switch`, then run it again".to_owned())
            }
            Self::BaseGone { .. } => Some(
                "fetch it from another clone, or start a new run with `rekindle run PLAN`"
                    .to_owned(),
            ),
            Self::NoCommit => Some("make a first commit, then run it again".to_owned()),
            Self::InTheWay { path, .. } => Some(format!(
                "see `git status` and `git diff HEAD`, save your change of `{path}` elsewhere, then run it again; if git shows no change, line endings, a keyword or a filter hides it: rename the file and restore it with `git checkout`"
            )),
            Self::Submodule { .. } => {
                Some("commit the submodule yourself, then run it again".to_owned())
            }
            Self::WorkerStays { .. } => {
                Some("wait until it has ended, then run it again".to_owned())
            }
            Self::Unfinished { path } => Some(format!(
                "run the newest rekindle once to finish it, or discard it with `mv {path} {path}.aside`"
            )),
            Self::PutAside { .. } => Some(
                "check the files that the record names, then run the command again"
                    .to_owned(),
            ),
            Self::WorkerFailed { .. } => {
                Some("fix that, then run `rekindle resume`: no work is lost".to_owned())
            }
            Self::Teardown { .. } => Some(
                "fix the cause, or take the command out of `[worktree] teardown`, then run `rekindle clean` again"
                    .to_owned(),
            ),
            Self::NoNumber { folder } => Some(format!(
                "if no worker is running, move it away with `mv {folder} {folder}.aside`"
            )),
            Self::HalfDone { why, .. } if why.is_lasting() => {
                Some("check the files of the branch before you continue".to_owned())
            }
            Self::HalfDone { .. } => {
                Some("free disk space, then run the command again to finish it".to_owned())
            }
            Self::Git(
                rekindle_git::Error::Nested { dir, paths }
                | rekindle_git::Error::TooLarge { dir, paths },
            ) => Some(move_out(dir, paths)),
            Self::ForeignWorker { pid, .. } => {
                let kill = pid.map_or_else(String::new, |pid| format!(" with `kill {pid}`"));
                Some(format!(
                    "wait until it has ended, or end it yourself{kill}, then run it again"
                ))
            }
            Self::Tracked { .. } => Some(
                "check the files, then run `git rm -r --cached .rekindle`, commit that, and run it again"
                    .to_owned(),
            ),
            Self::Files(error) => of_key(error),
            Self::Lock(_)
            | Self::AgentAlive { .. }
            | Self::NoOrder { .. }
            | Self::CheckedOut { .. }
            | Self::BranchMoves { .. }
            | Self::GitsOwn { .. }
            | Self::Worker { .. }
            | Self::Runtime(_)
            | Self::Git(_) => None,
        }
    }
}

/// Returns how to get a usable key, if that is missing.
fn of_key(error: &rekindle_fs::Error) -> Option<String> {
    use rekindle_fs::Error as Files;
    if let Files::NoKeyPlace = error {
        return Some(
            "set HOME or XDG_STATE_HOME to a folder of yours, then run it again".to_owned(),
        );
    }
    if let Files::KeyNotMade { .. } = error {
        return Some("make its folder writable, or run the command once outside of the sandbox: rekindle proves with this key which of its records are yours".to_owned());
    }
    let Files::BadKey { path, .. } = error else {
        return None;
    };
    Some(format!(
        "move it away with `mv {path} {path}.bad`: the next command creates a new one; commands interrupted under the old key are not finished"
    ))
}
fn numbered(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(": process {pid}"))
}

fn listed_paths(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    shown.join(", ")
}

/// Returns how to move repositories out of a worktree that is about to be removed.
fn move_out(worktree: &Utf8Path, repositories: &[RepoPath]) -> String {
    let is_plain = |path: &&str| !path.contains(char::is_control);
    let first = repositories.first().and_then(RepoPath::as_str);
    match first.filter(is_plain) {
        Some(first) => format!(
            "move it to a folder of yours, `mv {} DIR`, or delete it, then run `rekindle clean` again",
            shell_word(worktree.join(first).as_str())
        ),
        None => "move them out of the worktree, or delete them, then run `rekindle clean` again"
            .to_owned(),
    }
}

fn is_of_the_machine(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    use std::io::ErrorKind;
    // Too many open files, and errors of the disk itself, have no kind.
    let without_kind = [Errno::MFILE, Errno::NFILE, Errno::IO, Errno::NOBUFS];
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::Interrupted
            | ErrorKind::ResourceBusy
            | ErrorKind::OutOfMemory
            | ErrorKind::TimedOut
            | ErrorKind::Other
    ) || Errno::from_io_error(error).is_some_and(|found| without_kind.contains(&found))
}

fn listed(pids: &[u32]) -> String {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    pids.join(", ")
}

fn of(task: Option<&String>) -> String {
    task.map_or_else(String::new, |task| format!(" on {}", excerpt(task, 80)))
}
