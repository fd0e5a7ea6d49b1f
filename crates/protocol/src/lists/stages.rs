//! The stages of a list as data: the first row that fits decides, and the documentation prints the rows.

use super::format::{Content, Format, List, NextKind, Stage};
use super::table::Progress;
use crate::Decision;

/// A stage and when a list is in it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// When.
    pub when: When,
    /// The format's word for it; empty for that of the document.
    pub name: &'static str,
    /// What comes next.
    pub next: NextKind,
    /// The document that is to be written or looked at.
    pub document: &'static str,
    /// The word of the command that the format's user would type; empty for none.
    pub word: &'static str,
}

/// When a list is in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// It was put away.
    Archived,
    /// A task is open.
    Open,
    /// All tasks are done or left out.
    Finished,
    /// There are no tasks, and this document is missing or empty.
    Lacks(&'static str),
    /// The same, and a question is open in a document.
    Unclear(&'static str),
    /// There are no tasks; the first document that is missing or empty is the stage.
    Drafting,
    /// There are no tasks.
    NoTasks,
}

/// Returns the row of a stage in which nothing is to be written.
pub const fn row(when: When, name: &'static str, next: NextKind, word: &'static str) -> Row {
    Row {
        when,
        name,
        next,
        document: "",
        word,
    }
}

/// Returns the row of a stage in which a document is to be written.
pub const fn write(document: &'static str, name: &'static str, word: &'static str) -> Row {
    Row {
        when: When::Lacks(document),
        name,
        next: NextKind::WriteDocument,
        document,
        word,
    }
}

impl Row {
    fn fits(&self, list: &List, progress: Progress) -> bool {
        let lacks = |document: &str| {
            list.content(document) != Content::Present && list.unasked != Some(document)
        };
        match (self.when, progress) {
            (When::Archived, _) => list.is_archived,
            (When::Open, Progress::NotBegun | Progress::Begun)
            | (When::Finished, Progress::Finished)
            | (When::NoTasks | When::Drafting, Progress::NoTasks) => true,
            (When::Lacks(document), Progress::NoTasks) => lacks(document),
            (When::Unclear(document), Progress::NoTasks) => {
                lacks(document) && list.has_open_question
            }
            (
                When::Open
                | When::Finished
                | When::NoTasks
                | When::Drafting
                | When::Lacks(_)
                | When::Unclear(_),
                Progress::NoTasks | Progress::NotBegun | Progress::Begun | Progress::Finished,
            ) => false,
        }
    }

    fn shown(&self) -> Vec<String> {
        let (tasks, documents) = match self.when {
            When::Archived => ("", "put away".to_owned()),
            When::Open => ("some open", String::new()),
            When::Finished => ("all done or left out", String::new()),
            When::Lacks(document) => ("none", format!("no `{document}`")),
            When::Unclear(document) => ("none", format!("no `{document}`, and a question is open")),
            When::Drafting => ("none", "the first that is missing".to_owned()),
            When::NoTasks => ("none", String::new()),
        };
        let name = if self.name.is_empty() {
            "that document".to_owned()
        } else {
            format!("`{}`", self.name)
        };
        vec![
            tasks.to_owned(),
            documents,
            name,
            format!("`{}`", self.next.as_str()),
        ]
    }
}

/// Returns the stage that a list is in.
pub(crate) fn stage(format: &dyn Format, list: &List, progress: Progress) -> Stage {
    let mut rows = format.stages().iter();
    let Some(row) = rows.find(|row| row.fits(list, progress)) else {
        return Stage {
            name: "",
            next: NextKind::None,
            document: None,
            command: None,
        };
    };
    let is_open = |name: &&str| list.content(name) != Content::Present;
    let first = || {
        let mut names = list.documents.iter().map(|document| document.name);
        names.find(is_open).unwrap_or("tasks")
    };
    let document = match row.when {
        When::Drafting => first(),
        When::Archived
        | When::Open
        | When::Finished
        | When::Lacks(_)
        | When::Unclear(_)
        | When::NoTasks => row.document,
    };
    let or_document = |word: &'static str| if word.is_empty() { document } else { word };
    let word = match row.next {
        NextKind::WriteDocument => or_document(row.word),
        NextKind::ExecuteTasks | NextKind::AskPerson | NextKind::Close | NextKind::None => row.word,
    };
    Stage {
        name: or_document(row.name),
        next: row.next,
        document: (!document.is_empty()).then_some(document),
        command: (!word.is_empty())
            .then(|| format.command(list, word))
            .flatten(),
    }
}

/// Returns the stages of a format for the documentation.
pub(crate) fn decision(format: &dyn Format) -> Decision {
    Decision {
        title: "The stage of a list",
        about: "The first row that matches decides.".to_owned(),
        headings: vec!["tasks", "documents", "stage", "next"],
        rows: format.stages().iter().map(Row::shown).collect(),
    }
}
