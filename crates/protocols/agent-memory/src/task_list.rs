//! A plan as a Markdown list of tasks: headings or checkboxes with ids.
//!
//! ```markdown
//! # Orders API
//!
//! ## T001: Add the endpoint
//! Depends on: T000
//! Files: src/api.rs, src/lib.rs
//! Verify: `cargo test`
//!
//! The description, in prose.
//!
//! - [ ] T002 Document it
//!   - depends: T001
//!   - verify: `mdbook test`
//! 1. [ ] T003 Announce it (depends: T002)
//! ```
//!
//! A task is a heading of level 2 or deeper, or a checkbox at the left edge, whose first word is an
//! id: letters with a digit. Lines `key: value` below it are its fields, other lines its
//! description. A checkbox without an id is reported. Where no task has an id, [`plain_list`] reads
//! the plan.

use std::collections::BTreeSet;

use rekindle_text::markdown::line::{self, check_box, is_id};

use super::plain_list;
use super::task_graph::{Task, is_yes};

/// A task with its dependencies and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) task: Task,
    pub(super) needs: Vec<String>,
    /// The 1-based line.
    pub(super) line: u64,
}

/// The tasks of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskList {
    pub(super) title: String,
    pub(super) tasks: Vec<Listed>,
    /// The 1-based lines of open checkboxes that look like tasks and have no id.
    pub(super) without_id: Vec<u64>,
    /// The ids that only count the tasks, which the plan does not give itself.
    pub(super) counted: BTreeSet<String>,
    /// The 1-based lines of keys that are probably misspelt.
    pub(super) misspelt: Vec<(u64, Misspelt)>,
}

/// A key that no field has, and the one that was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misspelt {
    pub(super) key: String,
    pub(super) meant: &'static str,
}

impl TaskList {
    /// Takes blanks off the descriptions, which were put together line by line.
    pub(super) fn finish(mut self) -> Self {
        for listed in &mut self.tasks {
            listed.task.description = listed.task.description.trim().to_owned();
        }
        self
    }
}

/// What the current lines belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    /// A task with a heading: checkboxes below it are its own list.
    Heading,
    /// A task that is a checkbox: checkboxes next to it are tasks too.
    Checkbox,
}

/// Reads a list; lines that belong to no task are passed over.
pub(super) fn parse(text: &str) -> TaskList {
    let list = parse_with_ids(text);
    if list.tasks.is_empty() {
        plain_list::parse(text)
    } else {
        list
    }
}

fn parse_with_ids(text: &str) -> TaskList {
    let mut list = TaskList::default();
    let mut in_fence = false;
    let mut within = Within::Nothing;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_fence = !in_fence;
        }
        if !in_fence && let Some(begun) = beginning(line) {
            match begun {
                Beginning::Title(title) => {
                    if list.title.is_empty() && list.tasks.is_empty() {
                        title.clone_into(&mut list.title);
                    }
                    within = Within::Nothing;
                }
                Beginning::Section => within = Within::Nothing,
                Beginning::Task {
                    id,
                    title,
                    done,
                    by,
                } => {
                    within = by;
                    let (title, needs) = without_needs(title);
                    list.tasks.push(Listed {
                        task: Task {
                            id: id.to_owned(),
                            title,
                            skipped: done,
                            ..Task::default()
                        },
                        needs,
                        line: number,
                    });
                }
            }
            continue;
        }
        if !in_fence && within != Within::Heading && is_open_checkbox(line) {
            list.without_id.push(number);
        }
        if let Some(listed) = list.tasks.last_mut().filter(|_| within != Within::Nothing) {
            let misspelt = listed.take(trimmed, in_fence);
            list.misspelt.extend(misspelt.map(|key| (number, key)));
        }
    }
    list.finish()
}

enum Beginning<'l> {
    Title(&'l str),
    /// A heading without a task.
    Section,
    Task {
        id: &'l str,
        title: &'l str,
        done: bool,
        by: Within,
    },
}

fn beginning(line: &str) -> Option<Beginning<'_>> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    if level > 0 {
        let text = line
            .get(level..)?
            .strip_prefix(' ')?
            .trim()
            .trim_end_matches('#')
            .trim();
        let text = text
            .strip_prefix("Task ")
            .or_else(|| text.strip_prefix("Task:"))
            .unwrap_or(text)
            .trim();
        return match (level, id_and_title(text)) {
            (2.., Some((id, title))) => Some(Beginning::Task {
                id,
                title,
                done: false,
                by: Within::Heading,
            }),
            (1, _) => Some(Beginning::Title(text)),
            (_, _) => Some(Beginning::Section),
        };
    }
    let (done, text) = checkbox(line)?;
    let (id, title) = id_and_title(text)?;
    Some(Beginning::Task {
        id,
        title,
        done,
        by: Within::Checkbox,
    })
}

