//! `OpenSpec`: changes in `openspec/changes/NAME/` with a proposal, delta specifications and `tasks.md`.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_protocol::lists::current::Branch;
use rekindle_protocol::lists::documents;
use rekindle_protocol::lists::format::{Content, Document, Format, List, NextKind};
use rekindle_protocol::lists::grammar::{self, Boxed, skip_blanks};
use rekindle_protocol::lists::numbered::{Form, numbered};
use rekindle_protocol::lists::reading::{
    self, Grammar, Ids, Parents, WithoutId, Words, plain_claim,
};
use rekindle_protocol::lists::scan::Page;
use rekindle_protocol::lists::shelf::{Shelf, Visit};
use rekindle_protocol::lists::stages::{Row, When, row, write};
use rekindle_protocol::lists::task::TaskFile;
use rekindle_world::{Kind, World};

/// The format.
pub(crate) struct OpenSpec;

const HOME: &str = "openspec/changes";
const ARCHIVE: &str = "archive";
const TITLES: [&str; 3] = ["Change:", "Change Proposal:", "Proposal:"];
const NEWER: &str = "/opsx:";
const OLDER: &str = "/openspec:";
const STAGES: [Row; 6] = [
    row(When::Archived, "archived", NextKind::None, ""),
    row(When::Open, "apply", NextKind::ExecuteTasks, "apply"),
    row(When::Finished, "archive", NextKind::Close, "archive"),
    write("proposal", "proposal", "continue"),
    write("specs", "specs", "continue"),
    Row {
        when: When::NoTasks,
        ..write("tasks", "tasks", "continue")
    },
];
/// Every box is a task, as the tool counts.
const GRAMMAR: Grammar = Grammar {
    words,
    claim: plain_claim,
    without_id: WithoutId::Tasks,
    parents: Parents::IdOrIndent,
    has_groups: true,
};
/// Specifications are looked for so deep, and among so many files.
const DEEPEST: usize = 8;
const MOST_FILES: usize = 10_000;

impl Format for OpenSpec {
    fn name(&self) -> &'static str {
        "openspec"
    }

    fn about(&self) -> &'static str {
        "Changes of OpenSpec in `openspec/changes/`, each with a proposal, specs and `tasks.md`"
    }

    fn folders(&self) -> &'static [&'static str] {
        &["openspec/changes/"]
    }

    fn commands(&self) -> &'static [&'static str] {
        &["/opsx:", "/openspec"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        world.stat(&world.project().join(HOME)).is_ok()
    }

    fn visit(&self, visit: &mut Visit<'_>) -> Shelf {
        let home = Utf8Path::new(HOME);
        let is_shown = |name: &String| !name.starts_with('.');
        let active = visit.folders(home).into_iter();
        let active: Vec<String> = active
            .filter(|name| is_shown(name) && name != ARCHIVE)
            .collect();
        let archive = home.join(ARCHIVE);
        let archived = visit.folders(&archive).into_iter().filter(is_shown);
        let current = Branch::of(visit.world).among(&active);
        let current = current.and_then(|at| active.get(at).cloned());
        let is_new_project = is_new(visit);
        let mut ids = Ids::default();
        let mut shelf = Shelf {
            findings: visit.take_findings(),
            ..Shelf::default()
        };
        let folders = active.into_iter().map(|name| (name, home, false));
        let folders: Vec<_> = folders
            .chain(archived.map(|name| (name, archive.as_path(), true)))
            .collect();
        for (folder, home, is_archived) in folders {
            let (name, _) = ids.take(&folder);
            if visit.is_wanted(&name) {
                let folder = home.join(folder);
                let list = list(self, visit, &name, &folder, is_archived, is_new_project);
                shelf.lists.push(list);
            }
        }
        let is_current = |list: &List| current.as_ref() == Some(&list.name) && !list.is_archived;
        shelf.current = shelf.lists.iter().position(is_current);
        shelf
    }

    fn tasks(&self, page: &Page<'_>) -> TaskFile {
        reading::read(page, &GRAMMAR)
    }

    fn stages(&self) -> &'static [Row] {
        &STAGES
    }

    fn command(&self, list: &List, word: &str) -> Option<String> {
        let start = list.commands?;
        let word = match (start, word) {
            (OLDER, "continue") => "proposal",
            _ => word,
        };
        Some(format!("{start}{word} {}", list.name))
    }

    fn are_parents_work(&self) -> bool {
        false
    }

    fn done_mark(&self) -> &'static str {
        "x"
    }

    fn rules(&self, _: &dyn World) -> Vec<Utf8PathBuf> {
        vec!["openspec/project.md".into(), "openspec/config.yaml".into()]
    }
}

