//! Worktrees that were saved before destructive steps: list, show and restore them.
//!
//! A rescue is a commit in the project's repository; everything about it is read from git. Nothing
//! here changes or removes one, and existing files are never overwritten.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{Commit, Program, Repo, Rescue, Rescued};
use rekindle_model::WorkflowId;

use crate::{Error, Face, Project};

/// The most files and commits of one rescue that are listed; git itself shows them all.
const MOST_FILES: usize = 1000;
const MOST_COMMITS: usize = 20;

/// The contents of a rescue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The rescue.
    pub rescue: Rescue,
    /// The files that differ from the commit it was made on, at most a thousand.
    pub files: Vec<Rescued>,
    /// How many more files differ.
    pub left_out: usize,
    /// Commits of the worktree that no branch and no tag has, newest first, at most twenty.
    pub commits: Vec<Commit>,
    /// Whether there are more commits.
    pub more_commits: bool,
}

/// The result of restoring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The rescue.
    pub rescue: Rescue,
    /// The target folder, also if nothing was written.
    pub into: Utf8PathBuf,
    /// Whether it was written; if not, the person declined.
    pub written: bool,
    /// The top of the worktree that contains the project: paths of the rescue are relative to it.
    pub top: Utf8PathBuf,
}

/// Lists the rescues, by workflow, task and number; of one workflow if one is named.
pub fn rescues(project: &Project, workflow: Option<&str>) -> Result<Vec<Rescue>, Error> {
    let all = repo(project)?.rescues().map_err(Error::Git)?;
    let Some(typed) = workflow else {
        return Ok(all);
    };
    let (_, name) = rekindle_registry::split(typed);
    let is_one = |rescue: &Rescue| [typed, name].contains(&rescue.workflow.as_str());
    let begins = |rescue: &Rescue| !name.is_empty() && rescue.workflow.starts_with(name);
    let exact = all.iter().any(is_one);
    let found: Vec<Rescue> = all
        .into_iter()
        .filter(|rescue| is_one(rescue) || (!exact && begins(rescue)))
        .collect();
    if found.is_empty() && !is_here(project, typed) {
        return Err(Error::NothingRescued {
            workflow: typed.to_owned(),
        });
    }
    Ok(found)
}

/// Returns the contents of one rescue; changes nothing.
pub fn rescue(project: &Project, name: &str) -> Result<Shown, Error> {
    let repo = repo(project)?;
    let rescue = find(&repo.rescues().map_err(Error::Git)?, name)?;
    shown(&repo, rescue)
}

/// Returns the contents of a rescue.
pub(crate) fn shown(repo: &Repo, rescue: Rescue) -> Result<Shown, Error> {
    let mut files = repo.rescued(&rescue).map_err(Error::Git)?;
    let left_out = files.len().saturating_sub(MOST_FILES);
    files.truncate(MOST_FILES);
    let mut commits = match &rescue.head {
        Some(head) => repo
            .log_of_own(head, MOST_COMMITS + 1)
            .map_err(Error::Git)?,
        None => Vec::new(),
    };
    let more_commits = commits.len() > MOST_COMMITS;
    commits.truncate(MOST_COMMITS);
    Ok(Shown {
        rescue,
        files,
        left_out,
        commits,
        more_commits,
    })
}

/// Writes the files of a rescue into a new folder, if the person agrees.
///
/// Without `into` the folder is below `.rekindle/restored/`. It appears completely or not at all.
pub fn restore(
    project: &Project,
    name: &str,
    into: Option<&Utf8Path>,
    yes: bool,
    face: &mut dyn Face,
) -> Result<Restored, Error> {
    let repo = repo(project)?;
    let rescue = find(&repo.rescues().map_err(Error::Git)?, name)?;
    let state = project.state();
    let target = match into {
        Some(into) => plain(&project.typed_path(into)),
        None => state.restored(&rescue.workflow, &rescue.task, rescue.number)?,
    };
    refuse_taken(&target)?;
    let top = repo.top_level().map_err(Error::Git)?;
    let question = format!(
        "All files of `{}` will be written to the new folder\n  {}\nExisting files stay unchanged.",
        rescue.short_name(),
        target
    );
    let written = yes || face.agree(&question).given()?;
    if written {
        if into.is_none() {
            state.ensure()?;
        }
        write(&repo, &rescue, &target)?;
    }
    Ok(Restored {
        rescue,
        into: target,
        written,
        top,
    })
}

/// Writes the files to a temporary folder next to the target, which is renamed last.
fn write(repo: &Repo, rescue: &Rescue, into: &Utf8Path) -> Result<(), Error> {
    let draft = rekindle_fs::draft_beside(into);
    if let Some(above) = into.parent() {
        rekindle_fs::ensure_dir(above)?;
        // Remove what killed ones left; the rescues themselves are in git.
        rekindle_fs::sweep_drafts(above);
    }
    refuse_taken(&draft)?;
    repo.restore(rescue, &draft)
        .map_err(|source| Error::NotRestored {
            draft: draft.clone(),
            source,
        })?;
    match rekindle_fs::rename(&draft, into) {
        Ok(()) => Ok(()),
        Err(rekindle_fs::Error::Exists(path)) => Err(Error::Taken { path }),
        Err(error) => Err(Error::Files(error)),
    }
}

/// Returns the path without a final slash, by which a link would be followed.
fn plain(path: &Utf8Path) -> Utf8PathBuf {
    path.components().collect()
}

