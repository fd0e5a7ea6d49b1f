//! Reading a project for a format: folders, documents and small files, never past the project's own.

use std::cell::RefCell;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_text::Document as Bytes;
use rekindle_text::excerpt;
use rekindle_world::{Kind, ReadError, World};

use crate::lists::format::{Content, List};
use crate::lists::scan::{self, Hidden, Page};

/// The largest document that is read.
const LARGEST: u64 = 64 * 1024 * 1024;
/// The largest file of settings that is read.
const LARGEST_SETTINGS: u64 = 1024 * 1024;

/// The lists of a project.
#[derive(Debug, Default)]
pub struct Shelf {
    /// In the format's order.
    pub lists: Vec<List>,
    /// The one that the project points at.
    pub current: Option<usize>,
    /// Findings about the project.
    pub findings: Vec<Finding>,
}

/// A look at a project.
pub struct Visit<'w> {
    /// The project.
    pub world: &'w dyn World,
    /// The only list that matters, if only one does.
    pub only: Option<&'w str>,
    /// The list that a person named.
    pub asked: Option<&'w str>,
    /// Whether all lists are to be shown, even those that are none of the project's own.
    pub all: bool,
    findings: RefCell<Vec<Finding>>,
}

/// A document that was read.
pub struct Looked {
    /// Whether there is anything in it.
    pub content: Content,
    /// What it holds; empty if it is missing.
    pub bytes: Bytes,
    /// Why it could not be read.
    pub unreadable: Option<String>,
}

impl<'w> Visit<'w> {
    /// Begins a look.
    pub fn new(world: &'w dyn World, only: Option<&'w str>) -> Self {
        Self {
            world,
            only,
            asked: only,
            all: false,
            findings: RefCell::default(),
        }
    }

    /// Returns whether a list matters.
    pub fn is_wanted(&self, name: &str) -> bool {
        self.only.is_none_or(|only| only == name)
    }

    /// Returns what was noticed since this was asked last.
    pub fn take_findings(&self) -> Vec<Finding> {
        self.findings.take()
    }

    /// Adds a finding about the project.
    pub fn notice(&self, finding: Finding) {
        self.findings.borrow_mut().push(finding);
    }

