//! Submodules of a delivery: a commit that exists only in the worktree must not land.

use camino::Utf8Path;
use rekindle_git::{Change, Error, Mode, ObjectId, Repo};

/// Returns why a delivery cannot land because of a submodule, if one of its changes is a commit that
/// neither the project's own copy of the submodule has nor a remote of the agent's.
///
/// The copy in a worktree is removed with the worktree, and with it such a commit.
pub(super) fn refusal(
    main: &Repo,
    worktree: &Utf8Path,
    changes: &[Change],
) -> Result<Option<String>, Error> {
    let linked = changes.iter().filter_map(|change| {
        let new = change.new.as_ref()?;
        (new.mode == Mode::Submodule).then_some((change, &new.id))
    });
    for (change, commit) in linked {
        let Some(path) = change.path.as_str() else {
            continue;
        };
        let copies = [main.top_level()?.join(path), worktree.join(path)];
        let [own, agents] = copies.map(|copy| Repo::at(main.program(), copy));
        if !(has(&own, commit) || is_on_a_remote(&agents, commit)) {
            return Ok(Some(format!(
                "the submodule `{}` is at the commit {commit}, which only this worktree has: push it from the submodule, or commit no change of it",
                change.path
            )));
        }
    }
    Ok(None)
}

/// Returns whether a submodule's own repository has a commit; a missing repository has none.
fn has(submodule: &Repo, commit: &ObjectId) -> bool {
    is_at_top(submodule) && matches!(submodule.resolve(commit.as_str()), Ok(Some(_)))
}

fn is_on_a_remote(submodule: &Repo, commit: &ObjectId) -> bool {
    is_at_top(submodule) && submodule.is_on_a_remote(commit).unwrap_or(false)
}

/// A folder without a repository of its own belongs to the one around it.
fn is_at_top(submodule: &Repo) -> bool {
    let top = submodule.top_level().ok();
    top.is_some() && top == submodule.dir().canonicalize_utf8().ok()
}
