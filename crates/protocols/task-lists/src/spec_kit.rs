//! spec-kit: features in `specs/NAME/` with `spec.md`, `plan.md` and `tasks.md`.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_protocol::Decision;
use rekindle_world::World;

use crate::current::{self, Branch};
use crate::format::{Content, Format, List, NextKind, Stage, Traits};
use crate::scan::Page;
use crate::shelf::{Shelf, Visit};
use crate::states::Standing;
use crate::table::Progress;
use crate::task::{Ids, TaskFile};
use crate::{documents, spec_kit_tasks};

/// The format.
pub(crate) struct SpecKit;

const HOMES: [&str; 2] = ["specs", ".specify/specs"];
const DOCUMENTS: [&str; 3] = ["spec", "plan", "tasks"];

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
        let separator = separator(visit);
        shelf.findings = visit.take_findings();
        let mut names = Vec::new();
        for folder in &folders {
            let (name, _) = ids.take(folder.file_name().unwrap_or_default());
            if visit.is_wanted(&name) {
                shelf.lists.push(list(visit, &name, folder, separator));
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

    fn stage(&self, list: &List, standing: &Standing) -> Stage {
        let command = |word: &str| format!("/speckit{}{word}", list.traits.separator);
        let stage = |name, next, document, word: Option<&str>| Stage {
            name,
            next,
            document,
            command: word.map(command),
        };
        let is_written = |name| list.content(name) == Content::Present;
        match standing.counts.progress() {
            Progress::Finished => stage("complete", NextKind::None, None, None),
            Progress::NotBegun | Progress::Begun => {
                stage("implement", NextKind::ExecuteTasks, None, Some("implement"))
            }
            Progress::NoTasks if !is_written("spec") => stage(
                "specify",
                NextKind::WriteDocument,
                Some("spec"),
                Some("specify"),
            ),
            Progress::NoTasks if !is_written("plan") && list.traits.has_open_question => stage(
                "clarify",
                NextKind::AskPerson,
                Some("spec"),
                Some("clarify"),
            ),
            Progress::NoTasks if !is_written("plan") => {
                stage("plan", NextKind::WriteDocument, Some("plan"), Some("plan"))
            }
            Progress::NoTasks => stage(
                "tasks",
                NextKind::WriteDocument,
                Some("tasks"),
                Some("tasks"),
            ),
        }
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

    fn decisions(&self) -> Vec<Decision> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        vec![Decision {
            title: "The stage of a feature",
            about: "The first row that matches decides.".to_owned(),
            headings: vec!["tasks", "documents", "stage", "next"],
            rows: vec![
                row(["some open", "", "`implement`", "`execute_tasks`"]),
                row(["all done or left out", "", "`complete`", "`none`"]),
                row(["none", "no `spec`", "`specify`", "`write_document`"]),
                row([
                    "none",
                    "a question is open in `spec`, no `plan`",
                    "`clarify`",
                    "`ask_person`",
                ]),
                row(["none", "no `plan`", "`plan`", "`write_document`"]),
                row(["none", "", "`tasks`", "`write_document`"]),
            ],
        }]
    }
}

fn list(visit: &Visit<'_>, name: &str, folder: &Utf8Path, separator: char) -> List {
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
        traits: Traits {
            has_open_question,
            separator,
            ..Traits::default()
        },
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
    Some(Ok(in_project(visit.world, Utf8Path::new(folder))))
}

/// Returns a folder relative to the project; one outside of it stays as it is.
fn in_project(world: &dyn World, folder: &Utf8Path) -> Utf8PathBuf {
    let within = |folder: &Utf8Path, project: &Utf8Path| {
        let rest = folder.strip_prefix(project).ok()?;
        Some(rest.components().collect::<Utf8PathBuf>())
    };
    let resolved = || {
        let project = world.resolve(world.project()).ok()?;
        within(&world.resolve(folder).ok()?, &project)
    };
    let found = if folder.is_absolute() {
        within(folder, world.project()).or_else(resolved)
    } else {
        within(folder, Utf8Path::new(".")).or_else(|| within(folder, Utf8Path::new("")))
    };
    found.unwrap_or_else(|| folder.to_owned())
}

/// Returns whether a path leads into a folder of the project, and not out of it.
fn is_below_project(folder: &Utf8Path) -> bool {
    let mut parts = folder.components();
    !folder.as_str().is_empty() && parts.all(|part| matches!(part, Utf8Component::Normal(_)))
}

/// Returns the sign between the words of a command.
fn separator(visit: &Visit<'_>) -> char {
    let object = visit.json(Utf8Path::new(".specify/integration.json"));
    let found = object.and_then(|object| {
        let name = object.get("default_integration")?.as_str()?;
        let settings = object.get("integration_settings")?.get(name)?;
        settings.get("invoke_separator")?.as_str()?.chars().next()
    });
    found.filter(|sign| *sign == '-').unwrap_or('.')
}

fn is_template(heading: &str) -> bool {
    heading.contains("[FEATURE NAME]") || heading.contains("[FEATURE]")
}
