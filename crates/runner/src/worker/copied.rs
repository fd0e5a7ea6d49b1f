//! Copies of brought files under other names: what must not land, does not land as another file either.

use rekindle_git::{Change, OwnWorktree, RepoPath};

use crate::Error;

/// Returns why a delivery cannot land because a changed file has the contents of one that was brought
/// into the worktree, if there is one.
pub(super) fn refusal(own: &OwnWorktree, changes: &[Change]) -> Result<Option<String>, Error> {
    let brought = own.brought()?;
    let length = |path: &RepoPath| {
        let found = own.path().join(path.as_str()?).symlink_metadata().ok()?;
        (found.is_file() && found.len() > 0).then_some(found.len())
    };
    // Almost always no length is the same, and git need not be asked.
    let changed = changes.iter().filter(|change| change.new.is_some());
    let lengths: Vec<u64> = changed.filter_map(|change| length(&change.path)).collect();
    let is_alike = |path: &&RepoPath| length(path).is_some_and(|len| lengths.contains(&len));
    let alike: Vec<&RepoPath> = brought.iter().filter(is_alike).collect();
    let ids = own.repo().unconverted_ids(&alike)?;
    let same = changes.iter().find_map(|change| {
        let id = &change.new.as_ref()?.id;
        let (path, _) = ids.iter().find(|(_, brought)| *brought == id)?;
        Some((&change.path, path))
    });
    Ok(same.map(|(path, of)| {
        format!("`{path}` is a copy of `{of}`, a file that was brought into the worktree and must not land")
    }))
}
