//! `OpenSpec`: changes in `openspec/changes/NAME/` with a proposal, delta specifications and `tasks.md`.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_protocol::Decision;
use rekindle_world::{Kind, World};

use crate::current::Branch;
use crate::format::{Content, Document, Format, List, NextKind, Stage, Traits};
use crate::grammar::{self, Boxed, Boxes, skip_blanks};
use crate::numbered::{self, Form, numbered};
use crate::scan::{Mark, Page, number};
use crate::shelf::{Shelf, Visit};
use crate::states::Standing;
use crate::table::{Claim, Progress};
use crate::task::{Ids, Nesting, Notice, Task, TaskFile};
use crate::{documents, person};

/// The format.
pub(crate) struct OpenSpec;

const HOME: &str = "openspec/changes";
const ARCHIVE: &str = "archive";
const TITLES: [&str; 3] = ["Change:", "Change Proposal:", "Proposal:"];
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
        let is_current =
            |list: &List| current.as_ref() == Some(&list.name) && !list.traits.is_archived;
        shelf.current = shelf.lists.iter().position(is_current);
        shelf
    }

    fn tasks(&self, page: &Page<'_>) -> TaskFile {
        read(page)
    }

    fn stage(&self, list: &List, standing: &Standing) -> Stage {
        let is_new = list.traits.is_new;
        let stage = |name, next, document, words: Option<(&str, &str)>| Stage {
            name,
            next,
            document,
            command: words.map(|(new, old)| {
                let (start, word) = if is_new {
                    ("opsx", new)
                } else {
                    ("openspec", old)
                };
                format!("/{start}:{word} {}", list.name)
            }),
        };
        let write = |document| {
            stage(
                document,
                NextKind::WriteDocument,
                Some(document),
                Some(("continue", "proposal")),
            )
        };
        if list.traits.is_archived {
            return stage("archived", NextKind::None, None, None);
        }
        match standing.counts.progress() {
            Progress::NotBegun | Progress::Begun => stage(
                "apply",
                NextKind::ExecuteTasks,
                None,
                Some(("apply", "apply")),
            ),
            Progress::Finished => stage(
                "archive",
                NextKind::Close,
                None,
                Some(("archive", "archive")),
            ),
            Progress::NoTasks if list.content("proposal") != Content::Present => write("proposal"),
            Progress::NoTasks
                if list.content("specs") != Content::Present && !list.traits.skips_specs =>
            {
                write("specs")
            }
            Progress::NoTasks => write("tasks"),
        }
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

    fn decisions(&self) -> Vec<Decision> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        vec![Decision {
            title: "The stage of a change",
            about: "The first row that matches decides.".to_owned(),
            headings: vec!["tasks", "documents", "stage", "next"],
            rows: vec![
                row(["", "in `archive/`", "`archived`", "`none`"]),
                row(["some open", "", "`apply`", "`execute_tasks`"]),
                row(["all done or left out", "", "`archive`", "`close`"]),
                row(["none", "no `proposal`", "`proposal`", "`write_document`"]),
                row([
                    "none",
                    "no `specs`, without `skip_specs: true`",
                    "`specs`",
                    "`write_document`",
                ]),
                row(["none", "", "`tasks`", "`write_document`"]),
            ],
        }]
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
    let is_asked = |text: &String| text.lines().any(|line| line.trim() == "skip_specs: true");
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
        traits: Traits {
            is_archived,
            skips_specs: settings.as_ref().is_some_and(is_asked),
            is_new: is_new_project.unwrap_or(settings.is_some()),
            ..Traits::default()
        },
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

/// A box with what stands behind it.
struct TaskLine<'l> {
    id: Option<&'l str>,
    text: &'l str,
    is_struck: bool,
}

impl<'l> TaskLine<'l> {
    fn read(boxed: &Boxed<'l>) -> Self {
        let text = skip_blanks(boxed.check.rest);
        let found = numbered(text, Form::Letters);
        let (id, rest, open) = match found {
            Some(found) => (Some(found.id), found.after.rest, found.after.open),
            None => (None, text, Vec::new()),
        };
        let (text, is_struck) = grammar::struck(rest, &open);
        Self {
            id,
            text,
            is_struck,
        }
    }
}

/// Reads the tasks of a file: every box is one.
fn read(page: &Page<'_>) -> TaskFile {
    let mut file = TaskFile::default();
    let boxes = Boxes::of(page, &mut file);
    let mut ids = Ids::default();
    let mut lines = Vec::new();
    // What is written down comes first: an id that is made never takes the place of one.
    for boxed in &boxes.boxes {
        let line = TaskLine::read(boxed);
        if line.text.is_empty() {
            grammar::notice_empty(&mut file, page, boxed.at);
            continue;
        }
        let id = line.id.map(|id| {
            let (unique, is_taken) = ids.take(id);
            if is_taken {
                file.notice(Notice::DuplicateId, number(boxed.at), id);
            }
            unique
        });
        lines.push((boxed, line, id));
    }
    let mut outline = Outline::default();
    for (boxed, line, id) in lines {
        let parent = outline.enter(boxed, line.id);
        let id = id.unwrap_or_else(|| {
            let heading = boxes.groups.get(boxed.group).map_or("", String::as_str);
            ids.take(&outline.place(&file, parent, heading, boxed.group))
                .0
        });
        let mut claim = grammar::plain_claim(&mut file, boxed);
        if boxed.check.mark == Mark::Open && line.is_struck {
            claim = Claim::Skipped;
        }
        file.tasks.push(Task {
            id,
            title: line.text.to_owned(),
            claim,
            parent,
            is_for_person: person::is_for_person(line.text, &[]),
            ..boxed.task(page)
        });
    }
    grammar::add_details(page, &mut file);
    file
}

/// Where reading is in the outline.
#[derive(Default)]
struct Outline<'l> {
    written: std::collections::HashMap<&'l str, usize>,
    nesting: Nesting,
    n_parts: Vec<usize>,
    group: Option<usize>,
    n_groups: usize,
    n_tops: usize,
}

impl<'l> Outline<'l> {
    /// Takes the next task, and returns what it is a part of.
    fn enter(&mut self, boxed: &Boxed<'_>, id: Option<&'l str>) -> Option<usize> {
        if self.group != Some(boxed.group) {
            self.group = Some(boxed.group);
            self.n_groups += 1;
            self.n_tops = 0;
            self.nesting.clear();
        }
        let at = self.n_parts.len();
        let nested = self.nesting.enter(at, boxed.check.indent);
        let by_id = id
            .and_then(numbered::parent)
            .and_then(|id| self.written.get(id).copied());
        let parent = by_id.or(nested);
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
            0 => self.n_tops.to_string(),
            _ if is_number => format!("{}.{}", &heading[..digits], self.n_tops),
            _ => format!("{}.{}", self.n_groups, self.n_tops),
        }
    }
}
