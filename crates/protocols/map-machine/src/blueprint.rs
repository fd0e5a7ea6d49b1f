//! `blueprint.json`: the subtasks with their dependencies and files.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;

use super::desk::{Desk, Document};
use super::layout;
use super::reply::Fault;
use super::task_plan;

/// The dependencies of subtasks, in the blueprint's order.
pub type Dependencies = IndexMap<String, Vec<String>>;

/// Returns the unique ids of the subtasks at the top level; a wrapped blueprint has none.
pub fn ids(desk: Desk<'_>) -> Result<Vec<String>, Fault> {
    let Document::Value(Json::Object(body)) = desk.json(&desk.branch.file(layout::BLUEPRINT))?
    else {
        return Ok(Vec::new());
    };
    let ids = body.objects("subtasks").filter_map(|it| it.text("id"));
    let ids: IndexSet<&str> = ids.map(strip).filter(|id| task_plan::is_id(id)).collect();
    Ok(ids.into_iter().map(str::to_owned).collect())
}

/// Returns the ids of subtasks: of the blueprint, else of the plan's text.
pub(crate) fn planned_ids(desk: Desk<'_>, text: &str) -> Result<Vec<String>, Fault> {
    let ids = ids(desk)?;
    Ok(if ids.is_empty() {
        task_plan::listed_ids(text)
    } else {
        ids
    })
}

/// Returns the dependencies of all subtasks.
pub fn dependencies(desk: Desk<'_>) -> Result<Dependencies, Fault> {
    let subtasks = subtasks(desk)?;
    let pairs = subtasks.iter().filter_map(|subtask| {
        let needed = subtask.texts("dependencies").map(str::to_owned);
        Some((subtask.text("id")?.to_owned(), needed.collect()))
    });
    Ok(pairs.collect())
}

/// Returns the subtasks of the blueprint, wrapped or not; an unreadable blueprint has none.
pub fn subtasks(desk: Desk<'_>) -> Result<Vec<Object>, Fault> {
    let Document::Value(value) = desk.json(&desk.branch.file(layout::BLUEPRINT))? else {
        return Ok(Vec::new());
    };
    Ok(body(&value)?.objects("subtasks").cloned().collect())
}

/// Returns the titles of subtasks.
pub fn titles(desk: Desk<'_>) -> Result<BTreeMap<String, String>, Fault> {
    let subtasks = subtasks(desk)?;
    let titled = subtasks.iter().filter_map(|subtask| {
        let title = strip(subtask.text("title")?);
        let id = strip(subtask.text("id")?);
        (!title.is_empty()).then(|| (id.to_owned(), title.to_owned()))
    });
    Ok(titled.collect())
}

/// Returns the object with the subtasks: the whole, or the one under `blueprint`.
pub fn body(value: &Json) -> Result<&Object, Fault> {
    let Some(whole) = value.as_object() else {
        let kind = value.kind();
        return Err(Fault::new(format!(
            "blueprint.json holds {kind}, not an object"
        )));
    };
    Ok(whole.object("blueprint").unwrap_or(whole))
}

/// Sorts subtasks by dependencies, or returns the subtasks with circular dependencies.
///
/// A duplicate id without dependencies is kept; with dependencies it is an error without names.
pub(crate) fn sorted(
    ids: &[String],
    dependencies: &Dependencies,
) -> Result<Vec<String>, Vec<String>> {
    if dependencies.is_empty() {
        return Ok(ids.to_vec());
    }
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
    // The position of the first of equal ids, and the position of this one.
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

/// The dependencies and files of a subtask.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    pub(crate) needs: Vec<String>,
    pub(crate) files: BTreeSet<String>,
}

/// Returns subtasks in waves that can run in parallel because they change different files.
///
/// `None` for circular dependencies; as in MAP, a subtask that names itself or another one twice counts
/// as circular.
pub(crate) fn waves(nodes: &IndexMap<String, Node>) -> Option<Vec<Vec<String>>> {
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    let mut dependents: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (id, node) in nodes {
        let known = node.needs.iter();
        let known = known.filter(|needed| nodes.contains_key(*needed));
        waiting.insert(id, known.clone().count());
        for needed in known.filter(|needed| *needed != id) {
            dependents.entry(needed).or_default().insert(id);
        }
    }
    let free = waiting.iter().filter(|(_, count)| **count == 0);
    let mut wave: BTreeSet<&str> = free.map(|(id, _)| *id).collect();
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

/// Splits one level so that no wave has a file twice; a subtask without files is alone.
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
