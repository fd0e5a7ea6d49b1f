//! Copies a worktree's files into the project one by one.

use rekindle_fs::{Modes, Node, Tree};
use rekindle_git::{Change, RepoPath};

use super::Work;
use super::check::Found;
use crate::effects::changed;
use crate::{Error, crash};

/// Gives the project's files the worktree's contents: deletions first, then additions.
///
/// Attributes last: they define how git reads the other files, and after a crash in between the files
/// that are not copied yet must still be recognized as unchanged.
pub(super) fn write(tree: &Tree, work: &Work, found: &Found) -> Result<(), Error> {
    let is_late: Vec<bool> = work
        .changes
        .iter()
        .map(|change| are_attributes(change, work))
        .collect();
    for late in [false, true] {
        let due = || (0..work.changes.len()).filter(|&place| is_late[place] == late);
        for place in due().filter(|&place| work.changes[place].new.is_none()) {
            remove(tree, &work.changes[place].path, &found.nodes[place])?;
        }
        for place in due().filter(|&place| !found.is_after[place]) {
            if work.changes[place].new.is_some() {
                copy(tree, work, place, found)?;
            }
        }
    }
    Ok(())
}

/// Returns whether a change is one of an attributes file, and not of a folder with that name.
fn are_attributes(change: &Change, work: &Work) -> bool {
    let is_folder =
        |other: &Change| other.path != change.path && other.path.is_within(&change.path);
    change.path.as_path().file_name() == Some(".gitattributes".as_ref())
        && !work.changes.iter().any(is_folder)
}

fn remove(tree: &Tree, path: &RepoPath, node: &Node) -> Result<(), Error> {
    match node {
        // A file that became a folder; what is in it has its own place in the list.
        Node::Folder => return Ok(()),
        Node::Absent => {}
        Node::File { .. } | Node::Link(_) | Node::Other => {
            crash::point("land-before-remove");
            tree.remove(path.as_path(), node).map_err(changed)?;
            crash::point("land-after-remove");
        }
    }
    // Also if the file is deleted already: a crash may have come between the two.
    tree.prune(path.as_path())?;
    crash::point("land-after-prune");
    Ok(())
}

fn copy(tree: &Tree, work: &Work, place: usize, found: &Found) -> Result<(), Error> {
    let node = &found.nodes[place];
    let modes = if found.trusts_modes {
        Modes::Executable
    } else {
        Modes::Kept
    };
    let path = work.changes[place].path.as_path();
    crash::point("land-before-copy");
    let expected = match node {
        Node::Folder => {
            tree.clear(path)?;
            crash::point("land-after-clear");
            &Node::Absent
        }
        Node::Absent | Node::File { .. } | Node::Link(_) | Node::Other => node,
    };
    let draft = tree
        .draft(path, &work.tree, &work.sources[place])
        .map_err(changed)?;
    crash::point("land-after-copy");
    draft.place(expected, modes).map_err(changed)?;
    crash::point("land-after-place");
    Ok(())
}
