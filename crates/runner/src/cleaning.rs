//! Leftovers of runs: worktrees of failed tasks, and folders that were moved aside.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::{Lock, Occupancy};
use rekindle_git::{OwnWorktree, Program, Removal, Repo};
use rekindle_model::WorkflowId;

use crate::state_folder::{decoded, encoded};
use crate::worker::{own_files, paths};
use crate::{Error, StateFolder};

/// A leftover worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its path.
    pub path: Utf8PathBuf,
    /// The part of the path that names the workflow.
    pub workflow: String,
    /// The part of the path that names the task.
    pub task: String,
    /// Whether a rekindle holds the workflow.
    pub in_use: bool,
}

impl Leftover {
    /// Returns a worktree that a workflow left in a folder of its own.
    pub fn of(
        state: &StateFolder,
        id: &WorkflowId,
        task: &str,
        path: &Utf8Path,
    ) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            workflow: state.file_stem(id),
            task: encoded(task),
            in_use: !matches!(state.holder(id)?, Occupancy::Free),
        })
    }
}

/// Lists the leftover worktrees of a project, sorted by path.
pub fn leftovers(
    folder: &StateFolder,
    search_path: &std::ffi::OsStr,
) -> Result<Vec<Leftover>, Error> {
    let repo = Repo::at(&Program::find(search_path)?, folder.project());
    let root = folder.worktree_root();
    let mut found = Vec::new();
    for worktree in repo.worktrees()? {
        let Some(path) = Utf8PathBuf::from_path_buf(worktree.path).ok() else {
            continue;
        };
        let Ok(inside) = path.strip_prefix(&root) else {
            continue;
        };
        let mut parts = inside.components().map(|part| part.as_str().to_owned());
        let (Some(workflow), Some(task)) = (parts.next(), parts.next()) else {
            continue;
        };
        let lock = folder.lock_of(&workflow);
        let in_use = !matches!(Lock::probe(&lock)?, Occupancy::Free);
        found.push(Leftover {
            path,
            workflow,
            task,
            in_use,
        });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Lists files of a worktree that would be lost with it, since git ignores them, without the run's own
/// folders. Each name is one line, and that of a folder ends with `/`.
pub fn ignored_in(
    project: &Utf8Path,
    search_path: &std::ffi::OsStr,
    leftover: &Leftover,
    own_folders: &[&str],
) -> Result<Vec<String>, Error> {
    if is_gone(&leftover.path) {
        return Ok(Vec::new());
    }
    let program = Program::find(search_path)?;
    let main = Repo::at(&program, project);
    let here = OwnWorktree::open(&program, &main.common_dir()?, &leftover.path)?;
    let own = paths(&own_files(&main.prefix()?, own_folders));
    let ignored = here.repo().ignored()?.into_iter();
    Ok(ignored
        .filter(|path| !own.iter().any(|own| path.is_within(own)))
        .map(|path| path.to_string())
        .collect())
}

/// Removes a worktree after everything that git does not ignore is saved under
/// `refs/rekindle/rescue/`. Returns the ref.
pub fn remove(
    folder: &StateFolder,
    search_path: &std::ffi::OsStr,
    leftover: &Leftover,
) -> Result<Option<String>, Error> {
    let program = Program::find(search_path)?.for_work();
    let main = Repo::at(&program, folder.project());
    // The worker's own names, so that all rescues of a task are in one place.
    let workflow = folder.workflow_of(&leftover.workflow);
    let task = decoded(&leftover.task).unwrap_or_else(|| leftover.task.clone());
    if is_gone(&leftover.path) {
        main.forget_worktree(&leftover.path)?;
        return Ok(None);
    }
    let own = OwnWorktree::open(&program, &main.common_dir()?, &leftover.path)?;
    let rescue = own.repo().rescue(&workflow, &task)?;
    main.remove_worktree(&own, Removal::WithChanges)?;
    Ok(rescue.map(|rescue| rescue.name))
}

/// Returns whether git still knows a worktree whose folder is missing.
fn is_gone(worktree: &Utf8Path) -> bool {
    matches!(worktree.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}