/// Returns whether a checkbox at the left edge is ticked, and its text.
fn checkbox(line: &str) -> Option<(bool, &str)> {
    let found = check_box(line).filter(|found| found.indent == 0)?;
    Some((found.is_done()?, found.text))
}

fn is_open_checkbox(line: &str) -> bool {
    matches!(checkbox(line), Some((false, text)) if !text.is_empty())
}

/// Takes `(depends: T001, T002)` out of a title, and returns the ids in it.
pub(super) fn without_needs(title: &str) -> (String, Vec<String>) {
    for (open, _) in title.match_indices('(') {
        let (before, rest) = title.split_at(open);
        let Some((inside, after)) = rest.split_once(')') else {
            break;
        };
        let (key, value) = inside
            .trim_start_matches('(')
            .split_once(':')
            .unwrap_or_default();
        if is_needs(key) {
            let title = format!("{} {}", before.trim_end(), after.trim_start());
            return (title.trim().to_owned(), ids(value));
        }
    }
    (title.to_owned(), Vec::new())
}

/// Returns whether a key means dependencies.
fn is_needs(key: &str) -> bool {
    let names = ["depends on", "depends", "dependencies", "needs"];
    names
        .iter()
        .any(|name| key.trim().eq_ignore_ascii_case(name))
}

fn ids(value: &str) -> Vec<String> {
    let mut ids = words(value);
    // `Task 1` means the task with the number 1.
    let is_id = |id: &String| {
        let words = ["none", "task", "step"];
        !words.iter().any(|word| id.eq_ignore_ascii_case(word))
    };
    ids.retain(is_id);
    ids
}

/// Splits `**T001**: Title` into its id and title.
fn id_and_title(text: &str) -> Option<(&str, &str)> {
    let (id, title) = line::id_and_title(text);
    is_id(id).then_some((id, title))
}

/// No key is longer.
const LONGEST_KEY: usize = 24;
/// The keys of fields in lower case.
const KEYS: &[&str] = &[
    "accept",
    "acceptance",
    "acceptance criteria",
    "allow empty",
    "allow-empty",
    "allowed files",
    "check",
    "dependencies",
    "depends",
    "depends on",
    "files",
    "files affected",
    "needs",
    "verification",
    "verify",
];

/// Returns the key that was probably meant by one that no field has.
fn meant(key: &str) -> Option<&'static str> {
    let key = key.trim().to_lowercase();
    if KEYS.contains(&key.as_str()) {
        return None;
    }
    let near = KEYS.iter().filter_map(|known| {
        let most = if known.len() > 5 { 2 } else { 1 };
        let away = distance(known, &key);
        let is_near = known.chars().next() == key.chars().next() && away <= most;
        is_near.then_some((away, *known))
    });
    near.min().map(|(_, known)| known)
}

