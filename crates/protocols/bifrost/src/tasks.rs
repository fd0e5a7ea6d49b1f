//! tasks.md: the tasks of a feature and their states.
//!
//! Three forms are in use: headings with a `**Status**:` line, headings with a box (`### T001
//! [✅]:`), and a list of boxes. In a file with headings the boxes are a checklist and do not count.

use rekindle_text::markdown::line::{bold_field, check_box};
use rekindle_text::markdown::{Page, Section};
use rekindle_text::{Heading, Line, headings};

use super::next::range;
use super::phase::{task_id, task_ids};

/// The tasks of a feature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tasks {
    /// In the order of the file.
    pub(super) all: Vec<Task>,
    /// The names of the groups that have tasks, in the order of the file.
    pub(super) groups: Vec<String>,
    /// The number of tasks that the file declares.
    pub(super) declared: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) state: State,
    /// The 1-based line.
    pub(super) line: usize,
    /// The index of its group.
    pub(super) group: Option<usize>,
    /// The text of its dependencies.
    depends_on: String,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Open,
    InProgress,
    Done,
    NotNeeded,
}

impl State {
    /// Returns its name.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in progress",
            Self::Done => "complete",
            Self::NotNeeded => "not needed",
        }
    }

    /// Reads the value of a `**Status**:` line.
    fn of_status(text: &str) -> Self {
        let text = text.trim().to_lowercase();
        let words = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        if text.contains("not needed") {
            Self::NotNeeded
        } else if words.starts_with("in progress") || words.starts_with("in_progress") {
            Self::InProgress
        } else if words.starts_with("complete") || words.starts_with("done") || text.contains('✅')
        {
            Self::Done
        } else {
            Self::Open
        }
    }

    /// Reads the content of a box; an unknown symbol means open.
    fn of_box(text: &str) -> Self {
        match text.trim().trim_end_matches('\u{fe0f}') {
            "x" | "X" | "✅" | "✓" => Self::Done,
            "❌" => Self::NotNeeded,
            _ => Self::Open,
        }
    }

    /// Returns whether nothing is left to do.
    pub(super) const fn is_settled(self) -> bool {
        match self {
            Self::Done | Self::NotNeeded => true,
            Self::Open | Self::InProgress => false,
        }
    }
}

impl Tasks {
    /// Reads any text.
    pub(super) fn parse(text: &str) -> Self {
        let page = Page::new(text);
        let lines: Vec<(Line, &str)> = page.lines().collect();
        let declared = labeled(&lines, "Total Tasks").and_then(first_number);
        let by_headings: Vec<Task> = page
            .sections_until(|_, title| task_heading(title).is_some())
            .filter_map(|section| from_section(&section, &lines))
            .collect();
        let all = if by_headings.is_empty() {
            let boxes = lines.iter().filter_map(|(line, text)| {
                let (id, title, state) = box_line(text)?;
                let depends_on = title.split_once("depends on").map(|(_, named)| named);
                Some(Task {
                    depends_on: depends_on.unwrap_or_default().to_owned(),
                    id,
                    title,
                    state,
                    line: line.number,
                    group: None,
                })
            });
            boxes.collect()
        } else {
            by_headings
        };
        let mut tasks = Self {
            all,
            groups: Vec::new(),
            declared,
        };
        tasks.find_groups(text);
        tasks
    }

    /// Puts every task into the group of the heading above it.
    fn find_groups(&mut self, text: &str) {
        let words = |heading: &Heading| heading.title(text);
        let all = headings(text);
        let above: Vec<&Heading> = all
            .iter()
            .filter(|heading| heading.level > 1 && task_heading(words(heading)).is_none())
            .collect();
        for task in &mut self.all {
            let own = all.iter().find(|heading| heading.line == task.line);
            // A deeper heading belongs to the task above it.
            let most = own.map_or(u8::MAX, |own| own.level);
            let before = above.partition_point(|heading| heading.line < task.line);
            let found = above.get(..before).unwrap_or_default().iter();
            let Some(found) = found.rev().find(|heading| heading.level <= most) else {
                continue;
            };
            let name = group_name(words(found));
            let known = self.groups.iter().position(|group| *group == name);
            task.group = Some(known.unwrap_or(self.groups.len()));
            if known.is_none() {
                self.groups.push(name);
            }
        }
    }

