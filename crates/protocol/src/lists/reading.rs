//! From the boxes of a page to tasks: what every format does in the same way, in the order of the file.
//!
//! A format says with a [`Grammar`] what stands behind a box, what its marks claim, and what makes a
//! task a part of another; ids, places, steps and findings follow from it.

use std::collections::{HashMap, HashSet};

use super::grammar::{Boxed, Boxes, add_details, notice_empty};
use super::numbered;
use super::person;
use super::scan::{Mark, Page, number};
use super::table::Claim;
use super::task::{Notice, Task, TaskFile};

/// What stands behind a box.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a box can be marked as each of them, in any combination"
)]
pub struct Words<'l> {
    /// The id, if one is written.
    pub id: Option<&'l str>,
    /// The tags.
    pub tags: Vec<&'l str>,
    /// The text.
    pub text: &'l str,
    /// Whether the list leaves the task out while it is open.
    pub is_left_out: bool,
    /// Whether the list is complete without it.
    pub is_optional: bool,
    /// Whether it may run beside others of its group.
    pub is_parallel: bool,
    /// Whether it is a task although it has no id and others have one.
    pub is_task: bool,
}

/// How a format writes its tasks.
#[derive(Debug)]
pub struct Grammar {
    /// Returns what stands behind a box; nothing if the line is not one of the format's.
    pub words: for<'l> fn(&Boxed<'l>) -> Option<Words<'l>>,
    /// Returns what a mark claims; nothing if the format does not know it.
    pub claim: fn(Mark) -> Option<Claim>,
    /// What boxes without an id are.
    pub without_id: WithoutId,
    /// What makes a task a part of another.
    pub parents: Parents,
    /// Whether level-2 headings begin groups.
    pub has_groups: bool,
}

/// What boxes without an id are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutId {
    /// Tasks, whatever their marks; what is made for an id is the place in the outline.
    Tasks,
    /// Steps where another box has an id, else tasks; the id is the place in the outline.
    StepsInOutline,
    /// Steps where another box has an id, else tasks; the id is the place in the group.
    StepsInGroups,
}

/// What makes a task a part of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parents {
    /// Indentation.
    Indent,
    /// The id, and where it says nothing, indentation.
    IdOrIndent,
    /// The id alone; in a file without ids, indentation.
    Id,
}

/// Returns what a mark claims where only blanks and `x` mean something.
pub fn plain_claim(mark: Mark) -> Option<Claim> {
    match mark {
        Mark::Open => Some(Claim::Open),
        Mark::Done => Some(Claim::Done),
        Mark::Other(_) | Mark::Nothing => None,
    }
}

/// Reads the tasks of a page.
pub fn read(page: &Page<'_>, grammar: &Grammar) -> TaskFile {
    let mut file = TaskFile::default();
    let boxes = Boxes::of(page, &mut file);
    let takes_all = grammar.without_id == WithoutId::Tasks;
    let found = boxes.boxes.iter().filter_map(|boxed| {
        let words = (grammar.words)(boxed)?;
        let is_known = takes_all || (grammar.claim)(boxed.check.mark).is_some();
        (is_known || words.id.is_some()).then_some((boxed, words))
    });
    let found: Vec<(&Boxed<'_>, Words<'_>)> = found.collect();
    let have_ids = !takes_all && found.iter().any(|(_, words)| words.id.is_some());
    let mut ids = Ids::default();
    let mut steps = Vec::new();
    let mut in_group = InGroup::default();
    let mut kept = Vec::new();
    // What is written down comes first: an id that is made never takes the place of one.
    for (boxed, words) in found {
        in_group.enter(boxed.group);
        if words.text.is_empty() {
            notice_empty(&mut file, page, boxed.at);
            continue;
        }
        if words.id.is_none() && have_ids && !words.is_task {
            steps.push(boxed.at);
            continue;
        }
        in_group.n_tasks += 1;
        let id = words.id.map(|id| {
            let (unique, is_taken) = ids.take(id);
            if is_taken {
                file.notice(Notice::DuplicateId, number(boxed.at), id);
            }
            unique
        });
        kept.push((boxed, words, id, in_group.place(have_ids)));
    }
    let mut outline = Outline::new(grammar);
    for (boxed, words, id, place) in kept {
        let parent = outline.enter(boxed, words.id);
        let is_counted = id.is_none();
        let id = id.unwrap_or_else(|| {
            let heading = boxes.groups.get(boxed.group).map_or("", String::as_str);
            let place = match grammar.without_id {
                WithoutId::StepsInGroups => place,
                WithoutId::Tasks | WithoutId::StepsInOutline => {
                    outline.place(&file, parent, heading, boxed.group)
                }
            };
            ids.take(&place).0
        });
        let is_inherited = parent.is_some_and(|parent| file.tasks[parent].is_optional);
        let is_optional = words.is_optional || is_inherited;
        let is_left_out = words.is_left_out || is_optional;
        let claim = match (grammar.claim)(boxed.check.mark) {
            Some(Claim::Open) if is_left_out && boxed.check.mark == Mark::Open => Claim::Skipped,
            Some(claim) => claim,
            None => unknown(&mut file, boxed),
        };
        file.tasks.push(Task {
            id,
            title: words.text.to_owned(),
            claim,
            parent,
            is_optional,
            is_parallel: words.is_parallel,
            is_counted,
            is_for_person: person::is_for_person(words.text, &words.tags),
            ..boxed.task(page)
        });
    }
    if let Some(first) = steps.first() {
        file.notice(Notice::NoId, number(*first), steps.len().to_string());
    }
    file.noticed.sort_by_key(|noticed| noticed.line);
    add_details(page, &mut file);
    file
}

