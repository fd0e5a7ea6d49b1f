//! Whether version control has an earlier version of a file.

use camino::Utf8Path;
use rekindle_world::{GitAnswer, GitPath, GitQuestion, World};

/// Returns whether the last commit has a file that is missing or changed now.
pub(super) fn is_saved(world: &dyn World, path: &Utf8Path) -> bool {
    let ask = |question: &GitQuestion| world.git(world.project(), question);
    let repository = ask(&GitQuestion::Repository).and_then(GitAnswer::repository);
    let Ok(repository) = repository else {
        return false;
    };
    let project = world.resolve(world.project());
    let project = project.as_deref().unwrap_or(world.project());
    let (Some(base), Ok(folder)) = (repository.head, project.strip_prefix(&repository.top_level))
    else {
        return false;
    };
    let changes = ask(&GitQuestion::Changes { base }).and_then(GitAnswer::changes);
    let wanted = GitPath::from(folder.join(path).as_str());
    changes.is_ok_and(|changes| {
        let mut changes = changes.iter();
        changes.any(|change| {
            let is_changed = change.path == wanted && change.before.is_some();
            is_changed || change.from.as_ref() == Some(&wanted)
        })
    })
}
