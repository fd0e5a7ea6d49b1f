//! Check boxes of any Markdown file: `TODO.md`, `PLAN.md`, or a file that a person names.
//!
//! Files like these are in many projects and nobody is waiting for most of them, so none is shown until
//! somebody asks for it or for everything.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rekindle_protocol::lists::documents;
use rekindle_protocol::lists::format::{Format, List, NextKind};
use rekindle_protocol::lists::plain;
use rekindle_protocol::lists::scan::Page;
use rekindle_protocol::lists::shelf::{Shelf, Visit};
use rekindle_protocol::lists::stages::{Row, When, row};
use rekindle_protocol::lists::task::TaskFile;
use rekindle_world::{GitAnswer, GitQuestion, Kind, World};

/// The format.
pub(crate) struct Checklist;

/// The files at the top of a project that are shown where everything is, in any case of letters.
const USUAL: [&str; 3] = ["plan.md", "tasks.md", "todo.md"];
const STAGES: [Row; 2] = [
    row(When::Open, "tasks", NextKind::ExecuteTasks, ""),
    row(When::Finished, "complete", NextKind::None, ""),
];

impl Format for Checklist {
    fn name(&self) -> &'static str {
        "checklist"
    }

    fn about(&self) -> &'static str {
        "Check boxes of any Markdown file that git tracks, such as `TODO.md`"
    }

    fn is_here(&self, world: &dyn World) -> bool {
        !usual(world).is_empty()
    }

    fn takes_any_file(&self) -> bool {
        true
    }

    fn visit(&self, visit: &mut Visit<'_>) -> Shelf {
        let mut paths: Vec<Utf8PathBuf> = Vec::new();
        if let Some(asked) = visit.asked.map(Utf8Path::new) {
            let mut parts = asked.components();
            let is_inside = parts.all(|part| matches!(part, Utf8Component::Normal(_)));
            paths.extend((is_inside && is_page(asked)).then(|| asked.to_owned()));
        } else if visit.all {
            paths = usual(visit.world);
        }
        let lists = paths.iter().filter_map(|path| list(visit, path)).collect();
        Shelf {
            lists,
            current: None,
            findings: visit.take_findings(),
        }
    }

    fn tasks(&self, page: &Page<'_>) -> TaskFile {
        plain::read(page)
    }

    fn stages(&self) -> &'static [Row] {
        &STAGES
    }

    fn command(&self, _: &List, _: &str) -> Option<String> {
        None
    }

    fn are_parents_work(&self) -> bool {
        true
    }

    fn done_mark(&self) -> &'static str {
        "x"
    }

    fn rules(&self, _: &dyn World) -> Vec<Utf8PathBuf> {
        Vec::new()
    }
}

/// Returns the usual files that a project has, in the order of their names.
fn usual(world: &dyn World) -> Vec<Utf8PathBuf> {
    let entries = world.list(world.project()).unwrap_or_default();
    let is_usual = |name: &str| USUAL.contains(&name.to_ascii_lowercase().as_str());
    let found = entries
        .into_iter()
        .filter(|entry| entry.kind == Kind::File && is_usual(&entry.name));
    let mut found: Vec<Utf8PathBuf> = found.map(|entry| entry.name.into()).collect();
    found.sort_unstable();
    found
}

fn is_page(path: &Utf8Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    matches!(extension.as_str(), "md" | "markdown" | "txt")
}

/// Reads a file; it is a list only if every task in it has a box, and if git tracks it.
fn list(visit: &Visit<'_>, path: &Utf8Path) -> Option<List> {
    if !visit.is_file(path) {
        return None;
    }
    let (tasks, file, unreadable) = documents::tasks(&Checklist, visit, path.to_owned());
    let have_boxes = file.tasks.iter().all(|task| task.mark_at.is_some());
    let is_list = unreadable.is_some() || (have_boxes && !file.tasks.is_empty());
    if !is_list || !is_tracked(visit.world, path) {
        return None;
    }
    Some(List {
        name: path.to_string(),
        title: file.heading.clone().unwrap_or_else(|| path.to_string()),
        folder: path.to_owned(),
        documents: vec![tasks],
        file,
        is_archived: false,
        has_open_question: false,
        unasked: None,
        commands: None,
        needed: &[],
        unreadable,
        findings: visit.take_findings(),
        about_work: Vec::new(),
    })
}

/// Returns whether a commit has the file. Without a repository every file counts.
fn is_tracked(world: &dyn World, path: &Utf8Path) -> bool {
    let paths = vec![path.to_string()];
    let answer = world.git(world.project(), &GitQuestion::Touched { paths });
    match answer.and_then(GitAnswer::touched) {
        Ok(touched) => !touched.commits.is_empty(),
        Err(rekindle_world::ReadError::NotFound) => true,
        Err(_) => false,
    }
}
