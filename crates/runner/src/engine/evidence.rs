//! What git proves of a run: the commits that carry its trailers.

use std::collections::HashMap;

use camino::Utf8Path;
use rekindle_git::{ObjectId, Program, Repo};
use rekindle_model::{Standing, Work, WorkflowId};

use crate::Error;

/// Tasks that are said to be done and whose commits are not where they should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Their ids, in plan order.
    pub tasks: Vec<String>,
    /// Whether the run's branch itself is gone.
    pub branch_is_gone: bool,
    /// The commit that landed last, if the repository still has it.
    pub last_commit: Option<String>,
}

/// A task's commit on a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proof {
    pub(super) attempt: u32,
    pub(super) commit: ObjectId,
    /// Whether its files are those of the commit before it.
    pub(super) is_empty: bool,
}

/// Looks for the commits of all tasks that are said to be done, on the run's branch and in what is
/// checked out: a branch that was merged and deleted has done its duty. `None` when all are there.
pub fn missing(
    project: &Utf8Path,
    search_path: &std::ffi::OsStr,
    id: &WorkflowId,
    work: &Work,
) -> Result<Option<Missing>, Error> {
    let repo = Repo::at(&Program::find(search_path)?, project);
    let base = ObjectId::parse(&work.settings.base)?;
    let branch = repo.resolve(&format!("refs/heads/{}", work.settings.branch))?;
    let mut proofs = HashMap::new();
    for tip in [branch.clone(), repo.resolve("HEAD")?]
        .into_iter()
        .flatten()
    {
        proofs.extend(landed(&repo, &id.name, &base, &tip)?);
    }
    let tasks: Vec<String> = work
        .tasks
        .iter()
        .filter(|task| task.standing == Standing::Done && !proofs.contains_key(&task.id))
        .map(|task| task.id.clone())
        .collect();
    if tasks.is_empty() {
        return Ok(None);
    }
    let last_commit = match &work.last_commit {
        Some(commit) => repo.resolve(commit)?,
        None => None,
    };
    Ok(Some(Missing {
        tasks,
        branch_is_gone: branch.is_none(),
        last_commit: last_commit.map(|commit| commit.as_str().to_owned()),
    }))
}

/// Returns the tasks of a run that have landed between two commits, with their proofs.
pub(super) fn landed(
    repo: &Repo,
    run: &str,
    base: &ObjectId,
    tip: &ObjectId,
) -> Result<HashMap<String, Proof>, Error> {
    let commits = repo.log(&format!("{base}..{tip}"))?;
    let mut trees: HashMap<ObjectId, ObjectId> = commits
        .iter()
        .map(|commit| (commit.id.clone(), commit.tree.clone()))
        .collect();
    if !commits.is_empty()
        && let Some(tree) = repo.tree_of(base.as_str())?
    {
        trees.insert(base.clone(), tree);
    }
    Ok(commits
        .into_iter()
        .filter(|commit| commit.trailer("Rekindle-Run") == Some(run))
        .filter_map(|commit| {
            let task = commit.trailer("Rekindle-Task")?.to_owned();
            let attempt = commit.trailer("Rekindle-Attempt")?.parse().ok()?;
            let before = commit.parents.first().and_then(|parent| trees.get(parent));
            let proof = Proof {
                attempt,
                is_empty: before == Some(&commit.tree),
                commit: commit.id,
            };
            Some((task, proof))
        })
        .collect())
}
