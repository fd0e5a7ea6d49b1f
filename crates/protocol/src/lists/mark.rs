//! Marking: the bytes between the brackets of a task change, and no other byte of the file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rekindle_text::{Document, Edit, Span};

use crate::lists::format::Format;
use crate::lists::scan::Page;
use crate::lists::states::Standing;
use crate::lists::table::Claim;
use crate::lists::task::{Task, TaskFile};

/// Returns the file with a task marked as done, and each task above it of which it was the last open part.
///
/// `None` if the task cannot be found again with its title; what is marked already is not touched.
pub fn mark(format: &dyn Format, bytes: &[u8], id: &str, title: &str) -> Option<Vec<u8>> {
    let (marked, n_found) = mark_all(format, bytes, &BTreeMap::from([(id, title)]));
    (n_found == 1).then_some(marked)
}

/// Returns the file with tasks marked as done, by id and title, and how many of them were found.
pub fn mark_all(
    format: &dyn Format,
    bytes: &[u8],
    wanted: &BTreeMap<&str, &str>,
) -> (Vec<u8>, usize) {
    let document = Document::new(bytes.to_vec());
    let file = format.tasks(&Page::read(&document));
    let is_wanted = |task: &Task| wanted.get(task.id.as_str()) == Some(&task.title.as_str());
    let tasks = file.tasks.iter().enumerate();
    let found = tasks.filter(|(_, task)| is_wanted(task) && task.mark_at.is_some());
    let found: Vec<usize> = found.map(|(at, _)| at).collect();
    let done: BTreeSet<String> = found.iter().map(|at| file.tasks[*at].id.clone()).collect();
    let standing = Standing::of(format, &file, &done);
    let above = found.iter().flat_map(|task| parents(&file, *task));
    let is_finished = |parent: &usize| {
        !standing.is_work[*parent] && standing.mark_missing.binary_search(parent).is_ok()
    };
    let above: BTreeSet<usize> = above.filter(is_finished).collect();
    let open = found.iter().copied();
    let open = open.filter(|task| file.tasks[*task].claim != Claim::Done);
    let places: BTreeSet<usize> = open.chain(above).collect();
    let edits: Option<Vec<Edit>> = places
        .iter()
        .map(|task| edit(&document, &file.tasks[*task], format.done_mark()))
        .collect();
    let marked = edits.and_then(|edits| document.apply(&edits).ok());
    match marked {
        Some(marked) => (marked.into_bytes(), found.len()),
        None => (bytes.to_vec(), 0),
    }
}

/// Returns `theirs` with every mark as `base` has it; tasks that only one of them has stay as they are.
pub fn with_marks_of(format: &dyn Format, base: &[u8], theirs: &[u8]) -> Vec<u8> {
    let base = Document::new(base.to_vec());
    let document = Document::new(theirs.to_vec());
    let base_file = format.tasks(&Page::read(&base));
    let known: HashMap<&str, &Task> = base_file
        .tasks
        .iter()
        .map(|task| (task.id.as_str(), task))
        .collect();
    let file = format.tasks(&Page::read(&document));
    let edits = file.tasks.iter().filter_map(|task| {
        let before = known.get(task.id.as_str())?;
        let mark = base.slice(span(&base, before)?)?;
        let edit = edit_to(&document, task, mark)?;
        (edit.expected != edit.replacement).then_some(edit)
    });
    let edits: Vec<Edit> = edits.collect();
    document
        .apply(&edits)
        .map_or_else(|_| theirs.to_vec(), Document::into_bytes)
}

/// Returns the tasks above a task, the nearest first.
fn parents(file: &TaskFile, task: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(file.tasks[task].parent, |parent| file.tasks[*parent].parent)
}

fn edit(document: &Document, task: &Task, mark: &str) -> Option<Edit> {
    edit_to(document, task, mark.as_bytes())
}

fn edit_to(document: &Document, task: &Task, mark: &[u8]) -> Option<Edit> {
    Some(Edit::replace(document, span(document, task)?, mark))
}

/// Returns where the mark of a task is, if brackets are around it.
fn span(document: &Document, task: &Task) -> Option<Span> {
    let bytes = document.as_bytes();
    let start = task.mark_at?;
    let is_opened = bytes.get(start.checked_sub(1)?) == Some(&b'[');
    let rest = bytes.get(start..)?;
    let length = rest.iter().position(|byte| matches!(byte, b']' | b'\n'))?;
    (is_opened && rest[length] == b']').then(|| Span::new(start, start + length))
}
