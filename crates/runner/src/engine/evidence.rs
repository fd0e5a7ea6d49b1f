//! Proof from git: the commits that carry a run's trailers.

use std::collections::HashMap;

use camino::Utf8Path;
use rekindle_git::{ObjectId, Program, Repo};
use rekindle_model::{Standing, Work, WorkflowId};

use crate::Error;

/// The trailer that names the run.
pub(super) const RUN_TRAILER: &str = "Rekindle-Run";
/// The trailer that names the task.
pub(super) const TASK_TRAILER: &str = "Rekindle-Task";
/// The trailer that names the list of the task.
pub(super) const LIST_TRAILER: &str = "Rekindle-List";

/// How far the clocks of a run's name and of its commits may differ, in seconds.
const SLACK: i64 = 7 * 24 * 3600;

/// Tasks that are recorded as done and whose commits are missing.
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

/// Returns whether an attempt has delivered work that has not landed.
pub fn is_delivered(repo: &Repo, id: &WorkflowId, task: &str, attempt: u32) -> bool {
    let kept = crate::worker::work_ref(&id.name, task, attempt);
    repo.resolve(&kept).is_ok_and(|commit| commit.is_some())
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

/// Returns whether git has commits of a run: landed ones on any branch, or delivered ones.
///
/// `since` is the start of the run, in seconds since 1970, if known.
pub fn has_commits(
    project: &Utf8Path,
    search_path: &std::ffi::OsStr,
    run: &str,
    since: Option<i64>,
) -> Result<bool, Error> {
    let repo = Repo::at(&Program::find(search_path)?, project);
    let trailer = format!("{RUN_TRAILER}: {}", trailer_value(run));
    let found = repo.find_message(&trailer, since.map(|at| at - SLACK))?;
    let is_of_run =
        |commit: rekindle_git::Commit| commit.trailer(RUN_TRAILER) == Some(&*trailer_value(run));
    Ok(found.is_some_and(is_of_run))
}

/// Returns the tasks of a run whose work is in git: landed on its branch, or delivered by their last attempt.
pub fn in_git(repo: &Repo, id: &WorkflowId, work: &Work) -> Result<Vec<String>, Error> {
    let base = ObjectId::parse(&work.settings.base)?;
    let tip = repo.resolve(&format!("refs/heads/{}", work.settings.branch))?;
    let landed = match tip {
        Some(tip) => landed(repo, &id.name, &base, &tip)?,
        None => HashMap::new(),
    };
    let mut found = Vec::new();
    for task in &work.tasks {
        let delivered = || is_delivered(repo, id, &task.id, task.attempts);
        if landed.contains_key(&task.id) || (task.attempts > 0 && delivered()) {
            found.push(task.id.clone());
        }
    }
    Ok(found)
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
        .filter(|commit| commit.trailer(RUN_TRAILER) == Some(&*trailer_value(run)))
        .filter_map(|commit| {
            let task = trailer_text(commit.trailer(TASK_TRAILER)?);
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

/// Returns an id as the value of a trailer, from which it can be read back exactly.
///
/// A trailer is one line, and spaces around it are lost: other ids are written as
/// a JSON string.
pub(super) fn trailer_value(id: &str) -> String {
    let is_exact = id.trim() == id && !id.starts_with('"') && !id.contains(char::is_control);
    if is_exact && !id.is_empty() {
        return id.to_owned();
    }
    let quoted = serde_json::Value::from(id).to_string();
    let mut value = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        // JSON leaves the control characters above 0x7e as they are.
        if c.is_control() {
            value.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            value.push(c);
        }
    }
    value
}

/// Returns the id that [`trailer_value`] wrote.
fn trailer_text(value: &str) -> String {
    let quoted = value
        .starts_with('"')
        .then(|| serde_json::from_str(value).ok());
    quoted.flatten().unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_can_be_read_back_from_its_trailer() {
        for (id, value) in [
            ("T1", "T1"),
            ("T1.lock", "T1.lock"),
            ("a  b", "a  b"),
            ("-x", "-x"),
            (" a", "\" a\""),
            ("\"a\"", r#""\"a\"""#),
            ("a\nRekindle-Task: b", r#""a\nRekindle-Task: b""#),
            ("a\u{85}\u{7f}", r#""a\u0085\u007f""#),
            ("", "\"\""),
        ] {
            assert_eq!(trailer_value(id), value);
            assert_eq!(trailer_text(value), id);
        }
    }
}
