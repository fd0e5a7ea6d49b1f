//! What a resume must have left in the repository and its worktrees.

use indexmap::IndexMap;
use serde::Deserialize;

use super::super::error::{Error, mismatch};
use super::super::scene::Scene;
use super::layout::worktree_root;

/// A case's `git` object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outcome {
    /// The subjects of the main branch's commits, newest first.
    log: Option<Vec<String>>,
    /// The text of files in the main tree; nothing where none may stand.
    #[serde(default)]
    main: IndexMap<String, Option<String>>,
    /// Worktrees that must still stand.
    #[serde(default)]
    kept: Vec<String>,
    /// The lines of `git status --porcelain` in a worktree.
    #[serde(default)]
    worktree_status: IndexMap<String, Vec<String>>,
    /// Paths that a worktree must have.
    #[serde(default)]
    worktree_has: IndexMap<String, Vec<String>>,
    /// Nothing is changed in the main tree, `.kiln` aside.
    #[serde(default)]
    clean: bool,
}

/// Looks at the repository after a resume.
pub(crate) fn check(scene: &Scene, want: &Outcome) -> Result<(), Error> {
    let project = scene.project();
    let log = lines(&scene.git(project, &["log", "--format=%s", "main"])?);
    if let Some(wanted) = &want.log
        && *wanted != log
    {
        return mismatch(format!("main's log is {log:?}, wanted {wanted:?}"));
    }
    for (path, wanted) in &want.main {
        let data = scene.bytes_of(path)?;
        let text = data.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if text != *wanted {
            return mismatch(format!("main's {path} is {text:?}, wanted {wanted:?}"));
        }
    }
    let root = worktree_root(scene);
    if let Some(gone) = want.kept.iter().find(|name| !root.join(name).is_dir()) {
        return mismatch(format!("worktree {gone} is gone"));
    }
    for (name, wanted) in &want.worktree_status {
        let status = lines(&scene.git(&root.join(name), &["status", "--porcelain"])?);
        if status != *wanted {
            return mismatch(format!(
                "worktree {name} status {status:?}, wanted {wanted:?}"
            ));
        }
    }
    for (name, paths) in &want.worktree_has {
        if let Some(path) = paths
            .iter()
            .find(|path| !root.join(name).join(path).exists())
        {
            return mismatch(format!("worktree {name} lacks {path}"));
        }
    }
    if want.clean {
        let status = scene.git(project, &["status", "--porcelain", "--", ":!.kiln"])?;
        if !status.trim().is_empty() {
            return mismatch(format!("main's tree is not clean: {:?}", lines(&status)));
        }
    }
    Ok(())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
