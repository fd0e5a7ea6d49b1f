//! Kiro: specs in `.kiro/specs/NAME/` with requirements, a design and `tasks.md`.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_protocol::lists::current::Branch;
use rekindle_protocol::lists::documents;
use rekindle_protocol::lists::format::{Content, Format, List, NextKind};
use rekindle_protocol::lists::scan::Page;
use rekindle_protocol::lists::shelf::{Shelf, Visit};
use rekindle_protocol::lists::stages::{Row, When, row};
use rekindle_protocol::lists::task::TaskFile;
use rekindle_world::World;
use serde_json::{Map, Value};

use crate::kiro_tasks;

/// The format.
pub(crate) struct Kiro;

const HOME: &str = ".kiro/specs";
const FILES: [&str; 6] = [
    "requirements.md",
    "bugfix.md",
    "design.md",
    "tasks.md",
    ".config.kiro",
    "spec.json",
];
const SKILLS: &str = "/kiro-";
const COMMANDS: &str = "/kiro:";
const STAGES: [Row; 3] = [
    row(When::Open, "implement", NextKind::ExecuteTasks, "impl"),
    row(When::Finished, "complete", NextKind::None, ""),
    row(When::Drafting, "", NextKind::WriteDocument, ""),
];
const TITLES: [&str; 2] = ["Implementation Plan", "Implementation Tasks"];

impl Format for Kiro {
    fn name(&self) -> &'static str {
        "kiro"
    }

    fn about(&self) -> &'static str {
        "Specs of Kiro and cc-sdd in `.kiro/specs/`, each with requirements, a design and `tasks.md`"
    }

    fn folders(&self) -> &'static [&'static str] {
        &[".kiro/specs/"]
    }

    fn commands(&self) -> &'static [&'static str] {
        &["/kiro:", "/kiro-"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        world.stat(&world.project().join(HOME)).is_ok()
    }

    fn visit(&self, visit: &mut Visit<'_>) -> Shelf {
        let home = Utf8Path::new(HOME);
        let is_spec = |name: &String| {
            let is_there = |file: &&str| visit.is_file(&home.join(name).join(file));
            !name.starts_with(['.', '_']) && FILES.iter().any(is_there)
        };
        let names = visit.folders(home).into_iter();
        let names: Vec<String> = names.filter(is_spec).collect();
        let current = Branch::of(visit.world).among(&names);
        let current = current.and_then(|at| names.get(at));
        let has_skills = visit.is_folder(Utf8Path::new(".claude/skills/kiro-impl"));
        let findings = visit.take_findings();
        let wanted = names.iter().filter(|name| visit.is_wanted(name));
        let lists: Vec<List> = wanted.map(|name| list(visit, name, has_skills)).collect();
        Shelf {
            current: lists.iter().position(|list| Some(&list.name) == current),
            lists,
            findings,
        }
    }

    fn tasks(&self, page: &Page<'_>) -> TaskFile {
        kiro_tasks::read(page)
    }

    fn stages(&self) -> &'static [Row] {
        &STAGES
    }

    fn command(&self, list: &List, word: &str) -> Option<String> {
        let start = list.commands?;
        let word = match word {
            "impl" if start == SKILLS => word.to_owned(),
            "bugfix" => "spec-requirements".to_owned(),
            _ => format!("spec-{word}"),
        };
        Some(format!("{start}{word} {}", list.name))
    }

    fn are_parents_work(&self) -> bool {
        false
    }

    fn done_mark(&self) -> &'static str {
        "x"
    }

    fn rules(&self, world: &dyn World) -> Vec<Utf8PathBuf> {
        let folder = Utf8Path::new(".kiro/steering");
        let entries = world
            .list(&world.project().join(folder))
            .unwrap_or_default();
        let pages = entries
            .into_iter()
            .filter(|entry| documents::is_page(&entry.name));
        pages.map(|entry| folder.join(entry.name)).collect()
    }
}

fn list(visit: &Visit<'_>, name: &str, has_skills: bool) -> List {
    let folder = Utf8Path::new(HOME).join(name);
    let config = visit.json(&folder.join(".config.kiro")).unwrap_or_default();
    let is = |key: &str, word: &str| config.get(key).and_then(Value::as_str) == Some(word);
    let state = visit.json(&folder.join("spec.json"));
    let is_bugfix = is("specType", "bugfix");
    let is_there = |file: &str| visit.is_file(&folder.join(file));
    let has_bugfix = is_bugfix || is_there("bugfix.md");
    let first = if has_bugfix && !is_there("requirements.md") {
        "bugfix"
    } else {
        "requirements"
    };
    let mut found = Vec::new();
    for name in [first, "design"] {
        let read = documents::read(visit, name, folder.join(format!("{name}.md")), |_| false);
        found.push(read.document);
    }
    let (tasks, file, unreadable) = documents::tasks(&Kiro, visit, folder.join("tasks.md"));
    found.push(tasks);
    for document in &mut found {
        let is_unwritten = approval(state.as_ref(), document.name, "generated") == Some(false);
        if is_unwritten && document.content == Content::Present {
            document.content = Content::Empty;
        }
    }
    let is_design_first = is("workflowType", "design-first");
    if is_design_first && first == "requirements" && !is_bugfix {
        found.swap(0, 1);
    }
    let is_unapproved = approval(state.as_ref(), "tasks", "approved") == Some(false);
    let about_work = is_unapproved.then(|| {
        let message = "`spec.json` says that nobody has approved the tasks";
        Finding::new(Code::NotApproved, message).at(Place::path(folder.join("spec.json")))
    });
    List {
        name: name.to_owned(),
        title: title(file.heading.as_deref()).unwrap_or_else(|| name.to_owned()),
        folder,
        documents: found,
        file,
        is_archived: false,
        has_open_question: false,
        unasked: None,
        commands: state
            .is_some()
            .then_some(if has_skills { SKILLS } else { COMMANDS }),
        needed: if first == "bugfix" {
            &["bugfix", "design"]
        } else {
            &["requirements", "design"]
        },
        unreadable,
        findings: visit.take_findings(),
        about_work: about_work.into_iter().collect(),
    }
}

/// Returns what `spec.json` says of a document.
fn approval(state: Option<&Map<String, Value>>, document: &str, word: &str) -> Option<bool> {
    state?.get("approvals")?.get(document)?.get(word)?.as_bool()
}

/// Returns what a heading says besides that it is a plan.
fn title(heading: Option<&str>) -> Option<String> {
    let heading = heading?;
    let mut words = TITLES.iter();
    let cut = words.find_map(|word| {
        let (before, after) = heading.split_once(word)?;
        let after = after.trim_start();
        let after = after
            .strip_prefix([':', '-', '\u{2013}', '\u{2014}'])
            .unwrap_or(after);
        Some(format!("{before}{}", after.trim_start()))
    });
    let title = cut.unwrap_or_else(|| heading.to_owned());
    let title = title.trim();
    (!title.is_empty()).then(|| title.to_owned())
}
