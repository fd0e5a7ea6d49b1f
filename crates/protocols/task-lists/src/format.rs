//! What a format is: a reader of its files, and the words that its users know.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::Finding;
use rekindle_protocol::Decision;
use rekindle_world::World;

use crate::scan::Page;
use crate::shelf::{Shelf, Visit};
use crate::states::Standing;
use crate::task::TaskFile;

/// One format of task lists.
pub(crate) trait Format: Sync {
    /// Returns its name, which begins the ids of its lists.
    fn name(&self) -> &'static str;

    /// Returns what it keeps and where, as one line.
    fn about(&self) -> &'static str;

    /// Returns the beginnings of the paths of its files.
    fn folders(&self) -> &'static [&'static str];

    /// Returns the beginnings of the commands with which an agent works on its lists.
    fn commands(&self) -> &'static [&'static str];

    /// Returns whether the project has anything of it.
    fn is_here(&self, world: &dyn World) -> bool;

    /// Finds the lists of a project and reads their documents.
    fn visit(&self, visit: &mut Visit<'_>) -> Shelf;

    /// Reads the tasks of a file.
    fn tasks(&self, page: &Page<'_>) -> TaskFile;

    /// Returns the stage that a list is in.
    fn stage(&self, list: &List, standing: &Standing) -> Stage;

    /// Returns whether a task with parts is work of its own.
    fn are_parents_work(&self) -> bool;

    /// Returns the mark of a finished task.
    fn done_mark(&self) -> &'static str;

    /// Returns the files with the project's rules, relative to the project.
    fn rules(&self, world: &dyn World) -> Vec<Utf8PathBuf>;

    /// Returns the decisions of its own, for the documentation.
    fn decisions(&self) -> Vec<Decision>;
}

/// A list as it was read.
#[derive(Debug)]
pub(crate) struct List {
    /// Its name, unique in the format.
    pub(crate) name: String,
    /// What a person calls it.
    pub(crate) title: String,
    /// Its folder, relative to the project.
    pub(crate) folder: Utf8PathBuf,
    /// Its documents, in the order in which they are written; the file with the tasks comes last.
    pub(crate) documents: Vec<Document>,
    /// The tasks.
    pub(crate) file: TaskFile,
    /// What the format found out about it besides.
    pub(crate) traits: Traits,
    /// The documents that should be there besides the tasks.
    pub(crate) needed: &'static [&'static str],
    /// Why the file with the tasks cannot be read.
    pub(crate) unreadable: Option<String>,
    /// What was noticed about its other files.
    pub(crate) findings: Vec<Finding>,
    /// What matters only while tasks are open.
    pub(crate) about_work: Vec<Finding>,
}

/// What a format found out about a list besides its tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Traits {
    /// It was put away as finished.
    pub(crate) is_archived: bool,
    /// A question is open in a document.
    pub(crate) has_open_question: bool,
    /// Nobody asks for its delta specifications.
    pub(crate) skips_specs: bool,
    /// Its commands are those of the newer generation of its tool.
    pub(crate) is_new: bool,
    /// What stands between the words of a command.
    pub(crate) separator: char,
    /// The words of its commands, where its tool has some.
    pub(crate) commands: Option<&'static str>,
    /// Its documents are written in another order.
    pub(crate) is_design_first: bool,
}

/// A document of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// What the format calls it.
    pub(crate) name: &'static str,
    /// Where it is, relative to the project; a folder for a set of files.
    pub(crate) path: Utf8PathBuf,
    /// Whether there is anything in it.
    pub(crate) content: Content,
}

/// Whether there is anything in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Yes.
    Present,
    /// It is not there.
    Missing,
    /// Only blanks, headings or what a template holds.
    Empty,
}

impl Content {
    /// Returns the word used in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Empty => "empty",
        }
    }
}

/// The stage of a list and what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stage {
    /// The format's word for it.
    pub(crate) name: &'static str,
    /// What comes next.
    pub(crate) next: NextKind,
    /// The document that is to be written or looked at.
    pub(crate) document: Option<&'static str>,
    /// What the format's user would type.
    pub(crate) command: Option<String>,
}

/// What comes next in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextKind {
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
    pub(crate) const fn as_str(self) -> &'static str {
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
    pub(crate) fn content(&self, name: &str) -> Content {
        let mut documents = self.documents.iter();
        let found = documents.find(|document| document.name == name);
        found.map_or(Content::Missing, |document| document.content)
    }

    /// Returns the file with the tasks, relative to the project.
    pub(crate) fn source(&self) -> &Utf8Path {
        let tasks = self.documents.last();
        tasks.map_or(&self.folder, |document| &document.path)
    }
}
