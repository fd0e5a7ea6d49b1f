//! What a worker changed, and whether it can be put on main: paths, collisions, contents.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_world::{GitChange, GitEntry, GitPath};
use serde_json::Value;

use super::layout;
use super::task_list::TaskId;

/// The paths that a worktree changed since its base, each with its content before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Touched(pub(super) BTreeMap<GitPath, Sides>);

/// The content of a path before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) before: Option<GitEntry>,
    pub(super) after: Option<GitEntry>,
}

impl Touched {
    /// Splits a move into a deletion and an addition, and drops files that are not work.
    pub(super) fn of(changes: &[GitChange]) -> Self {
        let mut touched = BTreeMap::new();
        for change in changes {
            let moved = change.from.clone().map(|from| {
                let (before, after) = (change.before.clone(), None);
                (from, Sides { before, after })
            });
            let before = change.before.clone().filter(|_| moved.is_none());
            let after = change.after.clone();
            let here = (change.path.clone(), Sides { before, after });
            touched.extend(moved.into_iter().chain([here]));
        }
        touched.retain(|path, _| !layout::is_left_out(path));
        Self(touched)
    }

    /// Returns whether a path equals one of the others, or is a folder above or below one.
    pub(super) fn meets(&self, others: &Self) -> bool {
        let above = |path: &GitPath, others: &Self| {
            folders_above(path).any(|folder| others.0.contains_key(&folder))
        };
        self.0
            .keys()
            .any(|path| others.0.contains_key(path) || above(path, others))
            || others.0.keys().any(|path| above(path, self))
    }

    /// Returns the content of a path after these changes; `otherwise` is its content without them.
    fn at<'e>(&'e self, path: &GitPath, otherwise: Option<&'e GitEntry>) -> Option<&'e GitEntry> {
        self.0
            .get(path)
            .map_or(otherwise, |sides| sides.after.as_ref())
    }
}

/// Returns the paths of a worker's `changed_ops.json`, or why they cannot be read.
pub(super) fn reported(bytes: &[u8]) -> Result<BTreeSet<GitPath>, String> {
    let operations: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Array(operations) = operations else {
        return Err("it is not a list".to_owned());
    };
    let mut paths = BTreeSet::new();
    for operation in &operations {
        let named = ["path", "from_path"]
            .into_iter()
            .filter_map(|key| operation.get(key))
            .filter(|value| !value.is_null());
        let before = paths.len();
        let mut n_named = 0;
        for value in named {
            let text = value.as_str().ok_or("a path in it is not a text")?;
            paths.insert(
                normalized(text).ok_or_else(|| format!("`{text}` is not a path in the project"))?,
            );
            n_named += 1;
        }
        if n_named == 0 && before == paths.len() {
            return Err("an operation in it has no path".to_owned());
        }
    }
    paths.retain(|path| !layout::is_left_out(path));
    Ok(paths)
}

/// Returns a path as git writes it; `None` if it is absolute or leaves the project.
fn normalized(text: &str) -> Option<GitPath> {
    if text.starts_with('/') || text.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| GitPath::new(parts.join("/")))
}

/// What the project has, against which a copy-back is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Main {
    /// HEAD against the wave's base.
    pub(super) committed: Touched,
    /// The files in the project against HEAD.
    pub(super) files: Touched,
    /// The index against HEAD.
    pub(super) staged: Touched,
}

impl Main {
    /// Returns a path that holds neither what the base had nor what the worker made.
    ///
    /// `explained` are paths that a peer's landed work accounts for: those are collisions, not strangers.
    pub(super) fn stranger<'t>(
        &self,
        touched: &'t Touched,
        explained: &BTreeSet<GitPath>,
    ) -> Option<&'t GitPath> {
        let found = touched.0.iter().find(|(path, sides)| {
            if explained.contains(*path) {
                return false;
            }
            let (before, after) = (sides.before.as_ref(), sides.after.as_ref());
            let head = self.committed.at(path, before);
            let held = [self.files.at(path, head), self.staged.at(path, head), head];
            held.iter().any(|entry| *entry != before && *entry != after)
        });
        found.map(|(path, _)| path)
    }
}

/// Two or more tasks that would write to the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Collision {
    pub(super) path: GitPath,
    pub(super) tasks: Vec<TaskId>,
}

/// Finds every path that more than one task touches; a file and a path below it are the same place.
pub(super) fn collisions(wave: &[(TaskId, BTreeSet<GitPath>)]) -> Vec<Collision> {
    let mut owners: BTreeMap<&GitPath, BTreeSet<&TaskId>> = BTreeMap::new();
    for (task, paths) in wave {
        for path in paths {
            owners.entry(path).or_default().insert(task);
        }
    }
    let mut found: BTreeMap<&GitPath, BTreeSet<&TaskId>> = BTreeMap::new();
    for (path, tasks) in &owners {
        if tasks.len() > 1 {
            found
                .entry(*path)
                .or_default()
                .extend(tasks.iter().copied());
        }
        for above in folders_above(path) {
            let Some((above, others)) = owners.get_key_value(&above) else {
                continue;
            };
            // One task can turn a file of its own into a folder.
            if others.union(tasks).count() > 1 {
                let both = found.entry(*above).or_default();
                both.extend(others.iter().copied());
                both.extend(tasks.iter().copied());
            }
        }
    }
    found
        .into_iter()
        .map(|(path, tasks)| Collision {
            path: path.clone(),
            tasks: tasks.into_iter().copied().collect(),
        })
        .collect()
}

fn folders_above(path: &GitPath) -> impl Iterator<Item = GitPath> {
    let bytes = path.as_bytes();
    let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| GitPath::new(&bytes[..at]))
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
