//! The results of subtasks, with files and commits.

use std::collections::BTreeSet;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{split_lines, strip};
use rekindle_world::{GitAnswer, GitQuestion, Kind};

use super::completion::no_state;
use super::defer::Outcome;
use crate::boundary;
use crate::desk::Desk;
use crate::reply::{Fault, Reply};
use crate::state::{State, StateFile, key};

/// `record_subtask_result`.
pub(crate) fn record(
    desk: Desk<'_>,
    subtask: &str,
    status: &str,
    outcome: &Outcome,
) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file));
    }
    let answer = put(desk, &mut file.state, subtask, status, outcome)?;
    Ok(Reply::of(answer).doing(file.saved()))
}

/// Records a result in the state; the answer has warnings if git disagrees.
pub fn put(
    desk: Desk<'_>,
    state: &mut State,
    subtask: &str,
    status: &str,
    outcome: &Outcome,
) -> Result<Object, Fault> {
    let (outside, missing) = misplaced(desk, &outcome.files);
    let given = outcome.commit.clone().filter(|commit| !commit.is_empty());
    let is_given = given.is_some();
    let commit = given.or_else(|| desk.head());
    let last = state.get(key::LAST_COMMIT);
    let is_stale = !is_given && commit.as_deref().is_some_and(|commit| last.is_text(commit));
    let unseen = unseen(desk, &outcome.files, commit.as_deref());
    let mut result = Object::new()
        .with("subtask_id", subtask)
        .with("files_changed", outcome.files.clone())
        .with("status", status)
        .with("summary", &outcome.summary);
    if let Some(commit) = &commit {
        result.set("commit_sha", commit);
        state.set(key::LAST_COMMIT, commit);
    }
    state.map_mut(key::RESULTS)?.set(subtask, result.clone());
    let mut answer = Reply::success()
        .with("subtask_id", subtask)
        .with("recorded", result);
    if !missing.is_empty() {
        warn(
            &mut answer,
            "Some files do not exist: a typo in --files, or a deletion.",
        );
        answer.set("missing_files", missing);
    }
    if !outside.is_empty() {
        answer.set("cross_repo_files", outside);
    }
    if !unseen.is_empty() {
        let (count, all) = (unseen.len(), outcome.files.len());
        warn(
            &mut answer,
            &format!("git sees no change of {count} of {all} files."),
        );
        answer.set("files_not_in_diff", unseen);
    }
    if is_stale {
        let text = "The commit is that of the previous subtask. Commit each subtask, or name the shared commit with --commit-sha.";
        warn(&mut answer, text);
        answer.set("sha_is_stale_duplicate", true);
    }
    Ok(answer)
}

/// Adds a line to the warning of an answer.
fn warn(answer: &mut Object, text: &str) {
    let text = match answer.text("warning") {
        Some(before) => format!("{before}\n{text}"),
        None => text.to_owned(),
    };
    answer.set("warning", text);
}

/// Returns the files of another repository, and the files that do not exist.
fn misplaced(desk: Desk<'_>, files: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut outside, mut missing) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| !file.is_empty()) {
        if is_outside(desk, file) {
            outside.push(file.clone());
        } else if !desk.exists(file) {
            missing.push(file.clone());
        }
    }
    (outside, missing)
}

/// Returns whether a path leaves the project, or names a folder next to it.
fn is_outside(desk: Desk<'_>, file: &str) -> bool {
    let project = desk.world.project();
    let path = desk.place(file);
    let path = desk.world.resolve(&path).unwrap_or_else(|_| plain(&path));
    if !path.starts_with(project) {
        return true;
    }
    let first = file.split('/').next().unwrap_or_default();
    let next_to = project.parent().map(|parent| parent.join(first));
    !matches!(first, "" | "." | "..")
        && !desk.exists(first)
        && next_to.is_some_and(|next_to| desk.kind(next_to.as_str()) == Some(Kind::Folder))
}

/// Removes `.` and `..` from a path that does not exist.
fn plain(path: &Utf8Path) -> Utf8PathBuf {
    let mut plain = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::ParentDir => {
                plain.pop();
            }
            Utf8Component::CurDir => {}
            Utf8Component::Prefix(_) | Utf8Component::RootDir | Utf8Component::Normal(_) => {
                plain.push(part);
            }
        }
    }
    plain
}

/// Returns the files that neither the commit nor the worktree changes.
fn unseen(desk: Desk<'_>, files: &[String], commit: Option<&str>) -> Vec<String> {
    let declared: Vec<&String> = files.iter().filter(|file| !file.is_empty()).collect();
    if declared.is_empty() {
        return Vec::new();
    }
    let printed = |question: &GitQuestion| desk.git(question).and_then(GitAnswer::printed).ok();
    let mut changed: BTreeSet<String> = BTreeSet::new();
    if let Some(commit) = commit {
        let commit = commit.to_owned();
        let names = printed(&GitQuestion::PrintedNamesIn { commit }).unwrap_or_default();
        let names = split_lines(&names).map(strip);
        changed.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    let status = printed(&GitQuestion::PrintedStatus { every_file: false });
    changed.extend(boundary::status_paths(&status.unwrap_or_default()));
    if changed.is_empty() {
        return Vec::new();
    }
    let unseen = declared.into_iter().filter(|file| !changed.contains(*file));
    let unseen: Vec<String> = unseen.cloned().collect();
    if unseen.is_empty() {
        return unseen;
    }
    let paths = unseen.clone();
    let ignored = printed(&GitQuestion::PrintedIgnored { paths }).unwrap_or_default();
    let ignored: BTreeSet<&str> = split_lines(&ignored).map(strip).collect();
    let seen = |file: &String| !ignored.contains(file.as_str());
    unseen.into_iter().filter(seen).collect()
}

/// `backfill_subtask_ids`: adds their ids to results of old versions.
pub(crate) fn backfill(desk: Desk<'_>) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file));
    }
    let mut updated: Vec<String> = Vec::new();
    if file.state.get(key::RESULTS).is_truthy() {
        for (id, result) in file.state.map_mut(key::RESULTS)?.iter_mut() {
            if let Json::Object(result) = result
                && result.text("subtask_id") != Some(id)
            {
                result.set("subtask_id", id);
                updated.push(id.to_owned());
            }
        }
    }
    let answer = Reply::success()
        .with("branch", desk.branch.as_str())
        .with("updated", updated.len())
        .with("updated_ids", updated.clone());
    let saved = (!updated.is_empty()).then(|| file.saved());
    Ok(Reply::of(answer).doing(saved.flatten()))
}
