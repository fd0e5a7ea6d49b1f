//! Marking: the bytes between the brackets of a task change, and no other byte of the file.

use std::collections::{BTreeSet, HashMap};

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
    let document = Document::new(bytes.to_vec());
    let file = format.tasks(&Page::read(&document));
    let task = file.tasks.iter().position(|task| task.id == id)?;
    if file.tasks[task].title != title {
        return None;
    }
    let mut edits = Vec::new();
    if file.tasks[task].claim != Claim::Done {
        edits.push(edit(&document, &file.tasks[task], format.done_mark())?);
    }
    let standing = Standing::of(format, &file, &BTreeSet::from([id.to_owned()]));
    let above = parents(&file, task).filter(|parent| !standing.is_work[*parent]);
    for parent in above {
        if standing.mark_missing.binary_search(&parent).is_ok() {
            edits.extend(edit(&document, &file.tasks[parent], format.done_mark()));
        }
    }
    Some(document.apply(&edits).ok()?.into_bytes())
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
