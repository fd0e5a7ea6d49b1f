//! What a reader makes of a task file: tasks as data, in the order of the file.

use rekindle_model::Code;

use crate::lists::table::Claim;

/// A task file that was read.
#[derive(Debug, Default)]
pub struct TaskFile {
    /// The first level-1 heading.
    pub heading: Option<String>,
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// The headings of the groups; empty for the group before the first heading.
    pub groups: Vec<String>,
    /// What was noticed in the file.
    pub noticed: Vec<Noticed>,
    /// Tasks that may run side by side, one wave after another, where the file says so.
    pub waves: Option<Vec<Vec<usize>>>,
    /// Whether there is nothing but blanks in the file.
    pub is_blank: bool,
}

/// A task.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a task can be marked as each of them, in any combination"
)]
pub struct Task {
    /// Its id, unique in the file.
    pub id: String,
    /// Its text on the line of the box, without id and tags.
    pub title: String,
    /// The lines below that belong to it.
    pub details: String,
    /// What its mark says.
    pub claim: Claim,
    /// The 1-based line.
    pub line: u64,
    /// The columns before its bullet.
    pub indent: usize,
    /// Where the content of the brackets begins in the file, if it has a box.
    pub mark_at: Option<usize>,
    /// The group, by its place in [`TaskFile::groups`].
    pub group: usize,
    /// The task that it is a part of.
    pub parent: Option<usize>,
    /// The tasks that its text says it needs.
    pub needs: Vec<usize>,
    /// Whether it may run beside others of its group.
    pub is_parallel: bool,
    /// Whether its list is complete without it.
    pub is_optional: bool,
    /// Whether a person has to do it by hand.
    pub is_for_person: bool,
    /// Whether its id is only its place.
    pub is_counted: bool,
    /// The ids that it names as needs, whether there are such tasks or not.
    pub names: Vec<String>,
    /// What else its lines say.
    pub fields: Fields,
}

/// What the lines below a task say about its work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// The files that it is about.
    pub files: Vec<String>,
    /// Commands that have to succeed.
    pub checks: Vec<String>,
    /// When it is accepted.
    pub acceptance: Vec<String>,
    /// Whether it may change no file.
    pub may_be_empty: bool,
}

impl Task {
    /// Returns a task without a mark, of which only the line is known.
    pub fn unmarked(line: u64) -> Self {
        Self {
            id: String::new(),
            title: String::new(),
            details: String::new(),
            claim: Claim::Open,
            line,
            indent: 0,
            mark_at: None,
            group: 0,
            parent: None,
            needs: Vec::new(),
            is_parallel: false,
            is_optional: false,
            is_for_person: false,
            is_counted: false,
            names: Vec::new(),
            fields: Fields::default(),
        }
    }
}

/// What can be noticed in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
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
    /// A line is not a box because of one sign.
    NearlyABox,
    /// A key is almost one that means something.
    MisspeltKey,
}

impl Notice {
    /// Returns the code of the finding.
    pub const fn code(self) -> Code {
        match self {
            Self::UnknownMark | Self::NearlyABox => Code::UnknownMark,
            Self::DuplicateId => Code::DuplicateId,
            Self::UnknownNeed => Code::UnknownNeed,
            Self::NoId => Code::NoId,
            Self::NoText => Code::NoText,
            Self::TornLine => Code::TornLine,
            Self::UnclosedBlock => Code::UnclosedBlock,
            Self::NotUtf8 => Code::NotUtf8,
            Self::BadGraph => Code::BadGraph,
            Self::MisspeltKey => Code::MisspeltKey,
        }
    }
}

/// Something that was noticed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noticed {
    /// What it is.
    pub code: Notice,
    /// The 1-based line.
    pub line: u64,
    /// What it is about, such as an id or a sign.
    pub about: String,
}

impl TaskFile {
    /// Adds something that was noticed.
    pub fn notice(&mut self, code: Notice, line: u64, about: impl Into<String>) {
        let about = about.into();
        self.noticed.push(Noticed { code, line, about });
    }

    /// Returns the tasks that are part of each task.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.tasks.len()];
        for (at, task) in self.tasks.iter().enumerate() {
            if let Some(parent) = task.parent {
                children[parent].push(at);
            }
        }
        children
    }
}
