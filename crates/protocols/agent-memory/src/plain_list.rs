//! A plan as people write it: tasks without ids, which are numbered.
//!
//! ```markdown
//! # Orders API
//!
//! - [ ] Add the endpoint
//!   - with pagination
//! - [x] Choose a framework
//! ```
//!
//! A plan has one form, the first of [`Form::ALL`] that any of its lines has. Lines below a task,
//! nested lists included, are its fields and its description. Code blocks, comments and front matter
//! begin nothing.

use std::collections::BTreeSet;

use rekindle_text::markdown::line::{check_box, list_item};
use rekindle_text::markdown::prose;

use super::task_graph::Task;
use super::task_list::{Listed, TaskList, without_needs};

/// How a plan marks its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `## Task 1: Add the endpoint`
    NamedHeading,
    /// `- [ ] Add the endpoint`
    Checkbox,
    /// `## 1. Add the endpoint`
    NumberedHeading,
    /// `1. Add the endpoint`
    NumberedItem,
}

impl Form {
    const ALL: [Self; 4] = [
        Self::NamedHeading,
        Self::Checkbox,
        Self::NumberedHeading,
        Self::NumberedItem,
    ];

    /// Returns the task that a line begins in this form.
    fn begun(self, line: &str) -> Option<Begun<'_>> {
        match self {
            Self::NamedHeading => {
                let (depth, text) = heading(line)?;
                let rest = ["Task", "Step"].iter().find_map(|name| {
                    let (word, rest) = text.split_at_checked(name.len())?;
                    word.eq_ignore_ascii_case(name).then_some(rest)
                })?;
                Begun::numbered(rest.strip_prefix(' ')?.trim_start(), depth)
            }
            Self::NumberedHeading => {
                let (depth, text) = heading(line)?;
                Begun::numbered(text, depth)
            }
            Self::Checkbox => {
                let found = check_box(line)?;
                let is_done = found.is_done()?;
                let (number, title) = outline_number(found.text);
                (!title.is_empty()).then_some(Begun {
                    number,
                    title,
                    is_done,
                    depth: found.indent,
                })
            }
            Self::NumberedItem => {
                let text = line.trim_start();
                let title = list_item(line).filter(|title| !title.is_empty())?;
                let is_numbered = text.starts_with(|c: char| c.is_ascii_digit());
                is_numbered.then_some(Begun {
                    number: None,
                    title,
                    is_done: false,
                    depth: line.len() - text.len(),
                })
            }
        }
    }

    const fn is_heading(self) -> bool {
        match self {
            Self::NamedHeading | Self::NumberedHeading => true,
            Self::Checkbox | Self::NumberedItem => false,
        }
    }
}

/// A task that a line begins.
struct Begun<'l> {
    /// The number that the plan itself gives it.
    number: Option<&'l str>,
    title: &'l str,
    is_done: bool,
    /// The level of a heading, or the indentation of a list item.
    depth: usize,
}

impl<'l> Begun<'l> {
    /// Reads `1: Add the endpoint`, `1. …`, `1) …` or `1 - …`.
    fn numbered(text: &'l str, depth: usize) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number = text.get(..end)?.trim_end_matches('.');
        let title = text.get(end..)?;
        let title = title
            .trim_start_matches([':', ')', '-', '–', '—', ' '])
            .trim();
        let is_number = number.starts_with(|c: char| c.is_ascii_digit());
        (is_number && !title.is_empty()).then_some(Self {
            number: Some(number),
            title,
            is_done: false,
            depth,
        })
    }
}

/// Splits `1.2 Add the endpoint` into the number of an outline and the rest.
fn outline_number(text: &str) -> (Option<&str>, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = word.trim_end_matches('.');
    let is_number = number.contains('.')
        && number
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_number {
        (Some(number), rest.trim())
    } else {
        (None, text)
    }
}

/// Returns the level and the text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = line.get(level..)?.strip_prefix(' ')?;
    (level > 0).then_some((level, text.trim().trim_end_matches('#').trim()))
}