    /// Returns the tasks of a group, or those without a group.
    pub(super) fn of_group(&self, group: Option<usize>) -> impl Iterator<Item = &Task> {
        self.all.iter().filter(move |task| task.group == group)
    }

    /// Returns the open tasks and groups that a task waits for.
    pub(super) fn waits_for(&self, task: &Task) -> Vec<String> {
        let is_open = |other: &&Task| !other.state.is_settled() && other.id != task.id;
        let mut waits: Vec<String> = Vec::new();
        for clause in task.depends_on.split([',', ';']) {
            if let Some((first, last)) = range(clause) {
                let open = self.between(first, last).filter(is_open);
                waits.extend(open.map(|other| other.id.clone()));
                continue;
            }
            for id in task_ids(clause).filter(|id| *id != task.id) {
                match self.find(id) {
                    Some(other) if other.state.is_settled() => {}
                    Some(other) => waits.push(other.id.clone()),
                    None => waits.push(format!("{id} (not in tasks.md)")),
                }
            }
            if let Some(group) = self.phase_of(clause) {
                let n_open = self.of_group(Some(group)).filter(is_open).count();
                let name = self.groups.get(group);
                let name = name.filter(|_| n_open > 0 && task.group != Some(group));
                waits.extend(name.cloned());
            }
        }
        waits.dedup();
        waits
    }

    /// Returns the group that a text names by its number: `Phase 3 complete`.
    fn phase_of(&self, text: &str) -> Option<usize> {
        let numbered = |text: &str| {
            let at = text.to_ascii_lowercase().find("phase ")?;
            first_number(text.get(at..)?)
        };
        let wanted = numbered(text)?;
        let mut groups = self.groups.iter();
        groups.position(|group| numbered(group) == Some(wanted))
    }

    /// Returns how many are done, and how many there are.
    pub(super) fn progress(&self) -> (usize, usize) {
        let done = |task: &&Task| task.state == State::Done;
        (self.all.iter().filter(done).count(), self.all.len())
    }

    /// Returns whether nothing is left and nothing was lost.
    pub(super) fn is_complete(&self) -> bool {
        let is_settled = |task: &Task| task.state.is_settled();
        !self.all.is_empty() && self.all.iter().all(is_settled) && !self.has_lost_some()
    }

    /// Returns whether the number of tasks differs from the declared one.
    pub(super) fn has_lost_some(&self) -> bool {
        self.declared
            .is_some_and(|declared| declared != self.all.len())
    }

    /// Returns the task in progress, otherwise the first open one.
    pub(super) fn next(&self) -> Option<&Task> {
        let first = |state: State| self.all.iter().find(|task| task.state == state);
        first(State::InProgress).or_else(|| first(State::Open))
    }

    /// Returns the tasks whose numbers are in this range, both ends included.
    pub(super) fn between(&self, first: u32, last: u32) -> impl Iterator<Item = &Task> {
        let is_in = move |id: &str| task_number(id).is_some_and(|n| (first..=last).contains(&n));
        self.all.iter().filter(move |task| is_in(&task.id))
    }

    pub(super) fn in_progress(&self) -> Option<&Task> {
        let mut all = self.all.iter();
        all.find(|task| task.state == State::InProgress)
    }

    /// Returns a task by its id.
    pub(super) fn find(&self, id: &str) -> Option<&Task> {
        self.all.iter().find(|task| task.id == id)
    }
}

fn from_section(section: &Section<'_>, lines: &[(Line, &str)]) -> Option<Task> {
    let (id, title, boxed) = task_heading(section.title)?;
    let start = lines.partition_point(|(line, _)| line.number <= section.heading.line);
    let end = lines.partition_point(|(line, _)| line.number < section.end);
    let own = lines.get(start..end).unwrap_or_default();
    let status = labeled(own, "Status");
    // A box that is ticked says more than a line that was left empty.
    let state = match (boxed, status.map(State::of_status)) {
        (Some(State::Open) | None, Some(state)) | (Some(state), _) => state,
        (None, None) => State::Open,
    };
    Some(Task {
        id,
        title,
        state,
        line: section.heading.line,
        group: None,
        depends_on: labeled(own, "Dependencies").unwrap_or_default().to_owned(),
    })
}

