//! The record of one resume: where things stood when it began, so that its end can tell what it did.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_text::python_json::{self, Json, Object};
use rekindle_world::{GitAnswer, GitChange, GitQuestion};
use sha2::{Digest as _, Sha256};

use super::order;
use super::read::Workflow;
use super::words::Session;
use crate::boundary;
use crate::desk::Desk;
use crate::layout;

/// Returns the record of a resume that begins now, relative to the project.
///
/// Its name has a mark of the state that is shown, since nothing else is carried to the answer.
pub(super) fn log(desk: Desk<'_>) -> Utf8PathBuf {
    let now = desk.world.now();
    let stamp = now.strftime("%Y%m%dT%H%M%S");
    let micros = now.subsec_microsecond();
    let name = format!("resume-{stamp}{micros:06}Z-{}.jsonl", mark(desk));
    Utf8PathBuf::from(order::folder(desk)).join(name)
}

/// Returns whether the state is still the one that was shown when the resume began.
pub(super) fn is_as_shown(desk: Desk<'_>, log: &Utf8Path) -> bool {
    log.as_str().ends_with(&format!("-{}.jsonl", mark(desk)))
}

fn mark(desk: Desk<'_>) -> String {
    let bytes = desk.bytes(&desk.branch.file(layout::STATE));
    let digest = Sha256::digest(bytes.ok().flatten().unwrap_or_default());
    rekindle_text::hex(&digest[..4])
}

/// Returns the line with which a resume begins: what is done, and how the files differ from the commit.
pub(super) fn begun(desk: Desk<'_>, workflow: &Workflow) -> String {
    let head = head(desk);
    let files = head.as_deref().and_then(|head| changes(desk, head));
    let files = files.map(|files| {
        let mut object = Object::new();
        for (path, content) in files {
            object.set(path, content);
        }
        object
    });
    Object::new()
        .with("v", 1_i64)
        .with("begun_at", desk.stamp())
        .with("head", head)
        .with("done", workflow.done())
        .with("files", files.map_or(Json::Null, Json::Object))
        .to_line()
}

/// Returns what came of a resume, by its record; without one nothing is known of its beginning.
pub(super) fn ended(desk: Desk<'_>, workflow: &Workflow, log: &Utf8Path) -> Session {
    let begun = desk.text(log.as_str()).ok().flatten().unwrap_or_default();
    let begun = begun.lines().next().map(python_json::parse);
    let begun = match begun {
        Some(Ok(Json::Object(begun))) => begun,
        Some(_) | None => Object::new(),
    };
    let before = begun
        .get("done")
        .and_then(Json::as_list)
        .unwrap_or_default();
    let is_new = |id: &&String| !before.iter().any(|known| known.is_text(id));
    Session {
        n_completed: workflow.done().iter().filter(is_new).count(),
        files: changed(desk, &begun),
    }
}

/// Returns the paths whose content is another one than when the resume began.
fn changed(desk: Desk<'_>, begun: &Object) -> Option<Vec<String>> {
    let before = begun.get("files").and_then(Json::as_object)?;
    let after = changes(desk, begun.text("head")?)?;
    let is_other =
        |(path, content): &(&String, &String)| before.text(path) != Some(content.as_str());
    let mut paths: Vec<String> = after
        .iter()
        .filter(is_other)
        .map(|(path, _)| path.clone())
        .collect();
    // What differed from the commit and no longer does was changed too.
    let gone = before.iter().map(|(path, _)| path);
    let gone = gone.filter(|path| !after.contains_key(*path));
    paths.extend(gone.map(str::to_owned));
    paths.sort();
    Some(paths)
}

/// Returns how the files differ from a commit: path and content, MAP's own and ours left out.
fn changes(desk: Desk<'_>, base: &str) -> Option<BTreeMap<String, String>> {
    let base = base.to_owned();
    let answer = desk.git(&GitQuestion::Changes { base });
    let changes = answer.and_then(GitAnswer::changes).ok()?;
    let content = |change: &GitChange| {
        let entry = change.after.as_ref();
        let content = entry.map_or_else(
            || "-".to_owned(),
            |entry| format!("{} {}", entry.mode, entry.id),
        );
        (change.path.to_string(), content)
    };
    let of_others = |(path, _): &(String, String)| !boundary::is_own(path);
    Some(changes.iter().map(content).filter(of_others).collect())
}

fn head(desk: Desk<'_>) -> Option<String> {
    let question = GitQuestion::Commit {
        name: "HEAD".to_owned(),
    };
    let answer = desk.git(&question).and_then(GitAnswer::commit);
    answer.ok().flatten()
}
