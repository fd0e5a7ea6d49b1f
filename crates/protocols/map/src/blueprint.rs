//! `blueprint.json`: the subtasks with what they depend on and which files they touch.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;

use super::desk::{Desk, Document};
use super::fault::Fault;
use super::layout;
use super::plan;

/// Subtasks and what each depends on, in the blueprint's order.
pub(crate) type Dependencies = IndexMap<String, Vec<String>>;

/// Returns the ids of the subtasks at the top of the blueprint, each once; a wrapped one has none.
pub(crate) fn ids(desk: Desk<'_>) -> Result<Vec<String>, Fault> {
    let Document::Value(Json::Object(body)) = desk.json(&desk.branch.file(layout::BLUEPRINT))?
    else {
        return Ok(Vec::new());
    };
    let subtasks = body.get("subtasks").and_then(Json::as_list);
    let ids: IndexSet<&str> = subtasks
        .unwrap_or_default()
        .iter()
        .filter_map(|subtask| subtask.as_object()?.text("id"))
        .map(strip)
        .filter(|id| plan::is_id(id))
        .collect();
    Ok(ids.into_iter().map(str::to_owned).collect())
}

/// Returns the ids of the subtasks of a plan: the blueprint's, else those that the text lists.
pub(crate) fn planned_ids(desk: Desk<'_>, text: &str) -> Result<Vec<String>, Fault> {
    let ids = ids(desk)?;
    Ok(if ids.is_empty() {
        plan::listed_ids(text)
    } else {
        ids
    })
}

/// Returns what the subtasks depend on; without a readable blueprint nothing does.
pub(crate) fn dependencies(desk: Desk<'_>) -> Result<Dependencies, Fault> {
    let Document::Value(value) = desk.json(&desk.branch.file(layout::BLUEPRINT))? else {
        return Ok(Dependencies::new());
    };
    let subtasks = body(&value)?.get("subtasks").and_then(Json::as_list);
    let mut dependencies = Dependencies::new();
    for subtask in subtasks.unwrap_or_default() {
        let Some(subtask) = subtask.as_object() else {
            continue;
        };
        let Some(id) = subtask.text("id") else {
            continue;
        };
        let needed = subtask.get("dependencies").and_then(Json::as_list);
        let needed = needed.unwrap_or_default().iter().filter_map(Json::as_text);
        dependencies.insert(id.to_owned(), needed.map(str::to_owned).collect());
    }
    Ok(dependencies)
}

/// Returns the subtasks as the blueprint has them, wrapped or not; without a readable one there are none.
pub(crate) fn subtasks(desk: Desk<'_>) -> Result<Vec<Object>, Fault> {
    let Document::Value(value) = desk.json(&desk.branch.file(layout::BLUEPRINT))? else {
        return Ok(Vec::new());
    };
    let subtasks = body(&value)?.get("subtasks").and_then(Json::as_list);
    let objects = subtasks.unwrap_or_default().iter();
    Ok(objects.filter_map(Json::as_object).cloned().collect())
}

/// Returns what the subtasks are called.
pub(crate) fn titles(desk: Desk<'_>) -> Result<BTreeMap<String, String>, Fault> {
    let subtasks = subtasks(desk)?;
    let titled = subtasks.iter().filter_map(|subtask| {
        let title = strip(subtask.text("title")?);
        let id = strip(subtask.text("id")?);
        (!title.is_empty()).then(|| (id.to_owned(), title.to_owned()))
    });
    Ok(titled.collect())
}

/// Returns the object that has the subtasks: the whole, or what it wraps under `blueprint`.
pub(crate) fn body(value: &Json) -> Result<&Object, Fault> {
    let Some(whole) = value.as_object() else {
        let kind = value.kind();
        return Err(Fault::new(format!(
            "blueprint.json holds {kind}, not an object"
        )));
    };
    let wrapped = whole.get("blueprint").and_then(Json::as_object);
    Ok(wrapped.unwrap_or(whole))
}

