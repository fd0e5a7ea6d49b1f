//! The log of one resume: its starting point, from which the final summary is computed.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_map_machine::{Desk, boundary, layout};
use rekindle_text::python_json::{self, Json, Object};
use rekindle_world::{GitAnswer, GitChange, GitQuestion};

use crate::order;
use crate::read::Workflow;

/// The result of a resume.
pub(crate) struct Session {
    pub(crate) n_completed: usize,
    /// The files that were changed; `None` if git cannot say.
    pub(crate) files: Option<Vec<String>>,
}

/// Returns the log of a resume that starts now, relative to the project.
///
/// Its name has a hash of the state that is shown, because nothing else is carried to the answer.
pub(crate) fn log(desk: Desk<'_>) -> Utf8PathBuf {
    let now = desk.world.now();
    let stamp = now.strftime("%Y%m%dT%H%M%S");
    let micros = now.subsec_microsecond();
    let name = format!("resume-{stamp}{micros:06}Z-{}.jsonl", state_hash(desk));
    Utf8PathBuf::from(order::folder(desk)).join(name)
}

/// Returns whether the state is still the one that was shown when the resume started.
pub(crate) fn is_as_shown(desk: Desk<'_>, log: &Utf8Path) -> bool {
    let end = format!("-{}.jsonl", state_hash(desk));
    log.as_str().ends_with(&end)
}

fn state_hash(desk: Desk<'_>) -> String {
    let bytes = desk.bytes(&desk.branch.file(layout::STATE));
    rekindle_text::sha256_hex(&bytes.ok().flatten().unwrap_or_default(), 4)
}

/// Returns the first record of a resume: completed subtasks and changed files.
pub(crate) fn started(desk: Desk<'_>, workflow: &Workflow) -> String {
    let head = desk.head();
    let files = head.as_deref().and_then(|head| changes(desk, head));
    let files = files.map(|files| {
        let pairs = files.into_iter();
        let files: Object = pairs
            .map(|(path, content)| (path, content.into()))
            .collect();
        files
    });
    Object::new()
        .with("v", 1_i64)
        .with("begun_at", desk.stamp())
        .with("head", head)
        .with("done", workflow.done())
        .with("files", files)
        .to_line()
}

/// Returns the result of a resume; without a log its starting point is unknown.
pub(crate) fn ended(desk: Desk<'_>, workflow: &Workflow, log: &Utf8Path) -> Session {
    let text = desk.text(log.as_str()).ok().flatten().unwrap_or_default();
    let start = match text.lines().next().map(python_json::parse) {
        Some(Ok(Json::Object(start))) => start,
        Some(_) | None => Object::new(),
    };
    let is_new = |id: &&String| !start.texts("done").any(|known| known == *id);
    Session {
        n_completed: workflow.done().iter().filter(is_new).count(),
        files: changed(desk, &start),
    }
}

/// Returns the paths whose content differs from the start of the resume.
fn changed(desk: Desk<'_>, start: &Object) -> Option<Vec<String>> {
    let before = start.object("files")?;
    let after = changes(desk, start.text("head")?)?;
    let mut paths: Vec<String> = Vec::new();
    for (path, content) in &after {
        if before.text(path) != Some(content) {
            paths.push(path.clone());
        }
    }
    // A file that equals the commit again was changed too.
    let restored = before.iter().filter(|(path, _)| !after.contains_key(*path));
    paths.extend(restored.map(|(path, _)| path.to_owned()));
    paths.sort();
    Some(paths)
}

/// Returns the files that differ from a commit and their contents, without files of MAP and rekindle.
fn changes(desk: Desk<'_>, base: &str) -> Option<BTreeMap<String, String>> {
    let base = base.to_owned();
    let answer = desk.git(&GitQuestion::Changes { base });
    let changes = answer.and_then(GitAnswer::changes).ok()?;
    let content = |change: &GitChange| {
        let entry = change.after.as_ref();
        let content = entry.map(|entry| format!("{} {}", entry.mode, entry.id));
        let content = content.unwrap_or_else(|| "-".to_owned());
        (change.path.to_string(), content)
    };
    let is_work = |(path, _): &(String, String)| !boundary::is_own(path);
    Some(changes.iter().map(content).filter(is_work).collect())
}
