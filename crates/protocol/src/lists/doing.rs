//! Which tasks the last session of a coding agent was working on.
//!
//! A session is about a list if it edited a file of the list, or if its last prompt is a command of the
//! format that names the list or can only mean this one. The entry of its to-do list that is in progress
//! names the tasks, or else the prompt does.

use std::collections::{BTreeMap, BTreeSet};

use crate::Doing;
use crate::lists::format::{Format, List};
use crate::lists::past;
use crate::lists::shelf::Shelf;
use crate::lists::task::Task;

/// Returns the tasks of each list that a session was working on, by the places of lists and tasks.
pub(crate) fn at_hand(
    format: &dyn Format,
    shelf: &Shelf,
    sessions: &[Doing],
) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut found = BTreeMap::new();
    for session in sessions {
        for at in lists_of(format, shelf, session) {
            // A newer session has said more of this list.
            found
                .entry(at)
                .or_insert_with(|| tasks_of(&shelf.lists[at], session));
        }
    }
    found
}

/// Returns the lists that a session is about.
fn lists_of(format: &dyn Format, shelf: &Shelf, session: &Doing) -> Vec<usize> {
    let lists = || shelf.lists.iter().enumerate();
    let is_touched = |list: &List| {
        let mut touched = session.touched.iter();
        touched.any(|path| path.starts_with(&list.folder))
    };
    let touched: Vec<usize> = lists()
        .filter(|(_, list)| is_touched(list))
        .map(|(at, _)| at)
        .collect();
    let prompt = session.prompt.as_deref().unwrap_or_default();
    let mut commands = format.commands().iter();
    if !touched.is_empty() || !commands.any(|command| prompt.starts_with(*command)) {
        return touched;
    }
    let is_named = |list: &List| prompt.split_whitespace().any(|word| word == list.name);
    let named = lists().filter(|(_, list)| is_named(list));
    let named: Vec<usize> = named.map(|(at, _)| at).collect();
    if !named.is_empty() {
        return named;
    }
    if let Some(current) = shelf.current {
        return vec![current];
    }
    let mut open = lists().filter(|(_, list)| !list.is_archived);
    match (open.next(), open.next()) {
        (Some((only, _)), None) => vec![only],
        (Some(_) | None, _) => Vec::new(),
    }
}

/// Returns the tasks that a session names.
fn tasks_of(list: &List, session: &Doing) -> BTreeSet<usize> {
    let texts = [session.step.as_deref(), session.prompt.as_deref()];
    let named = texts
        .into_iter()
        .flatten()
        .map(|text| named(&list.file.tasks, text));
    named
        .into_iter()
        .find(|tasks| !tasks.is_empty())
        .unwrap_or_default()
}

/// Returns the tasks whose id is a word of a text, or else those whose title the text is.
fn named(tasks: &[Task], text: &str) -> BTreeSet<usize> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '~');
    let words = text.split(|c| !is_part(c));
    let words: BTreeSet<&str> = words
        .map(|word| word.trim_end_matches(['.', '-']))
        .collect();
    // A lone number may count anything, unless it is where an id is.
    let is_number = |id: &str| id.bytes().all(|byte| byte.is_ascii_digit());
    let rest = text.trim_start();
    let rest = rest.strip_prefix("Task ").unwrap_or(rest);
    let begins = |id: &str| {
        let after = rest.strip_prefix(id);
        after.is_some_and(|after| after.starts_with(['.', ':', ')']) || after.is_empty())
    };
    let is_named = |task: &Task| {
        if is_number(&task.id) {
            begins(&task.id)
        } else {
            words.contains(task.id.as_str())
        }
    };
    let places = |is_it: &dyn Fn(&Task) -> bool| -> BTreeSet<usize> {
        let all = tasks.iter().enumerate();
        all.filter(|(_, task)| is_it(task))
            .map(|(at, _)| at)
            .collect()
    };
    let by_id = places(&is_named);
    if !by_id.is_empty() {
        return by_id;
    }
    places(&|task| past::is_same(text, &task.title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_named_by_its_id_or_by_its_whole_title() {
        let task = |id: &str, title: &str| Task {
            id: id.to_owned(),
            title: title.to_owned(),
            ..Task::unmarked(1)
        };
        let tasks = [
            task("T012", "Create the model in `a.py`"),
            task("T012b", "Test it"),
            task("1.2", "Parse dates"),
            task("3", "Retry"),
        ];
        for (text, expected) in [
            ("T012: create the model", &[0][..]),
            ("Implement T012, T012b", &[0, 1]),
            ("Working on 1.2.", &[2]),
            ("(1.2)", &[2]),
            ("1.20", &[]),
            ("Do 3 things", &[]),
            ("3. Retry", &[3]),
            ("Task 3: Retry", &[3]),
            ("Create the model in a.py", &[0]),
            ("Create", &[]),
            ("", &[]),
        ] {
            let found: Vec<usize> = named(&tasks, text).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
