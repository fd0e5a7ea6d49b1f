//! Leftovers of runs: worktrees of failed tasks, and folders that were moved aside.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::{Lock, Occupancy};
use rekindle_git::{OwnWorktree, Program, Removal, Repo};
use rekindle_model::WorkflowId;

use crate::pool::Slot;
use crate::ports::OF_CHECKS;
use crate::state_folder::{decoded, encoded};
use crate::worker::{own_files, paths};
use crate::{Error, StateFolder, Teardown};

/// A leftover worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its path.
    pub path: Utf8PathBuf,
    /// The part of the path that names the workflow.
    pub workflow: String,
    /// The part of the path that names the task.
    pub task: String,
    /// Whether a rekindle holds the workflow, or an attempt the worktree.
    pub in_use: bool,
    /// Whether it is a worktree of the pool with nothing in it to save.
    pub is_free: bool,
    /// Whether it was made and prepared here, and not by a protocol.
    pub is_ours: bool,
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
            is_free: false,
            is_ours: false,
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
        if workflow == crate::pool::FOLDER
            && let Some(slot) = folder.pool().slot_at(&task)
        {
            found.push(pooled(folder, &slot, path)?);
            continue;
        }
        let lock = folder.lock_of(&workflow);
        let in_use = !matches!(Lock::probe(&lock)?, Occupancy::Free);
        found.push(Leftover {
            path,
            workflow,
            task,
            in_use,
            is_free: false,
            is_ours: true,
        });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Describes a worktree of the pool by the task whose files it holds.
fn pooled(folder: &StateFolder, slot: &Slot, path: Utf8PathBuf) -> Result<Leftover, Error> {
    let is_held = !matches!(Lock::probe(&slot.lock_path())?, Occupancy::Free);
    let Some(record) = slot.record() else {
        return Ok(Leftover {
            workflow: crate::pool::FOLDER.to_owned(),
            task: path.file_name().unwrap_or_default().to_owned(),
            path,
            in_use: is_held,
            is_free: false,
            is_ours: true,
        });
    };
    let holder = folder.holder_of(&record.protocol, &record.workflow)?;
    let place = folder.place(&record.protocol, &record.workflow, &record.task);
    let name = |path: Option<&Utf8Path>| path.and_then(Utf8Path::file_name).map(str::to_owned);
    Ok(Leftover {
        path,
        workflow: name(place.parent()).unwrap_or(record.workflow),
        task: name(Some(&place)).unwrap_or(record.task),
        in_use: is_held || !(record.is_free || matches!(holder, Occupancy::Free)),
        is_free: record.is_free,
        is_ours: true,
    })
}

/// Lists files of a worktree that would be lost with it, since git ignores them, without the run's own
/// folders. Each name is one line, and that of a folder ends with `/`.
pub fn ignored_in(
    project: &Utf8Path,
    search_path: &std::ffi::OsStr,
    leftover: &Leftover,
    own_folders: &[&str],
) -> Result<Vec<String>, Error> {
    // What is left in a free worktree of the pool are copies and caches.
    if leftover.is_free || is_gone(&leftover.path) {
        return Ok(Vec::new());
    }
    let program = Program::find(search_path)?;
    let main = Repo::at(&program, project);
    let here = OwnWorktree::open(&program, &main.common_dir()?, &leftover.path)?;
    let mut own = paths(&own_files(&main.prefix()?, own_folders));
    // The project has them.
    own.extend(here.brought()?);
    let ignored = here.repo().ignored()?.into_iter();
    Ok(ignored
        .filter(|path| !own.iter().any(|own| path.is_within(own)))
        .map(|path| path.to_string())
        .collect())
}

/// Removes a worktree after everything that git does not ignore is saved under
/// `refs/rekindle/rescue/`, and after its teardown. Returns the ref.
pub fn remove(
    folder: &StateFolder,
    search_path: &std::ffi::OsStr,
    leftover: &Leftover,
    teardown: Teardown<'_>,
    now: Timestamp,
) -> Result<Option<String>, Error> {
    let program = Program::find(search_path)?.for_work();
    let main = Repo::at(&program, folder.project());
    let name = leftover.path.file_name().unwrap_or_default();
    let slot = folder.pool().slot_at(name);
    let slot = slot.filter(|slot| slot.worktree() == leftover.path);
    // Nobody may begin to work in it meanwhile.
    let _lock = match &slot {
        Some(slot) => Some(slot.hold("clean", rekindle_text::format_seconds(now))?),
        None => None,
    };
    let number = slot
        .as_ref()
        .map_or(0, |slot| slot.number().unwrap_or(OF_CHECKS));
    let saved = remove_saved(folder, &main, leftover, (teardown, number))?;
    if let Some(slot) = slot {
        slot.forget()?;
    }
    Ok(saved)
}

fn remove_saved(
    folder: &StateFolder,
    main: &Repo,
    leftover: &Leftover,
    (teardown, number): (Teardown<'_>, u32),
) -> Result<Option<String>, Error> {
    // The worker's own names, so that all rescues of a task are in one place.
    let workflow = folder.workflow_of(&leftover.workflow);
    let task = decoded(&leftover.task).unwrap_or_else(|| leftover.task.clone());
    if is_gone(&leftover.path) {
        main.forget_worktree(&leftover.path)?;
        return Ok(None);
    }
    let own = OwnWorktree::open(main.program(), &main.common_dir()?, &leftover.path)?;
    let rescue = if leftover.is_free {
        None
    } else {
        own.repo().rescue(&workflow, &task)?
    };
    if leftover.is_ours {
        teardown.run(folder.project(), &own, &main.prefix()?, number)?;
    }
    main.remove_worktree(&own, Removal::WithChanges)?;
    Ok(rescue.map(|rescue| rescue.name))
}

/// Removes worktrees of the pool that nobody has used for `oldest`, and of the free ones those
/// beyond `most`. One that cannot be removed now is removed another time.
pub fn trim_pool(
    folder: &StateFolder,
    search_path: &std::ffi::OsStr,
    (most, oldest): (usize, Duration),
    teardown: Teardown<'_>,
    now: Timestamp,
) -> Result<(), Error> {
    let pool = folder.pool();
    let mut free = 0;
    for slot in pool.slots().into_iter().chain([pool.integration()]) {
        let Some(record) = slot.record().filter(|record| record.is_free) else {
            continue;
        };
        free += usize::from(slot.number().is_some());
        if free <= most && slot.is_younger(now, oldest) {
            continue;
        }
        let path = slot.worktree();
        let leftover = Leftover {
            path,
            workflow: record.workflow,
            task: record.task,
            in_use: false,
            is_free: true,
            is_ours: true,
        };
        remove(folder, search_path, &leftover, teardown, now).ok();
    }
    Ok(())
}

/// Returns whether git still knows a worktree whose folder is missing.
fn is_gone(worktree: &Utf8Path) -> bool {
    matches!(worktree.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}
