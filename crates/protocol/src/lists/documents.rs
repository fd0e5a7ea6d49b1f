//! The documents of a list: whether something is in them, their headings, their open questions.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};

use crate::lists::format::{Content, Document, Format};
use crate::lists::scan::{self, Hidden, Item, Mark, Page, PageLine, number};
use crate::lists::shelf::Visit;
use crate::lists::task::TaskFile;

/// A document that was read.
pub struct Read {
    /// The document.
    pub document: Document,
    /// Its first level-1 heading.
    pub heading: Option<String>,
    /// Whether it has an open question, as spec-kit marks one.
    pub has_question: bool,
}

/// Reads a document; `is_template` says which lines of it a template holds.
pub fn read(
    visit: &Visit<'_>,
    name: &'static str,
    path: Utf8PathBuf,
    is_template: fn(&str) -> bool,
) -> Read {
    let looked = visit.document(&path, is_template);
    let page = Page::read(&looked.bytes);
    let mut headings = page
        .lines
        .iter()
        .filter_map(|line| scan::heading(&line.text));
    let heading = headings.find(|(level, _)| *level == 1);
    let mut lines = page.lines.iter();
    Read {
        heading: heading.map(|(_, title)| title.to_owned()),
        has_question: lines.any(asks),
        document: Document {
            name,
            path,
            content: looked.content,
        },
    }
}

/// Returns whether a line outside of fences and comments asks to clarify something; a quote may.
fn asks(line: &PageLine<'_>) -> bool {
    let text: &str = match line.hidden {
        Hidden::Not => &line.text,
        Hidden::Quoted => &line.raw,
        Hidden::Fenced | Hidden::Dropped => return false,
    };
    text.contains("[NEEDS CLARIFICATION")
}

/// Reads the file with the tasks; also returns why it cannot be read.
pub fn tasks(
    format: &dyn Format,
    visit: &Visit<'_>,
    path: Utf8PathBuf,
) -> (Document, TaskFile, Option<String>) {
    let looked = visit.document(&path, |_| false);
    let file = format.tasks(&Page::read(&looked.bytes));
    let content = match looked.content {
        Content::Missing => Content::Missing,
        Content::Present | Content::Empty if file.tasks.is_empty() => Content::Empty,
        Content::Present | Content::Empty => Content::Present,
    };
    let document = Document {
        name: "tasks",
        path,
        content,
    };
    (document, file, looked.unreadable)
}

/// Returns a finding if a check list in a folder has an open box.
pub fn open_checklist(visit: &Visit<'_>, folder: &Utf8Path) -> Option<Finding> {
    if !visit.is_folder(folder) {
        return None;
    }
    let entries = visit.world.list(&visit.world.project().join(folder));
    let entries = entries.unwrap_or_default().into_iter();
    let pages = entries.filter(|entry| is_page(&entry.name));
    pages.map(|entry| folder.join(entry.name)).find_map(|path| {
        let looked = visit.document(&path, |_| false);
        let page = Page::read(&looked.bytes);
        let is_open = |line: &PageLine<'_>| {
            matches!(scan::item(&line.text), Item::Box(found) if found.mark == Mark::Open)
        };
        let at = page.lines.iter().position(is_open)?;
        let message = "a check list of the feature has an open box, where the tool itself stops and asks";
        let finding = Finding::new(Code::ChecklistOpen, message);
        Some(finding.at(Place::line(path, number(at))))
    })
}

/// Returns whether a file is a page of Markdown, by its name.
pub fn is_page(name: &str) -> bool {
    Utf8Path::new(name).extension() == Some("md")
}
