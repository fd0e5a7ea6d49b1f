//! Which entry of the task list counts where several speak of the same task.
//!
//! The highest sequence wins; without one, the later heartbeat; without one, the later in the
//! list. An entry that has what the other lacks is the newer one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::TaskFile;
use super::id::{GateId, TaskId};

/// Combines files: returns tasks, gates in order, and the ids of repeated tasks.
///
/// The result does not depend on the order of the files. Tasks of other steps, such as planning
/// and review, are ignored. A gate of an unknown wave comes last.
pub(crate) fn merge(
    mut files: Vec<TaskFile>,
) -> (BTreeMap<TaskId, TaskFile>, Vec<TaskFile>, Vec<TaskId>) {
    // The newest of a task comes first, so that whatever comes later does not count. Files that are
    // equal in all of this are entries of one list: there the later one must come first.
    files.reverse();
    files.sort_by_cached_key(|file| Reverse(rank(file)));
    let mut tasks: BTreeMap<TaskId, TaskFile> = BTreeMap::new();
    let mut duplicates = BTreeSet::new();
    let mut gates: BTreeMap<GateId, TaskFile> = BTreeMap::new();
    let mut nameless = Vec::new();
    for file in files {
        match (file.task_id(), file.gate_id()) {
            (Some(id), _) if tasks.contains_key(&id) => drop(duplicates.insert(id)),
            (Some(id), _) => drop(tasks.insert(id, file)),
            (None, Some(gate)) => drop(gates.entry(gate).or_insert(file)),
            (None, None) if file.is_gate => nameless.push(file),
            (None, None) => {}
        }
    }
    nameless.sort_by_cached_key(place);
    let gates = gates.into_values().chain(nameless).collect();
    (tasks, gates, duplicates.into_iter().collect())
}

type Rank = (Option<i64>, Option<Timestamp>, Place);
/// By number where the id is one.
type Place = (u64, String, String);

fn rank(file: &TaskFile) -> Rank {
    (file.sequence, file.heartbeat.at(), place(file))
}

fn place(file: &TaskFile) -> Place {
    let number = file.id.parse().unwrap_or(u64::MAX);
    (number, file.id.clone(), file.path.to_string())
}
