//! Lists as text, for tests.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use camino::Utf8Path;
use rekindle_protocol::{Ask, Case, Protocol as _};
use rekindle_text::Document;
use rekindle_world::MemoryWorld;

use crate::{checklist, kiro, openspec, spec_kit};
use rekindle_protocol::lists::TaskLists;
use rekindle_protocol::lists::format::Format;
use rekindle_protocol::lists::scan::Page;
use rekindle_protocol::lists::states::Standing;
use rekindle_protocol::lists::task::TaskFile;

/// Every format.
pub(crate) const FORMATS: [&dyn Format; 4] = [
    &spec_kit::SpecKit,
    &openspec::OpenSpec,
    &kiro::Kiro,
    &checklist::Checklist,
];

/// Reads the tasks of a text.
pub(crate) fn tasks(format: &dyn Format, text: impl AsRef<[u8]>) -> TaskFile {
    let document = Document::new(text.as_ref().to_vec());
    format.tasks(&Page::read(&document))
}

/// Shows the tasks of a text, one a line, then what can start and what was noticed.
pub(crate) fn shown(format: &dyn Format, text: &str) -> String {
    let file = tasks(format, text);
    let standing = Standing::of(format, &file, &BTreeSet::new());
    let ids = |places: &[usize]| {
        let ids = places.iter().map(|task| file.tasks[*task].id.as_str());
        ids.collect::<Vec<_>>().join(" ")
    };
    let mut lines = String::new();
    for (at, task) in file.tasks.iter().enumerate() {
        let needs = standing.is_work[at].then(|| standing.needs.of_task(at));
        let needs = needs.map_or_else(
            || "a heading".to_owned(),
            |needs| format!("<- {}", ids(&needs)),
        );
        let who = if task.is_for_person { " by hand" } else { "" };
        let state = standing.states[at].as_str();
        writeln!(
            lines,
            "{} {state}{who} {} {:?}",
            task.id,
            needs.trim_end(),
            task.title
        )
        .unwrap();
    }
    writeln!(lines, "can start: {}", ids(&standing.runnable)).unwrap();
    for noticed in &file.noticed {
        writeln!(
            lines,
            "{} {} {}",
            noticed.line,
            noticed.code.code(),
            noticed.about
        )
        .unwrap();
    }
    for (code, found) in [
        ("MARKED_EARLY", &standing.marked_early),
        ("MARK_MISSING", &standing.mark_missing),
    ] {
        if !found.is_empty() {
            writeln!(lines, "{code} {}", ids(found)).unwrap();
        }
    }
    for ring in &standing.needs.rings {
        writeln!(lines, "CYCLE {}", ids(ring)).unwrap();
    }
    lines
}

/// Returns a project at a fixed time.
pub(crate) fn project() -> MemoryWorld {
    MemoryWorld::new("/DEV/app", "2026-03-02T09:30:00Z".parse().unwrap())
}

/// Inspects a project; `name` is the list that is meant.
pub(crate) fn inspected(
    format: &TaskLists,
    world: &MemoryWorld,
    name: Option<&str>,
) -> Box<dyn Case> {
    let ask = Ask {
        name: name.map(str::to_owned),
        ..Ask::default()
    };
    format.inspect(world, &ask)
}

/// Shows the lists of a project, one a line, in the order in which they are shown.
pub(crate) fn overview(format: &TaskLists, world: &MemoryWorld) -> String {
    let case = inspected(format, world, None);
    let mut lines = String::new();
    for list in &case.assessment().workflows {
        let current = if list.view.is_current { " current" } else { "" };
        let room = list.view.room;
        writeln!(
            lines,
            "{} {}{current} {room:?} {}: {}",
            list.id,
            list.word(),
            list.stage,
            list.next.summary
        )
        .unwrap();
    }
    lines
}

/// Returns the sorted codes of what was noticed in a list.
pub(crate) fn codes(format: &TaskLists, world: &MemoryWorld, name: &str) -> Vec<&'static str> {
    let case = inspected(format, world, Some(name));
    let findings = case.assessment().findings.iter();
    let codes: BTreeSet<&str> = findings.map(|finding| finding.code.as_str()).collect();
    codes.into_iter().collect()
}

/// Adds files below a folder.
pub(crate) fn with(mut world: MemoryWorld, folder: &str, files: &[(&str, &str)]) -> MemoryWorld {
    for (name, text) in files {
        world = world.file(Utf8Path::new(folder).join(name), text);
    }
    world
}
