//! What a reader makes of a task file: tasks as data, in the order of the file.

use rekindle_model::Code;

use crate::table::Claim;

/// A task file that was read.
#[derive(Debug, Default)]
pub(crate) struct TaskFile {
    /// The first level-1 heading.
    pub(crate) heading: Option<String>,
    /// The tasks, in the order of the file.
    pub(crate) tasks: Vec<Task>,
    /// The headings of the groups; empty for the group before the first heading.
    pub(crate) groups: Vec<String>,
    /// What was noticed in the file.
    pub(crate) noticed: Vec<Noticed>,
    /// Tasks that may run side by side, one wave after another, where the file says so.
    pub(crate) waves: Option<Vec<Vec<usize>>>,
    /// Whether there is nothing but blanks in the file.
    pub(crate) is_blank: bool,
}

/// A task.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// Its id, unique in the file.
    pub(crate) id: String,
    /// Its text on the line of the box, without id and tags.
    pub(crate) title: String,
    /// The lines below that belong to it.
    pub(crate) details: String,
    /// What its mark says.
    pub(crate) claim: Claim,
    /// The 1-based line.
    pub(crate) line: u64,
    /// The columns before its bullet.
    pub(crate) indent: usize,
    /// Where the content of the brackets begins in the file.
    pub(crate) mark_at: usize,
    /// The group, by its place in [`TaskFile::groups`].
    pub(crate) group: usize,
    /// The task that it is a part of.
    pub(crate) parent: Option<usize>,
    /// The tasks that its text says it needs.
    pub(crate) needs: Vec<usize>,
    /// Whether it may run beside others of its group.
    pub(crate) is_parallel: bool,
    /// Whether its list is complete without it.
    pub(crate) is_optional: bool,
    /// Whether a person has to do it by hand.
    pub(crate) is_for_person: bool,
}

/// What can be noticed in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// A mark means nothing.
    UnknownMark,
    /// An id is there twice.
    DuplicateId,
    /// A need names nothing.
    UnknownNeed,
    /// Boxes without an id are not tasks.
    NoId,
    /// A box has nothing to do in it.
    NoText,
    /// The file ends in a task.
    TornLine,
    /// A fence or comment never ends.
    UnclosedBlock,
    /// A byte is not UTF-8.
    NotUtf8,
    /// The graph of waves cannot be read.
    BadGraph,
}

impl Notice {
    /// Returns the code of the finding.
    pub(crate) const fn code(self) -> Code {
        match self {
            Self::UnknownMark => Code::UnknownMark,
            Self::DuplicateId => Code::DuplicateId,
            Self::UnknownNeed => Code::UnknownNeed,
            Self::NoId => Code::NoId,
            Self::NoText => Code::NoText,
            Self::TornLine => Code::TornLine,
            Self::UnclosedBlock => Code::UnclosedBlock,
            Self::NotUtf8 => Code::NotUtf8,
            Self::BadGraph => Code::BadGraph,
        }
    }
}

/// Something that was noticed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Noticed {
    /// What it is.
    pub(crate) code: Notice,
    /// The 1-based line.
    pub(crate) line: u64,
    /// What it is about, such as an id or a sign.
    pub(crate) about: String,
}

impl TaskFile {
    /// Adds something that was noticed.
    pub(crate) fn notice(&mut self, code: Notice, line: u64, about: impl Into<String>) {
        let about = about.into();
        self.noticed.push(Noticed { code, line, about });
    }

    /// Returns the tasks that are part of each task.
    pub(crate) fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.tasks.len()];
        for (at, task) in self.tasks.iter().enumerate() {
            if let Some(parent) = task.parent {
                children[parent].push(at);
            }
        }
        children
    }
}

/// Gives every task an id of its own: the first keeps one that is there twice.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    taken: std::collections::HashMap<String, u32>,
}

impl Ids {
    /// Returns the id, or the next free `id~2`, and whether it was taken.
    pub(crate) fn take(&mut self, id: &str) -> (String, bool) {
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

/// Finds what each task is a part of by indentation: the nearest earlier one with less of it.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    open: Vec<(usize, usize)>,
}

impl Nesting {
    /// Forgets everything before a new group.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    /// Takes the next task with its indentation, and returns what it is nested in.
    pub(crate) fn enter(&mut self, task: usize, indent: usize) -> Option<usize> {
        while self.open.pop_if(|(_, above)| *above >= indent).is_some() {}
        let parent = self.open.last().map(|(task, _)| *task);
        self.open.push((task, indent));
        parent
    }
}
