//! spec-kit: features in `specs/NAME/` with `spec.md`, `plan.md` and `tasks.md`.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_protocol::lists::current::{self, Branch};
use rekindle_protocol::lists::documents;
use rekindle_protocol::lists::format::{Content, Format, List, NextKind};
use rekindle_protocol::lists::reading::Ids;
use rekindle_protocol::lists::scan::Page;
use rekindle_protocol::lists::shelf::{Shelf, Visit};
use rekindle_protocol::lists::stages::{Row, When, row, write};
use rekindle_protocol::lists::task::TaskFile;
use rekindle_world::World;

use crate::spec_kit_tasks;

/// The format.
pub(crate) struct SpecKit;

const HOMES: [&str; 2] = ["specs", ".specify/specs"];
const DOCUMENTS: [&str; 3] = ["spec", "plan", "tasks"];
const STAGES: [Row; 6] = [
    row(When::Open, "implement", NextKind::ExecuteTasks, "implement"),
    row(When::Finished, "complete", NextKind::None, ""),
    write("spec", "specify", "specify"),
    Row {
        document: "spec",
        ..row(
            When::Unclear("plan"),
            "clarify",
            NextKind::AskPerson,
            "clarify",
        )
    },
    write("plan", "plan", "plan"),
    Row {
        when: When::NoTasks,
        ..write("tasks", "tasks", "tasks")
    },
];

impl Format for SpecKit {
    fn name(&self) -> &'static str {
        "spec-kit"
    }

    fn about(&self) -> &'static str {
        "Features of spec-kit in `specs/`, each with `spec.md`, `plan.md` and `tasks.md`"
    }

    fn folders(&self) -> &'static [&'static str] {
        &["specs/"]
    }

    fn commands(&self) -> &'static [&'static str] {
        &["/speckit"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        let is_there = |path: &str| world.stat(&world.project().join(path)).is_ok();
        if is_there(".specify") {
            return true;
        }
        if is_there(".bifrost") || !is_there("specs") {
            return false;
        }
        let visit = Visit::new(world, None);
        let mut names = visit.folders(Utf8Path::new("specs")).into_iter();
        names.any(|name| {
            current::leading_number(&name).is_some_and(|digits| digits.len() >= 3)
                && is_feature(&visit, &Utf8Path::new("specs").join(name))
        })
    }

    fn visit(&self, visit: &mut Visit<'_>) -> Shelf {
        let mut shelf = Shelf::default();
        let mut folders: Vec<Utf8PathBuf> = Vec::new();
        for home in HOMES.map(Utf8Path::new) {
            let names = visit.folders(home).into_iter();
            let found = names.map(|name| home.join(name));
            folders.extend(found.filter(|folder| is_feature(visit, folder)));
        }
        let named = named_folder(visit);
        if let Some(Ok(folder)) = &named
            && !folders.contains(folder)
            && is_below_project(folder)
            && is_feature(visit, folder)
        {
            folders.push(folder.clone());
        }
        let mut ids = Ids::default();
        let commands = commands(visit);
        shelf.findings = visit.take_findings();
        let mut names = Vec::new();
        for folder in &folders {
            let (name, _) = ids.take(folder.file_name().unwrap_or_default());
            if visit.is_wanted(&name) {
                shelf.lists.push(list(visit, &name, folder, commands));
            }
            names.push(name);
        }
        let at = named.as_ref().and_then(|named| named.as_ref().ok());
        let at = at.and_then(|folder| folders.iter().position(|other| other == folder));
        if named.as_ref().is_some_and(Result::is_ok) && at.is_none() {
            let message = "`.specify/feature.json` names a folder that holds no feature";
            let place = Place::path(".specify/feature.json");
            visit.notice(Finding::new(Code::CurrentMissing, message).at(place));
        }
        let chosen = at.or_else(|| match Branch::of(visit.world) {
            Branch::Named(branch) => current::by_number(&names, &branch),
            Branch::None => None,
            Branch::NoRepository => current::highest(&names),
        });
        let chosen = chosen.and_then(|at| names.get(at));
        shelf.current =
            chosen.and_then(|name| shelf.lists.iter().position(|list| list.name == *name));
        shelf
    }

    fn tasks(&self, page: &Page<'_>) -> TaskFile {
        spec_kit_tasks::read(page)
    }

    fn stages(&self) -> &'static [Row] {
        &STAGES
    }

    fn command(&self, list: &List, word: &str) -> Option<String> {
        Some(format!("{}{word}", list.commands?))
    }

    fn are_parents_work(&self) -> bool {
        true
    }

    fn done_mark(&self) -> &'static str {
        "X"
    }

    fn rules(&self, _: &dyn World) -> Vec<Utf8PathBuf> {
        vec![".specify/memory/constitution.md".into()]
    }
}