/// Sorts subtasks so that each follows what it depends on, and otherwise stays where it was.
///
/// Gives the subtasks that wait for each other in a circle. An id that is named twice comes out
/// twice if it waits for nothing; otherwise it can not be sorted, and no circle is named.
pub(crate) fn sorted(
    ids: &[String],
    dependencies: &Dependencies,
) -> Result<Vec<String>, Vec<String>> {
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, id) in ids.iter().enumerate() {
        place.entry(id).or_insert(at);
    }
    let mut waiting: BTreeMap<usize, isize> = BTreeMap::new();
    let mut dependents: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for id in ids {
        let Some(&mine) = place.get(id.as_str()) else {
            continue;
        };
        let needed = dependencies.get(id).into_iter().flatten();
        for other in needed.filter(|needed| *needed != id) {
            if let Some(&other) = place.get(other.as_str()) {
                *waiting.entry(mine).or_default() += 1;
                dependents.entry(other).or_default().push(mine);
            }
        }
    }
    // The place of the first of equal ids, and which of them it is.
    let mut ready: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (nth, id) in ids.iter().enumerate() {
        let first = place.get(id.as_str()).copied().unwrap_or(nth);
        if waiting.get(&first).copied().unwrap_or_default() == 0 {
            ready.insert((first, nth));
        }
    }
    let mut sorted: Vec<String> = Vec::new();
    while let Some((first, _)) = ready.pop_first() {
        sorted.push(ids[first].clone());
        for dependent in dependents.get(&first).into_iter().flatten() {
            let left = waiting.entry(*dependent).or_default();
            *left -= 1;
            if *left == 0 {
                ready.insert((*dependent, *dependent));
            }
        }
    }
    if sorted.len() == ids.len() {
        return Ok(sorted);
    }
    let emitted: BTreeSet<&String> = sorted.iter().collect();
    let stuck = ids.iter().filter(|id| !emitted.contains(id));
    Err(stuck.cloned().collect())
}

/// A subtask as waves are made of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    pub(crate) needs: Vec<String>,
    pub(crate) files: BTreeSet<String>,
}

/// Returns subtasks in waves: what can run side by side without touching the same file.
///
/// `None` when some wait for each other; a subtask that names itself or another one twice counts as
/// such, as it does for the peer.
pub(crate) fn waves(nodes: &IndexMap<String, Node>) -> Option<Vec<Vec<String>>> {
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    let mut dependents: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (id, node) in nodes {
        let known = node
            .needs
            .iter()
            .filter(|needed| nodes.contains_key(*needed));
        waiting.insert(id, known.clone().count());
        for needed in known.filter(|needed| *needed != id) {
            dependents.entry(needed).or_default().insert(id);
        }
    }
    let mut wave: BTreeSet<&str> = waiting
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(id, _)| *id)
        .collect();
    let mut waves = Vec::new();
    let mut placed = 0;
    while !wave.is_empty() {
        placed += wave.len();
        waves.extend(apart(&wave, nodes));
        let mut next = BTreeSet::new();
        for dependent in wave.iter().filter_map(|id| dependents.get(id)).flatten() {
            if let Some(count) = waiting.get_mut(dependent) {
                *count -= 1;
                if *count == 0 {
                    next.insert(*dependent);
                }
            }
        }
        wave = next;
    }
    (placed == nodes.len()).then_some(waves)
}

/// Splits one level so that no two of a wave share a file; without files a subtask stands alone.
fn apart(level: &BTreeSet<&str>, nodes: &IndexMap<String, Node>) -> Vec<Vec<String>> {
    if level.len() == 1 {
        return vec![level.iter().map(|id| (*id).to_owned()).collect()];
    }
    let mut waves: Vec<(Vec<String>, BTreeSet<&str>)> = Vec::new();
    for id in level {
        let files = nodes.get(*id).map(|node| &node.files);
        let files: BTreeSet<&str> = files.into_iter().flatten().map(String::as_str).collect();
        let free = waves
            .iter_mut()
            .find(|(_, taken)| !files.is_empty() && !taken.is_empty() && taken.is_disjoint(&files));
        match free {
            Some((wave, taken)) => {
                wave.push((*id).to_owned());
                taken.extend(files);
            }
            None => waves.push((vec![(*id).to_owned()], files)),
        }
    }
    waves.into_iter().map(|(wave, _)| wave).collect()
}

#[cfg(test)]
#[path = "blueprint_tests.rs"]
mod tests;