/// Returns whether the project is of the newer generation; `None` where each change has to say.
fn is_new(visit: &Visit<'_>) -> Option<bool> {
    let is_there = |path: &str| visit.is_file(Utf8Path::new(path));
    if is_there("openspec/config.yaml") {
        return Some(true);
    }
    let is_old = is_there("openspec/AGENTS.md") || is_there("openspec/project.md");
    (!is_old).then_some(true)
}

fn list(
    format: &OpenSpec,
    visit: &Visit<'_>,
    name: &str,
    folder: &Utf8Path,
    is_archived: bool,
    is_new_project: Option<bool>,
) -> List {
    let own = folder.join(".openspec.yaml");
    let settings = visit.settings(&own).map(Result::unwrap_or_default);
    let settings = settings.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let skips = |text: &String| text.lines().any(|line| line.trim() == "skip_specs: true");
    let proposal = documents::read(visit, "proposal", folder.join("proposal.md"), is_template);
    let design = documents::read(visit, "design", folder.join("design.md"), is_template);
    let specs = Document {
        name: "specs",
        path: folder.join("specs"),
        content: specs(visit, &folder.join("specs")),
    };
    let (tasks, file, unreadable) = documents::tasks(format, visit, folder.join("tasks.md"));
    let title = proposal.heading.and_then(|heading| {
        let mut words = TITLES.iter();
        let rest = words.find_map(|word| heading.strip_prefix(word));
        let title = rest.unwrap_or(&heading).trim();
        (!title.is_empty()).then(|| title.to_owned())
    });
    List {
        name: name.to_owned(),
        title: title.unwrap_or_else(|| name.to_owned()),
        folder: folder.to_owned(),
        documents: vec![proposal.document, specs, design.document, tasks],
        file,
        is_archived,
        has_open_question: false,
        unasked: settings.as_ref().is_some_and(skips).then_some("specs"),
        commands: Some(if is_new_project.unwrap_or(settings.is_some()) {
            NEWER
        } else {
            OLDER
        }),
        needed: &["proposal"],
        unreadable,
        findings: visit.take_findings(),
        about_work: Vec::new(),
    }
}

/// Returns whether a line is one that the tool's own templates hold.
fn is_template(line: &str) -> bool {
    let is_capability = line
        .strip_prefix("- `<")
        .and_then(|rest| rest.split_once(">`: <"))
        .is_some_and(|(_, rest)| rest.ends_with('>'));
    is_capability || matches!(line, "**Goals:**" | "**Non-Goals:**")
}

/// Returns whether there is a specification below a folder.
fn specs(visit: &Visit<'_>, folder: &Utf8Path) -> Content {
    let mut content = Content::Missing;
    let mut open = vec![(folder.to_owned(), 0)];
    let mut n_files = 0;
    while let Some((folder, depth)) = open.pop() {
        if !visit.is_folder(&folder) {
            continue;
        }
        let entries = visit.world.list(&visit.world.project().join(&folder));
        for entry in entries.unwrap_or_default() {
            let path = folder.join(&entry.name);
            n_files += 1;
            if n_files > MOST_FILES {
                return content;
            }
            match entry.kind {
                Kind::Folder if depth < DEEPEST => open.push((path, depth + 1)),
                Kind::File if documents::is_page(&entry.name) => {
                    match visit.document(&path, is_template).content {
                        Content::Present => return Content::Present,
                        Content::Empty => content = Content::Empty,
                        Content::Missing => {}
                    }
                }
                Kind::Folder | Kind::File | Kind::Link | Kind::Other => {}
            }
        }
    }
    content
}

/// Returns what stands behind a box.
#[expect(clippy::unnecessary_wraps, reason = "a grammar may refuse a line")]
fn words<'l>(boxed: &Boxed<'l>) -> Option<Words<'l>> {
    let text = skip_blanks(boxed.check.rest);
    let (id, rest, open) = match numbered(text, Form::Letters) {
        Some(found) => (Some(found.id), found.after.rest, found.after.open),
        None => (None, text, Vec::new()),
    };
    let (text, is_left_out) = grammar::struck(rest, &open);
    Some(Words {
        id,
        text,
        is_left_out,
        ..Words::default()
    })
}