fn list(visit: &Visit<'_>, name: &str, folder: &Utf8Path, commands: &'static str) -> List {
    let read = |name| {
        let read = documents::read(visit, name, folder.join(format!("{name}.md")), |_| false);
        let is_template = read.heading.as_deref().is_some_and(is_template);
        let mut document = read.document;
        if is_template && document.content == Content::Present {
            document.content = Content::Empty;
        }
        (document, read.heading, read.has_question)
    };
    let (spec, heading, has_open_question) = read("spec");
    let (plan, _, _) = read("plan");
    let (tasks, file, unreadable) = documents::tasks(&SpecKit, visit, folder.join("tasks.md"));
    let titles = [
        (heading.as_deref(), "Feature Specification:"),
        (file.heading.as_deref(), "Tasks:"),
    ];
    let title = titles.into_iter().find_map(|(heading, words)| {
        let title = heading?.replace(words, "").trim().to_owned();
        (!title.is_empty()).then_some(title)
    });
    let mut about_work = Vec::new();
    if !file.tasks.is_empty() {
        about_work.extend(documents::open_checklist(visit, &folder.join("checklists")));
    }
    List {
        name: name.to_owned(),
        title: title.unwrap_or_else(|| name.to_owned()),
        folder: folder.to_owned(),
        documents: vec![spec, plan, tasks],
        file,
        is_archived: false,
        has_open_question,
        unasked: None,
        commands: Some(commands),
        needed: &["spec", "plan"],
        unreadable,
        findings: visit.take_findings(),
        about_work,
    }
}

fn is_feature(visit: &Visit<'_>, folder: &Utf8Path) -> bool {
    let mut documents = DOCUMENTS.iter();
    documents.any(|name| visit.is_file(&folder.join(format!("{name}.md"))))
}

/// Returns the folder that `feature.json` names; an error where the file cannot be used.
fn named_folder(visit: &Visit<'_>) -> Option<Result<Utf8PathBuf, ()>> {
    let path = Utf8Path::new(".specify/feature.json");
    if !visit.is_there(path) {
        return None;
    }
    let Some(object) = visit.json(path) else {
        return Some(Err(()));
    };
    let Some(folder) = object
        .get("feature_directory")
        .and_then(serde_json::Value::as_str)
    else {
        visit.bad_file(path, "it has no text `feature_directory`");
        return Some(Err(()));
    };
    Some(Ok(visit.named(Utf8Path::new(folder))))
}

/// Returns whether a path leads into a folder of the project, and not out of it.
fn is_below_project(folder: &Utf8Path) -> bool {
    let mut parts = folder.components();
    !folder.as_str().is_empty() && parts.all(|part| matches!(part, Utf8Component::Normal(_)))
}

/// Returns how commands begin.
fn commands(visit: &Visit<'_>) -> &'static str {
    let object = visit.json(Utf8Path::new(".specify/integration.json"));
    let sign = object.and_then(|object| {
        let name = object.get("default_integration")?.as_str()?;
        let settings = object.get("integration_settings")?.get(name)?;
        settings.get("invoke_separator")?.as_str()?.chars().next()
    });
    if sign == Some('-') {
        "/speckit-"
    } else {
        "/speckit."
    }
}

fn is_template(heading: &str) -> bool {
    heading.contains("[FEATURE NAME]") || heading.contains("[FEATURE]")
}