    /// Returns the folders in a folder, in the order of their names.
    pub fn folders(&self, folder: &Utf8Path) -> Vec<String> {
        if !self.is_folder(folder) {
            return Vec::new();
        }
        let entries = self.world.list(&self.world.project().join(folder));
        let mut names: Vec<String> = entries
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| match entry.kind {
                Kind::Folder => true,
                Kind::Link => self.is_folder(&folder.join(&entry.name)),
                Kind::File | Kind::Other => false,
            })
            .map(|entry| entry.name)
            .collect();
        names.sort_unstable();
        names
    }

    /// Returns whether a path of the project is a folder of the project.
    pub fn is_folder(&self, path: &Utf8Path) -> bool {
        self.inside(path).is_some_and(|found| {
            let found = self.world.stat(&found);
            found.is_ok_and(|meta| meta.kind == Kind::Folder)
        })
    }

    /// Returns whether there is anything at a path.
    pub fn is_there(&self, path: &Utf8Path) -> bool {
        self.world.stat(&self.world.project().join(path)).is_ok()
    }

    /// Returns whether a path of the project is a file of the project.
    pub fn is_file(&self, path: &Utf8Path) -> bool {
        self.inside(path).is_some_and(|found| {
            let found = self.world.stat(&found);
            found.is_ok_and(|meta| meta.kind == Kind::File)
        })
    }

    /// Returns a folder that a file names, relative to the project; one outside of it stays as it is.
    pub fn named(&self, folder: &Utf8Path) -> Utf8PathBuf {
        let within = |folder: &Utf8Path, project: &Utf8Path| {
            let rest = folder.strip_prefix(project).ok()?;
            Some(rest.components().collect::<Utf8PathBuf>())
        };
        let project = self.world.project();
        let resolved = || {
            let project = self.world.resolve(project).ok()?;
            within(&self.world.resolve(folder).ok()?, &project)
        };
        let found = if folder.is_absolute() {
            within(folder, project).or_else(resolved)
        } else {
            within(folder, Utf8Path::new(".")).or_else(|| within(folder, Utf8Path::new("")))
        };
        found.unwrap_or_else(|| folder.to_owned())
    }

    /// Returns where a path leads, if that is inside the project; a link out of it is a finding.
    fn inside(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let full = self.world.project().join(path);
        let found = self.world.resolve(&full).ok()?;
        let project = self.world.resolve(self.world.project()).ok()?;
        if found.starts_with(&project) {
            return Some(found);
        }
        let shown = excerpt(path.as_str(), 200);
        let finding = Finding::new(
            Code::OutsideProject,
            format!("`{shown}` is a link out of the project, so it is not read"),
        );
        let finding = finding.at(Place::path(path));
        let is_known = self.findings.borrow().contains(&finding);
        if !is_known {
            self.notice(finding);
        }
        None
    }

    /// Returns a small file of settings; `None` where there is none.
    pub fn settings(&self, path: &Utf8Path) -> Option<Result<Vec<u8>, ReadError>> {
        let full = self.world.project().join(path);
        if self.world.stat(&full).is_err() {
            return None;
        }
        let found = self.inside(path)?;
        Some(self.world.read(&found, LARGEST_SETTINGS))
    }

    /// Reads a file of settings as a JSON object; one that is not is a finding.
    pub fn json(&self, path: &Utf8Path) -> Option<serde_json::Map<String, serde_json::Value>> {
        let read = self.settings(path)?;
        let bytes = read.map_err(|error| error.to_string());
        let parsed = bytes.and_then(|bytes| {
            let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
            serde_json::from_slice(text).map_err(|error| error.to_string())
        });
        match parsed {
            Ok(serde_json::Value::Object(object)) => Some(object),
            Ok(_) => {
                self.bad_file(path, "it is not an object");
                None
            }
            Err(reason) => {
                self.bad_file(path, &reason);
                None
            }
        }
    }

    /// Adds a finding about a file of settings that cannot be used.
    pub fn bad_file(&self, path: &Utf8Path, reason: &str) {
        let shown = excerpt(path.as_str(), 200);
        let message = format!("`{shown}` is ignored: {}", excerpt(reason, 200));
        self.notice(Finding::new(Code::BadFile, message).at(Place::path(path)));
    }

    /// Reads a document; `is_template` says which lines of it a template holds.
    pub fn document(&self, path: &Utf8Path, is_template: fn(&str) -> bool) -> Looked {
        let looked = |content, bytes, unreadable| Looked {
            content,
            bytes: Bytes::new(bytes),
            unreadable,
        };
        let missing = || looked(Content::Missing, Vec::new(), None);
        let full = self.world.project().join(path);
        let Ok(meta) = self.world.stat(&full) else {
            return missing();
        };
        let Some(found) = self.inside(path) else {
            let is_link = meta.kind == Kind::Link;
            let why = is_link.then(|| "it is a link out of the project".to_owned());
            return looked(Content::Missing, Vec::new(), why);
        };
        match self.world.read(&found, LARGEST) {
            Ok(bytes) => {
                let mut looked = looked(Content::Empty, bytes, None);
                if !is_empty(&Page::read(&looked.bytes), is_template) {
                    looked.content = Content::Present;
                }
                looked
            }
            Err(ReadError::NotFound) if self.is_folder(path) => {
                let why = "it is a folder".to_owned();
                looked(Content::Missing, Vec::new(), Some(why))
            }
            Err(ReadError::NotFound) => missing(),
            Err(error) => looked(Content::Missing, Vec::new(), Some(error.to_string())),
        }
    }
}

/// Returns whether a document has nothing but blanks, headings, rules, comments and lines of a template.
fn is_empty(page: &Page<'_>, is_template: fn(&str) -> bool) -> bool {
    page.lines.iter().all(|line| match line.hidden {
        Hidden::Dropped => true,
        Hidden::Fenced | Hidden::Quoted => line.raw.trim_matches(scan::is_space).is_empty(),
        Hidden::Not => {
            let text = line.text.trim_matches(scan::is_space);
            text.is_empty() || scan::heading(text).is_some() || is_rule(text) || is_template(text)
        }
    })
}

/// Returns whether a line is a thematic break.
fn is_rule(text: &str) -> bool {
    let mut signs = text.chars().filter(|c| !scan::BLANKS.contains(c));
    let Some(first) = signs.next().filter(|c| matches!(c, '-' | '*' | '_')) else {
        return false;
    };
    let mut n = 1;
    signs.all(|c| {
        n += 1;
        c == first
    }) && n >= 3
}