/// Returns the name of a group without a remark behind it, which is older than the tasks themselves.
fn group_name(heading: &str) -> String {
    let name = heading.trim();
    let remark = name.strip_suffix(')').and_then(|name| name.rfind('('));
    let name = remark.map_or(name, |at| name.get(..at).unwrap_or(name));
    let is_sign = |c: char| c.is_whitespace() || !c.is_ascii() && !c.is_alphanumeric();
    name.trim_matches(is_sign).to_owned()
}

/// Reads `T001: Title`, `T001 [✅]: Title`, `T001 [P]: Title`.
fn task_heading(words: &str) -> Option<(String, String, Option<State>)> {
    let id = task_id(words)?;
    let (boxed, title) = behind_id(words.get(id.len()..)?)?;
    Some((id.to_owned(), title, boxed))
}

/// Reads `- [x] **T001** [P]: title`.
fn box_line(line: &str) -> Option<(String, String, State)> {
    let found = check_box(line).filter(|_| line.trim_start().starts_with(['-', '*']))?;
    let state = State::of_box(found.mark);
    let rest = found.text;
    let rest = rest.strip_prefix("[P]").unwrap_or(rest).trim_start();
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    let id = task_id(rest)?;
    let rest = rest.get(id.len()..)?;
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    // Bold may end behind the colon, too.
    let (_, title) = behind_id(rest)?;
    let title = title.trim_start_matches('*').trim().to_owned();
    Some((id.to_owned(), title, state))
}

/// Reads the boxes after an id (`[P]` is not one) and the title after the colon.
fn behind_id(text: &str) -> Option<(Option<State>, String)> {
    let mut rest = text.trim_start();
    let mut boxed = None;
    while let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        if inside != "P" {
            boxed = Some(State::of_box(inside));
        }
        rest = after.trim_start();
    }
    // Bold may take in the boxes.
    let rest = rest.strip_prefix("**").unwrap_or(rest).trim_start();
    let title = rest.strip_prefix(':')?;
    Some((boxed, title.trim().to_owned()))
}

/// Returns the value of the first field of a key.
fn labeled<'t>(lines: &[(Line, &'t str)], label: &str) -> Option<&'t str> {
    let mut fields = lines.iter().filter_map(|(_, text)| bold_field(text));
    Some(fields.find(|field| field.key == label)?.value)
}

