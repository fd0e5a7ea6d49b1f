//! Which folder a command is about, whatever folder it was typed in.

use camino::Utf8PathBuf;
use rekindle_world::{GitAnswer, GitQuestion, Kind, World};

use super::layout::Branch;

/// The project of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its folder.
    pub folder: Utf8PathBuf,
    /// What is said on standard error about how it was found.
    pub warning: Option<String>,
}

/// Returns the folder that `CLAUDE_PROJECT_DIR` names, else the top of the worktree, else this one.
pub fn root(world: &dyn World) -> Root {
    let named = world.variable("CLAUDE_PROJECT_DIR").unwrap_or_default();
    let named = named.trim();
    let mut warning = None;
    if !named.is_empty() {
        let folder = world.resolve(&world.project().join(named));
        let folder = folder.ok().filter(|folder| {
            world
                .stat(folder)
                .is_ok_and(|meta| meta.kind == Kind::Folder)
        });
        match folder {
            Some(folder) => return Root { folder, warning },
            None => {
                warning = Some(format!(
                    "WARNING: CLAUDE_PROJECT_DIR is `{named}`, which is no folder; it is not used.\n"
                ));
            }
        }
    }
    let head = world.git(world.project(), &GitQuestion::HeadName);
    let top = head
        .and_then(GitAnswer::head_name)
        .map(|head| head.top_level);
    let folder = top.unwrap_or_else(|_| world.project().to_owned());
    Root { folder, warning }
}

/// Returns the branch whose folder is meant: the one that was named, else the one checked out.
pub(super) fn branch(world: &dyn World, named: Option<&str>) -> Branch {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return Branch::of(Some(named));
    }
    let head = world.git(world.project(), &GitQuestion::HeadName);
    let name = head
        .and_then(GitAnswer::head_name)
        .ok()
        .and_then(|head| head.name);
    Branch::of(name.as_deref())
}
