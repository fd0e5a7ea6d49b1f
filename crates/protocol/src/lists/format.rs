//! What a format is: a reader of its files, and the words that its users know.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::Finding;
use rekindle_world::World;

use crate::lists::scan::Page;
use crate::lists::shelf::{Shelf, Visit};
use crate::lists::stages::Row;
use crate::lists::task::TaskFile;

/// One format of task lists.
pub trait Format: Sync {
    /// Returns its name, which begins the ids of its lists.
    fn name(&self) -> &'static str;

    /// Returns what it keeps and where, as one line.
    fn about(&self) -> &'static str;

    /// Returns the beginnings of the paths of its files.
    fn folders(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the beginnings of the commands with which an agent works on its lists.
    fn commands(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns whether the project has anything of it.
    fn is_here(&self, world: &dyn World) -> bool;

    /// Returns whether any file of the project is a list of it once a person names the file.
    fn takes_any_file(&self) -> bool {
        false
    }

    /// Finds the lists of a project and reads their documents.
    fn visit(&self, visit: &mut Visit<'_>) -> Shelf;

    /// Reads the tasks of a file.
    fn tasks(&self, page: &Page<'_>) -> TaskFile;

    /// Returns its stages; the first row that fits a list decides.
    fn stages(&self) -> &'static [Row];

    /// Returns what its user would type for a stage, by the word of its row; nothing if there is no command.
    fn command(&self, list: &List, word: &str) -> Option<String>;

    /// Returns whether a task with parts is work of its own.
    fn are_parents_work(&self) -> bool;

    /// Returns the mark of a finished task.
    fn done_mark(&self) -> &'static str;

    /// Returns the files with the project's rules, relative to the project.
    fn rules(&self, world: &dyn World) -> Vec<Utf8PathBuf>;
}

/// A list as it was read.
#[derive(Debug)]
pub struct List {
    /// Its name, unique in the format.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Its folder, relative to the project.
    pub folder: Utf8PathBuf,
    /// Its documents, in the order in which they are written; the file with the tasks comes last.
    pub documents: Vec<Document>,
    /// The tasks.
    pub file: TaskFile,
    /// Whether it was put away as finished.
    pub is_archived: bool,
    /// Whether a question is open in a document.
    pub has_open_question: bool,
    /// A document that nobody asks for, although others of the format have it.
    pub unasked: Option<&'static str>,
    /// How its commands begin, where its tool has some.
    pub commands: Option<&'static str>,
    /// The documents that should be there besides the tasks.
    pub needed: &'static [&'static str],
    /// Why the file with the tasks cannot be read.
    pub unreadable: Option<String>,
    /// What was noticed about its other files.
    pub findings: Vec<Finding>,
    /// What matters only while tasks are open.
    pub about_work: Vec<Finding>,
}

/// A document of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What the format calls it.
    pub name: &'static str,
    /// Where it is, relative to the project; a folder for a set of files.
    pub path: Utf8PathBuf,
    /// Whether there is anything in it.
    pub content: Content,
}

/// Whether there is anything in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Yes.
    Present,
    /// It is not there.
    Missing,
    /// Only blanks, headings or what a template holds.
    Empty,
}

impl Content {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Empty => "empty",
        }
    }
}

/// The stage of a list and what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The format's word for it.
    pub name: &'static str,
    /// What comes next.
    pub next: NextKind,
    /// The document that is to be written or looked at.
    pub document: Option<&'static str>,
    /// What the format's user would type.
    pub command: Option<String>,
}

/// What comes next in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextKind {
    /// Tasks are done.
    ExecuteTasks,
    /// A document is written.
    WriteDocument,
    /// A person is asked.
    AskPerson,
    /// The list is put away.
    Close,
    /// Nothing.
    None,
}

impl NextKind {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExecuteTasks => "execute_tasks",
            Self::WriteDocument => "write_document",
            Self::AskPerson => "ask_person",
            Self::Close => "close",
            Self::None => "none",
        }
    }
}

impl List {
    /// Returns a document by the format's name for it.
    pub fn content(&self, name: &str) -> Content {
        let mut documents = self.documents.iter();
        let found = documents.find(|document| document.name == name);
        found.map_or(Content::Missing, |document| document.content)
    }

    /// Returns the file with the tasks, relative to the project.
    pub fn source(&self) -> &Utf8Path {
        let tasks = self.documents.last();
        tasks.map_or(&self.folder, |document| &document.path)
    }
}