/// Returns how many letters have to be added, removed, changed or swapped with a neighbor.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (rows[i][j] + usize::from(a != b))
                .min(rows[i][j + 1] + 1)
                .min(row[j] + 1);
            let is_swap = i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b;
            if is_swap {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

impl Listed {
    /// Takes a line below the task; returns its key if that is probably misspelt.
    pub(super) fn take(&mut self, line: &str, in_fence: bool) -> Option<Misspelt> {
        let field = line.trim_start_matches(['-', '*', ' ']).replace("**", "");
        let (key, value) = field.split_once(':').unwrap_or(("", ""));
        let known = !in_fence
            && match key.trim().to_ascii_lowercase().as_str() {
                key if is_needs(key) => {
                    self.needs.extend(ids(value));
                    true
                }
                "files" | "files affected" | "allowed files" => {
                    self.task.files.extend(words(value));
                    true
                }
                "verify" | "verification" | "check" => {
                    let command = value.trim().trim_matches('`').trim();
                    self.task
                        .checks
                        .extend((!command.is_empty()).then(|| command.to_owned()));
                    true
                }
                "allow-empty" | "allow empty" => {
                    self.task.may_be_empty = is_yes(value);
                    true
                }
                "accept" | "acceptance" | "acceptance criteria" if !value.trim().is_empty() => {
                    self.task.acceptance.push(value.trim().to_owned());
                    true
                }
                _ => false,
            };
        if known {
            return None;
        }
        self.task.description.push_str(line);
        self.task.description.push('\n');
        let is_key = !in_fence && !key.is_empty() && key.len() <= LONGEST_KEY;
        let meant = is_key.then(|| meant(key))??;
        Some(Misspelt {
            key: key.trim().to_owned(),
            meant,
        })
    }
}

fn words(value: &str) -> Vec<String> {
    let trim = |word: &str| word.trim_matches(['`', '[', ']', '.', ' ']).to_owned();
    value
        .split([',', ' '])
        .map(trim)
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let list = parse(text);
        let tasks: Vec<String> = list
            .tasks
            .iter()
            .map(|listed| {
                let Task { id, title, files, checks, description, skipped, .. } = &listed.task;
                format!(
                    "{}: {id} '{title}' needs {:?} files {files:?} checks {checks:?} {description:?}{}",
                    listed.line,
                    listed.needs,
                    if *skipped { " done" } else { "" }
                )
            })
            .collect();
        format!("{}\n{}", list.title, tasks.join("\n"))
    }

    #[test]
    fn headings_and_checkboxes_become_tasks_with_their_fields() {
        insta::assert_snapshot!(shown("# Orders\n\nprose\n\n## T001: Add it\nDepends on: none\n**Files:** `a.rs`, b.rs\nVerify: `cargo test`\n\nDo it well.\n\n### Task T002 - Second\n- depends on: T001\n\n- [ ] **T003** Third\n  - needs: T001, T002\n- [x] T004 Old\n- [P] legend\n## Notes\nnot a task\n"), @r#"
        Orders
        5: T001 'Add it' needs [] files ["a.rs", "b.rs"] checks ["cargo test"] "Do it well."
        12: T002 'Second' needs ["T001"] files [] checks [] ""
        15: T003 'Third' needs ["T001", "T002"] files [] checks [] ""
        17: T004 'Old' needs [] files [] checks [] "- [P] legend" done
        "#);
    }

    #[test]
    fn reads_numbered_checkboxes_and_dependencies_in_titles() {
        insta::assert_snapshot!(shown("1. [ ] T001 First (quick)\n2) [x] T002 Second\n+ [ ] T003 Third (Depends on: T001, `T002`) now\n10. [ ] T004 Last (needs: none)\n1. T005 no checkbox\n"), @r#"

        1: T001 'First (quick)' needs [] files [] checks [] ""
        2: T002 'Second' needs [] files [] checks [] "" done
        3: T003 'Third now' needs ["T001", "T002"] files [] checks [] ""
        4: T004 'Last' needs [] files [] checks [] "1. T005 no checkbox"
        "#);
    }

    #[test]
    fn reports_open_checkboxes_without_an_id() {
        for (text, lines) in [
            (
                "- [ ] T1 a\n- [ ] b\n  - [ ] part of b\n1. [ ] c\n",
                &[2, 4][..],
            ),
            ("## Done when\n- [ ] it works\n## T1: a\n", &[2]),
            ("## T1: a\n- [ ] its own list\n# Next\n- [ ] other\n", &[4]),
            (
                "- [x] old\n- [ ]\n- [P] legend\n- [link](x)\n- [ ] T1 a\n",
                &[],
            ),
            ("```\n- [ ] code\n```\n- [ ] T1 a\n", &[]),
        ] {
            assert_eq!(parse(text).without_id, lines, "{text}");
        }
    }

    #[test]
    fn a_misspelt_key_is_reported_with_the_one_that_was_meant() {
        for (line, meant) in [
            ("Verfy: `make`", Some("verify")),
            ("- verifiy: `make`", Some("verify")),
            ("**Dependson:** T0", Some("depends on")),
            ("Depnds: T0", Some("depends")),
            ("Flies: a.rs", Some("files")),
            ("Verify: `make`", None),
            ("Acceptance:", None),
            ("Note: it is small", None),
            ("Example: a", None),
            ("Vary: Accept", None),
            ("see https://example.org", None),
        ] {
            let list = parse(&format!("## T1: a\n{line}\n"));
            let found = list.misspelt.first().map(|(at, key)| (*at, key.meant));
            assert_eq!(found, meant.map(|meant| (2, meant)), "{line}");
            let plain = parse(&format!("- [ ] a\n  {line}\n"));
            assert_eq!(plain.misspelt.len(), list.misspelt.len(), "{line}");
        }
        assert_eq!(parse("## T1: a\n```\nVerfy: x\n```\n").misspelt, []);
    }

    #[test]
    fn a_task_may_be_allowed_to_change_nothing() {
        for (line, expected) in [
            ("Allow-Empty: yes", true),
            ("- **allow empty**: `true`", true),
            ("Allow-Empty: no", false),
            ("Verify: `make`", false),
        ] {
            let of = |text: &str| parse(text).tasks[0].task.may_be_empty;
            assert_eq!(of(&format!("## T1: a\n{line}\n")), expected, "{line}");
            assert_eq!(of(&format!("- [ ] a\n  {line}\n")), expected, "{line}");
        }
        let misspelt = parse("## T1: a\nAllow-Emtpy: yes\n").misspelt;
        assert_eq!(misspelt[0].1.meant, "allow-empty");
    }

    #[test]
    fn ignores_tasks_in_code_blocks() {
        assert_eq!(parse("```\n## T001: no\n```\n").tasks, []);
    }
}
