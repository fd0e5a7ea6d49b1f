//! Removes what runs left behind, after the person agrees and everything is saved.

use camino::Utf8Path;
use rekindle_model::{CommandRole, LeftFolder, LeftKind, WorkflowId};
use rekindle_protocol::Ask;
use rekindle_runner::Leftover;

use crate::{Error, Face, News, Project};

/// The most lost names that are listed, and the most characters of each.
const MOST_NAMES: usize = 10;
const LONGEST_NAME: usize = 120;

/// A removed worktree, and where its contents are saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// Its path.
    pub leftover: Leftover,
    /// The ref with its contents; `None` if all of it is in history already.
    pub saved_as: Option<String>,
    /// Files that were not saved, because git ignores them.
    pub ignored: Vec<String>,
}

impl Cleaned {
    /// Describes what was not saved, with some names; `None` if nothing was lost.
    pub fn not_kept(&self) -> Option<String> {
        not_kept(&self.ignored)
    }
}

/// A worktree that could not be removed.
#[derive(Debug)]
pub struct Stuck {
    /// Its path.
    pub leftover: Leftover,
    /// The reason.
    pub error: rekindle_runner::Error,
}

impl Stuck {
    /// Returns a hint.
    pub fn hint(&self) -> String {
        self.error.hint().unwrap_or_else(|| {
            format!(
                "move what you want to keep out of it, delete the rest with `rm -r {}`, then run `rekindle clean` again",
                rekindle_text::shell_word(self.leftover.path.as_str())
            )
        })
    }
}

/// The result of a clean-up.
#[derive(Debug)]
pub struct Cleaning {
    /// Removed worktrees.
    pub removed: Vec<Cleaned>,
    /// Worktrees that stay, because their workflow is in use or the person declined.
    pub kept: Vec<Leftover>,
    /// Worktrees that could not be removed.
    pub stuck: Vec<Stuck>,
    /// Folders that belong to no task and were not named, so they stay.
    pub orphans: Vec<LeftFolder>,
}

/// Removes workflows whose creation was interrupted by a kill: nobody has ever seen them.
pub(crate) fn sweep_drafts(project: &Project) {
    for starter in rekindle_registry::ALL
        .iter()
        .filter_map(|protocol| protocol.starter())
    {
        let home = starter.home();
        // A link must not lead out of the project.
        if let Ok(folder) = rekindle_fs::confine(project.folder(), home.into()) {
            rekindle_fs::sweep_drafts(&folder);
        }
    }
}

/// Lists the leftover worktrees and removes them if the person agrees; one that cannot be removed does not
/// stop the others. With `names` only those are removed; orphans are removed only by name.
pub fn clean(
    project: &Project,
    names: &[String],
    yes: bool,
    face: &mut dyn Face,
) -> Result<Cleaning, Error> {
    sweep_drafts(project);
    let (found, orphans) = found(project, names)?;
    let (in_use, free): (Vec<_>, Vec<_>) = found.into_iter().partition(|leftover| leftover.in_use);
    let mut cleaning = Cleaning {
        removed: Vec::new(),
        kept: in_use,
        stuck: Vec::new(),
        orphans,
    };
    let own_folders = rekindle_registry::own_folders();
    let mut removable = Vec::new();
    for leftover in free {
        let search_path = &project.search_path;
        match rekindle_runner::ignored_in(project.folder(), search_path, &leftover, &own_folders) {
            Ok(ignored) => removable.push((leftover, ignored)),
            // What git cannot read, it cannot save either.
            Err(error) => cleaning.stuck.push(Stuck { leftover, error }),
        }
    }
    if removable.is_empty() {
        return Ok(cleaning);
    }
    let config = crate::configured(project)?.config;
    let has_ours = removable.iter().any(|(leftover, _)| leftover.is_ours);
    let commands = if has_ours {
        crate::agent::outfit(&config, &[CommandRole::Teardown])
    } else {
        Vec::new()
    };
    // What a file of the project wants to run is shown before anything is asked.
    if !commands.is_empty() {
        face.tell(&News::Commands(&commands));
    }
    let teardown = crate::engine::teardown(&config.worktree);
    if !yes && !face.agree(&question(&removable)).given()? {
        let free = removable.into_iter().map(|(leftover, _)| leftover);
        cleaning.kept.extend(free);
        return Ok(cleaning);
    }
    for (leftover, ignored) in removable {
        match rekindle_runner::remove(
            &project.state(),
            &project.search_path,
            &leftover,
            teardown,
            project.now(),
        ) {
            Ok(saved_as) => cleaning.removed.push(Cleaned {
                leftover,
                saved_as,
                ignored,
            }),
            Err(error) => cleaning.stuck.push(Stuck { leftover, error }),
        }
    }
    Ok(cleaning)
}

