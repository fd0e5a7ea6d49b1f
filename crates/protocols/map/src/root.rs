//! Which folder a command is about, whatever folder it was typed in.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_world::{GitAnswer, GitQuestion, Kind, World};

use super::fault::Fault;
use super::layout::{self, Branch};

/// The project of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its folder.
    pub folder: Utf8PathBuf,
    /// What is said on standard error about how it was found.
    pub warning: Option<String>,
}

/// Returns the folder that `CLAUDE_PROJECT_DIR` names, else the top of the worktree, else the nearest
/// one upward that has `.map/`, else this one.
pub fn root(world: &dyn World) -> Root {
    let named = world.variable("CLAUDE_PROJECT_DIR").unwrap_or_default();
    let named = named.trim();
    let mut warning = None;
    if !named.is_empty() {
        let folder = world.resolve(&world.project().join(named));
        let folder = folder.ok();
        let folder = folder.filter(|folder| is(world, folder, Kind::Folder));
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
    let folder = top.unwrap_or_else(|_| {
        let mut upward = world.project().ancestors();
        let nearest = upward.find(|folder| is(world, &folder.join(".map"), Kind::Folder));
        nearest.unwrap_or_else(|| world.project()).to_owned()
    });
    Root { folder, warning }
}

/// Returns why no command is carried out here, if a link leads where effects must not go.
///
/// Reading through it and then refusing to write would do half of a workflow.
pub(super) fn refusal(world: &dyn World, branch: &Branch) -> Option<Fault> {
    let place = |path: &str| world.project().join(path);
    let project = world.resolve(world.project());
    for path in [".map".to_owned(), format!(".map/{branch}")] {
        if !is(world, &place(&path), Kind::Link) {
            continue;
        }
        if let (Ok(project), Ok(target)) = (&project, world.resolve(&place(&path)))
            && !target.starts_with(project)
        {
            return Some(Fault::new(format!(
                "`{path}` is a link to `{target}`, outside of the project; put the folder itself in its place"
            )));
        }
    }
    let state = branch.file(layout::STATE);
    is(world, &place(&state), Kind::Link).then(|| {
        Fault::new(format!(
            "`{state}` is a link; put the file that it leads to in its place"
        ))
    })
}

fn is(world: &dyn World, path: &Utf8Path, kind: Kind) -> bool {
    world.stat(path).is_ok_and(|meta| meta.kind == kind)
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