/// Reads a plan none of whose tasks has an id.
pub(super) fn parse(text: &str) -> TaskList {
    let is_prose: BTreeSet<usize> = prose(text).map(|line| line.number).collect();
    let begun = |form: Form, (number, line): (usize, &str)| -> Option<usize> {
        let found = is_prose.contains(&number).then(|| form.begun(line))??;
        Some(found.depth)
    };
    let lines = || (1..).zip(text.lines());
    let form = Form::ALL.into_iter().find_map(|form| {
        // The outermost items are the tasks; what is nested belongs to them.
        let depths = lines().filter_map(|line| begun(form, line));
        Some((form, depths.min()?))
    });
    let Some((form, depth)) = form else {
        return TaskList::default();
    };
    let mut list = TaskList::default();
    let mut is_within = false;
    for (number, line) in lines() {
        let is_prose = is_prose.contains(&number);
        let found = form
            .begun(line)
            .filter(|begun| is_prose && begun.depth == depth);
        if let Some(begun) = found {
            let listed = listed(&begun, number, list.tasks.len() + 1);
            if begun.number.is_none() {
                list.counted.insert(listed.task.id.clone());
            }
            list.tasks.push(listed);
            is_within = true;
            continue;
        }
        if is_prose && let Some((level, text)) = heading(line) {
            let is_title = level == 1 && list.title.is_empty() && list.tasks.is_empty();
            if is_title {
                text.clone_into(&mut list.title);
            }
            // A deeper heading is a part of the task that has a heading.
            if !form.is_heading() || level <= depth {
                is_within = false;
                continue;
            }
        }
        if is_within && let Some(last) = list.tasks.last_mut() {
            let misspelt = last.take(line.trim(), !is_prose);
            list.misspelt
                .extend(misspelt.map(|key| (number as u64, key)));
        }
    }
    list.finish()
}

fn listed(begun: &Begun<'_>, line: usize, place: usize) -> Listed {
    let (title, needs) = without_needs(begun.title);
    Listed {
        task: Task {
            id: begun
                .number
                .map_or_else(|| place.to_string(), ToOwned::to_owned),
            title,
            skipped: begun.is_done,
            ..Task::default()
        },
        needs,
        line: line as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let list = parse(text);
        let tasks = list.tasks.iter().map(|listed| {
            let task = &listed.task;
            let done = if task.skipped { " done" } else { "" };
            format!(
                "{}: {} '{}' needs {:?} checks {:?} {:?}{done}",
                listed.line, task.id, task.title, listed.needs, task.checks, task.description
            )
        });
        let tasks: Vec<String> = tasks.collect();
        format!("{}\n{}", list.title, tasks.join("\n"))
    }

    #[test]
    fn checkboxes_are_numbered_and_nested_ones_belong_to_them() {
        insta::assert_snapshot!(shown("# Shop\n\nWhy.\n\n- [ ] Add login page\n  - [ ] with a form\n  - Verify: `make test`\n- [x] Choose a framework\n## Later\nprose\n* [ ] Add logout (depends: 1)\n```\n- [ ] code\n```\n<!--\n- [ ] comment\n-->\n"), @r#"
        Shop
        5: 1 'Add login page' needs [] checks ["make test"] "- [ ] with a form"
        8: 2 'Choose a framework' needs [] checks [] "" done
        11: 3 'Add logout' needs ["1"] checks [] "```\n- [ ] code\n```\n<!--\n- [ ] comment\n-->"
        "#);
    }

    #[test]
    fn numbered_items_are_tasks_where_there_are_no_checkboxes() {
        insta::assert_snapshot!(shown("1. Do one thing\n   - a part of it\n1. Do another\n   Depends on: 1\n"), @r#"

        1: 1 'Do one thing' needs [] checks [] "- a part of it"
        3: 2 'Do another' needs ["1"] checks [] ""
        "#);
    }

    #[test]
    fn named_headings_keep_their_numbers_and_come_before_lists() {
        insta::assert_snapshot!(shown("# Plan\n## Task 1: Add login\n- [ ] a step\n### Notes\nmore\n## Step 3 - Add logout\nDepends on: Task 1\n## Done when\n- [ ] it works\n"), @r#"
        Plan
        2: 1 'Add login' needs [] checks [] "- [ ] a step\n### Notes\nmore"
        6: 3 'Add logout' needs ["1"] checks [] ""
        "#);
        insta::assert_snapshot!(shown("## 1. Setup\n- [ ] 1.1 Make it\n- [ ] 1.2 Use it (needs: 1.1)\n"), @r#"

        2: 1.1 'Make it' needs [] checks [] ""
        3: 1.2 'Use it' needs ["1.1"] checks [] ""
        "#);
    }

    #[test]
    fn prose_and_plain_bullets_are_not_tasks() {
        for text in [
            "",
            "# Title\n\nprose\n",
            "- a\n- b\n",
            "- [P] legend\n- [ ]\n",
            "## Task\n",
        ] {
            assert_eq!(parse(text).tasks, [], "{text}");
        }
    }
}
