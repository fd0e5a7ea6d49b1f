//! What runs left behind: worktrees of failed tasks, and folders that were put aside.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::{Lock, Occupancy};
use rekindle_git::{Program, Removal, Repo};

use crate::state_folder::{decoded, workflow_of};
use crate::{Error, StateFolder};

/// A worktree that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Where it is.
    pub path: Utf8PathBuf,
    /// The workflow's part of the path.
    pub workflow: String,
    /// The task's part of the path.
    pub task: String,
    /// Whether a rekindle is at work on the workflow.
    pub in_use: bool,
}

/// Lists the worktrees that runs of a project left, sorted by path.
pub fn leftovers(
    project: &Utf8Path,
    search_path: &std::ffi::OsStr,
) -> Result<Vec<Leftover>, Error> {
    let folder = StateFolder::of(project);
    let repo = Repo::at(&Program::find(search_path)?, project);
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

/// Removes a worktree after everything in it is saved under `refs/rekindle/rescue/`. Returns where.
pub fn remove(
    project: &Utf8Path,
    search_path: &std::ffi::OsStr,
    leftover: &Leftover,
) -> Result<Option<String>, Error> {
    let program = Program::find(search_path)?;
    let here = Repo::at(&program, leftover.path.clone());
    // The names that the worker gave, so that all rescues of a task stand together.
    let workflow = workflow_of(&leftover.workflow);
    let task = decoded(&leftover.task).unwrap_or_else(|| leftover.task.clone());
    let rescue = here.rescue(&workflow, &task)?;
    Repo::at(&program, project).remove_worktree(&leftover.path, Removal::WithChanges)?;
    Ok(rescue.map(|rescue| rescue.name))
}
