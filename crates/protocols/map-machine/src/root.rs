//! The project folder and the branch of a command.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_world::{GitAnswer, GitQuestion, Kind, World};

use crate::layout::{self, Branch};
use crate::reply::Fault;

/// The project of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its folder.
    pub folder: Utf8PathBuf,
    /// The message on standard error.
    pub warning: Option<String>,
}

/// Returns the folder that `CLAUDE_PROJECT_DIR` names, else the top of the worktree, else the nearest
/// parent with `.map/`, else the current folder.
pub fn root(world: &dyn World) -> Root {
    let named = world.variable("CLAUDE_PROJECT_DIR").unwrap_or_default();
    let named = named.trim();
    let mut warning = None;
    if !named.is_empty() {
        if let Ok(folder) = world.resolve(&world.project().join(named))
            && is(world, &folder, Kind::Folder)
        {
            return Root { folder, warning };
        }
        warning = Some(format!(
            "WARNING: CLAUDE_PROJECT_DIR is `{named}`, which is not a folder; it is ignored.\n"
        ));
    }
    let head = world.git(world.project(), &GitQuestion::HeadName);
    let head = head.and_then(GitAnswer::head_name);
    let top = head.map(|head| head.top_level);
    let folder = top.unwrap_or_else(|_| {
        let mut upward = world.project().ancestors();
        let nearest = upward.find(|folder| is(world, &folder.join(".map"), Kind::Folder));
        nearest.unwrap_or_else(|| world.project()).to_owned()
    });
    Root { folder, warning }
}

/// Returns why no command is carried out, if a link leads out of the project.
///
/// Reading through it and then refusing to write would do half of a workflow.
pub(crate) fn refusal(world: &dyn World, branch: &Branch) -> Option<Fault> {
    let absolute = |path: &str| world.project().join(path);
    let project = world.resolve(world.project());
    for path in [".map".to_owned(), format!(".map/{branch}")] {
        if !is(world, &absolute(&path), Kind::Link) {
            continue;
        }
        if let (Ok(project), Ok(target)) = (&project, world.resolve(&absolute(&path)))
            && !target.starts_with(project)
        {
            return Some(Fault::new(format!(
                "`{path}` is a link to `{target}`, outside the project; replace it by the folder itself"
            )));
        }
    }
    let state = branch.file(layout::STATE);
    is(world, &absolute(&state), Kind::Link).then(|| {
        Fault::new(format!(
            "`{state}` is a link; replace it by the file itself"
        ))
    })
}

fn is(world: &dyn World, path: &Utf8Path, kind: Kind) -> bool {
    world.stat(path).is_ok_and(|meta| meta.kind == kind)
}

/// Returns the branch that was named, else the one that is checked out.
pub fn branch(world: &dyn World, named: Option<&str>) -> Branch {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return Branch::of(Some(named));
    }
    let head = world.git(world.project(), &GitQuestion::HeadName);
    let head = head.and_then(GitAnswer::head_name).ok();
    Branch::of(head.and_then(|head| head.name).as_deref())
}
