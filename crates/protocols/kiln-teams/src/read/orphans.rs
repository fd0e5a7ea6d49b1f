//! Orphans: entries of the folder of worktrees that belong to no task.
//!
//! Each is recorded once in our own log of the workflow, with the time when it was first seen.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Code, Finding, Place};
use rekindle_text::parse_instant;
use rekindle_world::GitWorktree;
use serde_json::{Value, json};

use super::{LARGEST, Phase, Reader, shown};
use crate::layout;
use crate::task_list::TaskId;

/// An entry of the folder of worktrees that belongs to no task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Orphan {
    /// Its name in the folder.
    pub(crate) name: String,
    pub(crate) path: Utf8PathBuf,
    /// Why it counts as orphaned.
    pub(crate) why: &'static str,
    /// The task whose worktree it was, by its name.
    pub(crate) task: Option<TaskId>,
    /// When it was first seen, if that is recorded.
    pub(crate) since: Option<Timestamp>,
}

impl Orphan {
    /// Returns the line that records it.
    pub(crate) fn record(&self, at: Timestamp) -> String {
        json!({
            "path": self.path.as_str(),
            "first_seen": rekindle_text::format_seconds(at),
            "why": self.why,
            "task": self.task.map(|task| task.to_string()),
        })
        .to_string()
    }
}

impl Reader<'_> {
    /// Lists entries of the folder of worktrees that are not a sound worktree of a task.
    pub(super) fn orphans(
        &mut self,
        phase: &mut Phase,
        trees: &BTreeMap<Utf8PathBuf, GitWorktree>,
    ) {
        let Ok(entries) = self.world.list(&phase.root) else {
            return;
        };
        let sound: BTreeSet<&Utf8Path> = phase
            .tasks
            .values()
            .filter(|task| task.tree.is_some())
            .map(|task| task.worktree.as_path())
            .collect();
        let recorded = self.recorded_orphans(phase.number);
        let mut orphans = Vec::new();
        for entry in entries {
            let path = phase.root.join(&entry.name);
            if sound.contains(path.as_path()) {
                continue;
            }
            let why = if trees.contains_key(&path) {
                "a worktree of no task of this phase"
            } else {
                "not a worktree of a task"
            };
            let since = recorded.get(&path).copied();
            let known = since.map_or_else(String::new, |since| {
                format!(" (first seen {})", rekindle_text::format_seconds(since))
            });
            let message = format!(
                "`{}` is {why}; it is not touched{known}",
                shown(&entry.name)
            );
            self.notice(Finding::new(Code::Orphaned, message).at(Place::path(path.clone())));
            orphans.push(Orphan {
                task: TaskId::parse_slug(&entry.name),
                name: entry.name,
                path,
                why,
                since,
            });
        }
        phase.orphans = orphans;
    }

    /// Returns when each orphan was first seen, by the first line about it.
    fn recorded_orphans(&self, phase: u32) -> BTreeMap<Utf8PathBuf, Timestamp> {
        let log = self.world.project().join(layout::orphan_log(phase));
        let bytes = self.world.read(&log, LARGEST).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut seen = BTreeMap::new();
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let path = line.get("path").and_then(Value::as_str);
            let at = line.get("first_seen").and_then(Value::as_str);
            if let (Some(path), Some(at)) = (path, at.and_then(parse_instant)) {
                seen.entry(Utf8PathBuf::from(path)).or_insert(at);
            }
        }
        seen
    }
}