/// Returns what can be removed, and the orphans that were not named.
fn found(project: &Project, names: &[String]) -> Result<(Vec<Leftover>, Vec<LeftFolder>), Error> {
    let mut found = rekindle_runner::leftovers(&project.state(), &project.search_path)
        // Outside of a repository, this error is the same as for other commands that need one.
        .map_err(|error| {
            if let rekindle_runner::Error::Git(error) = error {
                Error::Git(error)
            } else {
                Error::Run(error)
            }
        })?;
    let mut orphans = Vec::new();
    for (id, left) in left_by_protocols(project) {
        let is_orphan = matches!(left.kind, LeftKind::Orphaned { .. });
        if is_orphan && !names.iter().any(|name| is_named(&left.path, name)) {
            orphans.push(left);
            continue;
        }
        let task = left.task.as_deref().or(left.path.file_name());
        let task = task.unwrap_or_default();
        let leftover = Leftover::of(&project.state(), &id, task, &left.path);
        found.push(leftover.map_err(Error::Run)?);
    }
    if names.is_empty() {
        return Ok((found, orphans));
    }
    let is_there = |name: &String| found.iter().any(|one| is_named(&one.path, name));
    if let Some(name) = names.iter().find(|name| !is_there(name)) {
        let name = name.clone();
        return Err(Error::UnknownLeftover { name });
    }
    found.retain(|one| names.iter().any(|name| is_named(&one.path, name)));
    Ok((found, Vec::new()))
}

/// Returns whether a name given by the person refers to this folder: its path, or its last part.
fn is_named(path: &Utf8Path, name: &str) -> bool {
    path == Utf8Path::new(name.trim_end_matches('/')) || path.file_name() == Some(name)
}

/// Returns what workflows left in their own folders.
fn left_by_protocols(project: &Project) -> Vec<(WorkflowId, LeftFolder)> {
    let world = project.world();
    let here = rekindle_registry::ALL
        .iter()
        .filter(|protocol| protocol.is_here(&world));
    let mut left = Vec::new();
    for protocol in here {
        let case = protocol.inspect(&world, &Ask::default());
        let Some(id) = case.assessment().id.clone() else {
            continue;
        };
        left.extend(
            case.belongings()
                .left_folders
                .into_iter()
                .map(|folder| (id.clone(), folder)),
        );
    }
    left
}

/// Returns the question, with what would be lost.
fn question(removable: &[(Leftover, Vec<String>)]) -> String {
    let loses = removable.iter().any(|(_, ignored)| !ignored.is_empty());
    let kept = if loses {
        "a backup of each is made first, without files that git ignores"
    } else {
        "a backup of each is made first"
    };
    let mut text = format!("These worktrees will be removed; {kept} (see `rekindle rescue list`):");
    for (leftover, ignored) in removable {
        text.push_str("\n  ");
        text.push_str(leftover.path.as_str());
        if let Some(lost) = not_kept(ignored) {
            text.push_str("\n    ");
            text.push_str(&lost);
        }
    }
    text
}

/// Describes what of a worktree would be lost, with some names; `None` if nothing is.
fn not_kept(ignored: &[String]) -> Option<String> {
    let shown = ignored.iter().take(MOST_NAMES);
    let shown: Vec<String> = shown
        .map(|name| format!("`{}`", rekindle_text::excerpt(name, LONGEST_NAME)))
        .collect();
    let more = match ignored.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!ignored.is_empty()).then(|| {
        format!(
            "not saved, because git ignores them: {}{more}",
            shown.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_what_is_lost_are_some_and_on_one_line() {
        let name = |number: usize| format!("{number}.log");
        assert_eq!(not_kept(&[]), None);
        assert_eq!(
            not_kept(&[name(1), "a\u{1b}[2J".to_owned()]).unwrap(),
            "not saved, because git ignores them: `1.log`, `a\\u{1b}[2J`"
        );
        let many: Vec<String> = (1..=MOST_NAMES + 3).map(name).collect();
        let lost = not_kept(&many).unwrap();
        assert!(
            lost.ends_with(&format!("`{MOST_NAMES}.log` and 3 more")),
            "{lost}"
        );
        let long = not_kept(&["x".repeat(5000)]).unwrap();
        assert!(long.len() < 2 * LONGEST_NAME, "{long}");
    }
}