/// Notices a mark that means nothing, which leaves the task open.
fn unknown(file: &mut TaskFile, boxed: &Boxed<'_>) -> Claim {
    let sign = boxed.check.mark.sign();
    file.notice(Notice::UnknownMark, number(boxed.at), sign);
    Claim::Open
}

/// Turns ids that are named for waves into tasks: a parent stands for the work below it, and the first
/// wave that names a task counts. An id that is not one is noticed.
pub fn set_waves(file: &mut TaskFile, named: Vec<Vec<String>>, line: u64) {
    let children = file.children();
    let is_work: Vec<bool> = children.iter().map(Vec::is_empty).collect();
    let entries = file.tasks.iter().enumerate();
    let places: HashMap<String, usize> = entries.map(|(at, task)| (task.id.clone(), at)).collect();
    let mut seen = HashSet::new();
    let mut waves = Vec::new();
    for ids in named {
        let mut leaves = Vec::new();
        for id in ids {
            if let Some(&task) = places.get(&id) {
                leaves.extend(super::order::work_below(task, &is_work, &children));
            } else {
                let about = format!("the graph names `{id}`");
                file.notice(Notice::UnknownNeed, line, about);
            }
        }
        leaves.retain(|leaf| seen.insert(*leaf));
        leaves.sort_unstable();
        if !leaves.is_empty() {
            waves.push(leaves);
        }
    }
    file.waves = Some(waves);
}

/// Counts the boxes and tasks of a group.
#[derive(Default)]
struct InGroup {
    group: Option<usize>,
    /// How many groups had a box until here, boxes of this one, and tasks of this one.
    n_groups: usize,
    n_boxes: usize,
    n_tasks: usize,
}

impl InGroup {
    fn enter(&mut self, group: usize) {
        if self.group != Some(group) {
            self.group = Some(group);
            self.n_groups += 1;
            self.n_boxes = 0;
            self.n_tasks = 0;
        }
        self.n_boxes += 1;
    }

    /// Returns the place of the last box, which is its id where it has none.
    fn place(&self, have_ids: bool) -> String {
        let own = if have_ids { self.n_tasks } else { self.n_boxes };
        match self.group {
            Some(0) | None => own.to_string(),
            Some(_) => format!("{}.{own}", self.n_groups),
        }
    }
}

/// Where reading is in the outline.
struct Outline<'g, 'l> {
    grammar: &'g Grammar,
    written: HashMap<&'l str, usize>,
    /// The tasks that the next one can be nested in, each with its indentation.
    open: Vec<(usize, usize)>,
    n_parts: Vec<usize>,
    group: Option<usize>,
    n_groups: usize,
    n_tops: usize,
}

impl<'g, 'l> Outline<'g, 'l> {
    fn new(grammar: &'g Grammar) -> Self {
        Self {
            grammar,
            written: HashMap::new(),
            open: Vec::new(),
            n_parts: Vec::new(),
            group: None,
            n_groups: 0,
            n_tops: 0,
        }
    }

    /// Takes the next task, and returns what it is a part of.
    fn enter(&mut self, boxed: &Boxed<'_>, id: Option<&'l str>) -> Option<usize> {
        if self.grammar.has_groups && self.group != Some(boxed.group) {
            self.group = Some(boxed.group);
            self.n_groups += 1;
            self.n_tops = 0;
            self.open.clear();
        }
        let at = self.n_parts.len();
        let indent = boxed.check.indent;
        while self.open.pop_if(|(_, above)| *above >= indent).is_some() {}
        let nested = self.open.last().map(|(task, _)| *task);
        self.open.push((at, indent));
        let by_id = id
            .and_then(numbered::parent)
            .and_then(|id| self.written.get(id).copied());
        let parent = match self.grammar.parents {
            Parents::IdOrIndent => by_id.or(nested),
            Parents::Id if id.is_some() => by_id,
            Parents::Indent | Parents::Id => nested,
        };
        if let Some(id) = id {
            self.written.insert(id, at);
        }
        self.n_parts.push(0);
        match parent {
            Some(parent) => self.n_parts[parent] += 1,
            None => self.n_tops += 1,
        }
        parent
    }

    /// Returns the place of the task that was taken last, which is its id where none is written.
    fn place(&self, file: &TaskFile, parent: Option<usize>, heading: &str, group: usize) -> String {
        if let Some(parent) = parent {
            return format!("{}.{}", file.tasks[parent].id, self.n_parts[parent]);
        }
        let digits = heading.bytes().take_while(u8::is_ascii_digit).count();
        let is_number = digits > 0 && !heading[digits..].starts_with(char::is_alphanumeric);
        match group {
            _ if !self.grammar.has_groups => self.n_tops.to_string(),
            0 => self.n_tops.to_string(),
            _ if is_number => format!("{}.{}", &heading[..digits], self.n_tops),
            _ => format!("{}.{}", self.n_groups, self.n_tops),
        }
    }
}

/// Gives every task an id of its own: the first keeps one that is there twice.
#[derive(Debug, Default)]
pub struct Ids {
    taken: HashMap<String, u32>,
}

impl Ids {
    /// Returns the id, or the next free `id~2`, and whether it was taken.
    pub fn take(&mut self, id: &str) -> (String, bool) {
        let Some(mut number) = self.taken.get(id).copied() else {
            self.taken.insert(id.to_owned(), 1);
            return (id.to_owned(), false);
        };
        loop {
            number += 1;
            let next = format!("{id}~{number}");
            if !self.taken.contains_key(&next) {
                self.taken.insert(id.to_owned(), number);
                self.taken.insert(next.clone(), 1);
                return (next, true);
            }
        }
    }
}