fn first_number(text: &str) -> Option<usize> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let digits = text.get(start..)?;
    let end = digits.find(|c: char| !c.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

/// Returns the number of a task.
pub(super) fn task_number(id: &str) -> Option<u32> {
    id.strip_prefix('T')?.parse().ok()
}

/// Returns the tasks that a text calls complete: `T001, T002 complete`.
pub(super) fn told_complete(text: &str) -> Vec<&str> {
    let clauses = text.split([',', ';', '.', '&']);
    let clauses = clauses.flat_map(|clause| clause.split(" and "));
    let clauses = clauses.flat_map(|clause| clause.split(" but "));
    let mut told = Vec::new();
    // Named tasks without a verdict yet.
    let mut named: Vec<&str> = Vec::new();
    for clause in clauses {
        named.extend(task_ids(clause));
        let words = clause.split(|c: char| !c.is_alphanumeric());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        let says_nothing = |word: &String| {
            let is_name = word.starts_with('t') && word.get(1..).is_some_and(is_number);
            is_name || ["", "task", "tasks", "all", "both"].contains(&word.as_str())
        };
        if words.iter().all(says_nothing) {
            continue;
        }
        if has(&["complete", "completed"]) && !has(&["not"]) {
            told.append(&mut named);
        }
        named.clear();
    }
    told
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(text: &str) -> String {
        let tasks = Tasks::parse(text);
        let shown = tasks
            .all
            .iter()
            .map(|task| format!("{} {}", task.id, task.state.as_str()));
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn finds_tasks_that_a_text_calls_complete() {
        for (text, told) in [
            ("T003 complete, T004 not started", "T003"),
            ("T004 not started, T005 complete", "T005"),
            ("T001, T002 and T003 complete", "T001 T002 T003"),
            ("Tasks T001 & T002 Completed; T003 in progress", "T001 T002"),
            ("T005 incomplete", ""),
            ("T005 not yet complete", ""),
            ("T003 complete and T004 open. T005", "T003"),
            ("T001-T003 complete (all tests pass)", "T001 T003"),
            ("Phase 3 complete", ""),
            ("", ""),
        ] {
            assert_eq!(told_complete(text).join(" "), told, "{text}");
        }
    }

    #[test]
    fn reads_headings_with_status_lines_and_ignores_checklists() {
        let text = "# Tasks: x\r\n**Total Tasks**: 5  \r\n## Phase 1: Setup (T001-T002)\r\n\
            ### T001: A\r\n**Status**: ✅ Complete (implemented in Phase 3) \r\n\
            ### T002: B\r\n**Status**:\r\n**File**: `x`\r\n\
            ### T003 [P]: C\r\n**Description**: d\r\n**Status**: In Progress\r\n\
            ## T004: D\r\n**Phase**: 2\r\n**Status**: pending\r\n\
            ### T005: E\r\n**Status**: ❌ Not Needed\r\n\
            ## Validation Checklist\r\n- [x] **T001**: ordered\r\n- [x] All stories\r\n";
        assert_eq!(
            states(text),
            "T001 complete, T002 open, T003 in progress, T004 open, T005 not needed"
        );
        let tasks = Tasks::parse(text);
        assert_eq!(tasks.progress(), (1, 5));
        assert_eq!(tasks.declared, Some(5));
        assert_eq!(tasks.next().unwrap().id, "T003");
        assert_eq!(tasks.find("T003").unwrap().title, "C");
        assert_eq!(tasks.find("T003").unwrap().line, 9);
    }

    #[test]
    fn reads_headings_with_boxes() {
        let text = "### T001 [✅]: A\n### T002 [ ]: B\n### T003 [⏸]: C\n### T004 [❌] [P]: D\n\
            ### T005 [?]: E\n### T006-T009: range\n### T010 no colon\n#### T011 [ ]: F\n**Status**: ✅ Complete\n";
        assert_eq!(
            states(text),
            "T001 complete, T002 open, T003 open, T004 not needed, T005 open, T011 complete"
        );
    }

    #[test]
    fn reads_list_boxes_without_headings() {
        let text = "- [ ] **T001**: a\n- [x] **T002** [P]: b\n  - [X] **T003**: c\n- [✅] T004: d\n\
            - [x] [P] **T005**: e\n- [x] no id\n- [ ] **T006:** f\n- [x] **T008 [P]**: g\n- [~] **T009**: h\n```\n- [x] **T007**: code\n```\n";
        assert_eq!(
            states(text),
            "T001 open, T002 complete, T003 complete, T004 complete, T005 complete, T006 open, \
             T008 complete, T009 open"
        );
        assert_eq!(Tasks::parse(text).find("T006").unwrap().title, "f");
        assert_eq!(Tasks::parse(text).find("T008").unwrap().title, "g");
    }

    #[test]
    fn a_feature_with_missing_tasks_is_not_complete() {
        let both = "### T001: A\n**Status**: ✅ Complete\n### T002: B\n**Status**: ❌ Not Needed\n";
        assert!(Tasks::parse(both).is_complete());
        assert!(Tasks::parse(&format!("**Total Tasks**: 2\n{both}")).is_complete());
        assert!(!Tasks::parse(&format!("**Total Tasks**: 3\n{both}")).is_complete());
        assert!(!Tasks::parse(&format!("{both}### T003: C\n")).is_complete());
        assert!(!Tasks::parse("").is_complete());
    }
}