fn refuse_taken(path: &Utf8Path) -> Result<(), Error> {
    // A dangling link exists, too. A path that cannot be read fails when it is written.
    if path.file_name().is_none() || path.symlink_metadata().is_ok() {
        return Err(Error::Taken {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// Returns the requested rescue: by its ref, by `workflow/task/n`, or by a unique prefix.
fn find(rescues: &[Rescue], typed: &str) -> Result<Rescue, Error> {
    let (_, name) = rekindle_registry::split(typed);
    let is = |test: &dyn Fn(&str) -> bool| -> Vec<Rescue> {
        let spelled = |rescue: &&Rescue| spellings(rescue).iter().any(|text| test(text));
        rescues.iter().filter(spelled).cloned().collect()
    };
    // A full ref is always unique; names may contain slashes and look like others.
    let by_ref = rescues
        .iter()
        .find(|rescue| [rescue.name.as_str(), rescue.short_name()].contains(&typed));
    if let Some(rescue) = by_ref {
        return Ok(rescue.clone());
    }
    let exact = is(&|text| text == typed || text == name);
    let mut among = match exact.as_slice() {
        [] if name.is_empty() => Vec::new(),
        [] => is(&|text| text.starts_with(typed) || text.starts_with(name)),
        [_, ..] => exact,
    };
    match among.len() {
        0 => Err(Error::UnknownRescue {
            name: typed.to_owned(),
        }),
        1 => Ok(among.remove(0)),
        _ => Err(Error::AmbiguousRescue {
            name: typed.to_owned(),
            among: among
                .iter()
                .map(|rescue| rescue.short_name().to_owned())
                .collect(),
        }),
    }
}

fn spellings(rescue: &Rescue) -> [String; 3] {
    let Rescue {
        workflow,
        task,
        number,
        ..
    } = rescue;
    [
        rescue.name.clone(),
        rescue.short_name().to_owned(),
        format!("{workflow}/{task}/{number}"),
    ]
}

fn is_here(project: &Project, typed: &str) -> bool {
    let (protocol, name) = rekindle_registry::split(typed);
    let is_one = |id: &WorkflowId| {
        protocol.is_none_or(|protocol| protocol == id.protocol) && id.name.starts_with(name)
    };
    let overview = crate::status(
        project,
        crate::Listing {
            all: true,
            ..crate::Listing::default()
        },
    );
    !name.is_empty() && overview.workflows.iter().any(|summary| is_one(&summary.id))
}

fn repo(project: &Project) -> Result<Repo, Error> {
    let program = Program::find(&project.search_path).map_err(Error::Git)?;
    Ok(Repo::at(&program, project.folder()))
}

#[cfg(test)]
mod tests {
    use rekindle_git::{ObjectId, Staged};

    use super::*;

    fn made(name: &str, workflow: &str, task: &str, number: u32) -> Rescue {
        let id = ObjectId::parse(&"a".repeat(40)).unwrap();
        Rescue {
            name: format!("refs/rekindle/rescue/{name}"),
            workflow: workflow.to_owned(),
            task: task.to_owned(),
            number,
            commit: id.clone(),
            tree: id,
            head: None,
            index: None,
            index_tree: None,
            staged: Staged::Untold,
            worktree: None,
            branch: None,
            made_at: 0,
        }
    }

    fn all() -> Vec<Rescue> {
        vec![
            made("20260119-x/T1/1", "20260119-x", "T1", 1),
            made("20260119-x/T1/10", "20260119-x", "T1", 10),
            made("20260119-x/T2/1", "20260119-x", "T2", 1),
            made("a%2Fb/c/1", "a/b", "c", 1),
            made("a/b%2Fc/1", "a", "b/c", 1),
            made("phase-1%3Aexec/t%20t/1", "phase-1:exec", "t t", 1),
        ]
    }

    #[test]
    fn a_rescue_is_found_by_its_ref_its_names_or_a_beginning_that_is_its_own() {
        let check = |typed: &str, expected: &str| {
            let found = find(&all(), typed).unwrap();
            assert_eq!(found.short_name(), expected, "{typed}");
        };
        check("refs/rekindle/rescue/20260119-x/T1/1", "20260119-x/T1/1");
        check("20260119-x/T1/1", "20260119-x/T1/1");
        check("20260119-x/T1/10", "20260119-x/T1/10");
        check("agent-memory:20260119-x/T1/1", "20260119-x/T1/1");
        check("20260119-x/T2", "20260119-x/T2/1");
        check("refs/rekindle/rescue/20260119-x/T2", "20260119-x/T2/1");
        check("phase-1:exec/t t/1", "phase-1%3Aexec/t%20t/1");
        check("phase-1%3A", "phase-1%3Aexec/t%20t/1");
        check("ph", "phase-1%3Aexec/t%20t/1");
        check("a%2Fb/c/1", "a%2Fb/c/1");
        check("a/b%2Fc", "a/b%2Fc/1");
    }

    #[test]
    fn a_name_of_several_or_of_none_is_refused() {
        let among = |typed: &str| match find(&all(), typed) {
            Err(Error::AmbiguousRescue { among, .. }) => among.len(),
            Err(Error::UnknownRescue { .. }) => 0,
            other => panic!("{typed}: {other:?}"),
        };
        assert_eq!(among("20260119-x"), 3);
        assert_eq!(among("20260119-x/T1"), 2);
        assert_eq!(among("a/b/c/1"), 2);
        assert_eq!(among("refs/rekindle/rescue/"), 6);
        for typed in [
            "",
            "agent-memory:",
            "nonsense",
            "20260119-x/T1/2",
            "refs/heads/main",
        ] {
            assert_eq!(among(typed), 0, "{typed}");
        }
    }
}
