//! Removing what runs left behind, after a yes and with everything saved.

use rekindle_runner::Leftover;

use crate::{Error, Face, Project};

/// A worktree that was removed, and where its contents are saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// What was removed.
    pub leftover: Leftover,
    /// The ref that keeps what was in it; `None` when all of it is in history already.
    pub saved_as: Option<String>,
}

/// What cleaning came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaning {
    /// Worktrees that were removed.
    pub removed: Vec<Cleaned>,
    /// Worktrees that stay, because their workflow is being worked on or the person said no.
    pub kept: Vec<Leftover>,
}

/// Removes workflows that were being made when their maker was killed: nobody has ever seen them.
pub(crate) fn sweep_drafts(project: &Project) {
    for home in rekindle_protocols::ALL
        .iter()
        .filter_map(|protocol| protocol.home())
    {
        // A link must not lead the broom out of the project.
        if let Ok(folder) = rekindle_fs::confine(project.folder(), home.into()) {
            rekindle_fs::sweep_drafts(&folder);
        }
    }
}

/// Lists the worktrees that are left and removes them after a yes.
pub fn clean(project: &Project, yes: bool, face: &mut dyn Face) -> Result<Cleaning, Error> {
    sweep_drafts(project);
    let found = rekindle_runner::leftovers(project.folder(), &project.search_path)
        // Outside of a repository the same is said as by whatever else needs one.
        .map_err(|error| {
            if let rekindle_runner::Error::Git(error) = error {
                Error::Git(error)
            } else {
                Error::Run(error)
            }
        })?;
    let (in_use, free): (Vec<_>, Vec<_>) = found.into_iter().partition(|leftover| leftover.in_use);
    if free.is_empty() {
        return Ok(Cleaning {
            removed: Vec::new(),
            kept: in_use,
        });
    }
    let list: Vec<String> = free
        .iter()
        .map(|leftover| format!("  {}", leftover.path))
        .collect();
    let question = format!(
        "These worktrees are removed; what is in them is kept, and `rekindle rescue list` shows it:\n{}",
        list.join("\n")
    );
    if !yes && !face.agree(&question) {
        let kept = in_use.into_iter().chain(free).collect();
        return Ok(Cleaning {
            removed: Vec::new(),
            kept,
        });
    }
    let mut removed = Vec::new();
    for leftover in free {
        let saved_as = rekindle_runner::remove(project.folder(), &project.search_path, &leftover)
            .map_err(Error::Run)?;
        removed.push(Cleaned { leftover, saved_as });
    }
    Ok(Cleaning {
        removed,
        kept: in_use,
    })
}
