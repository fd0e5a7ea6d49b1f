//! World to evidence: the files of every run, without conclusions.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Code, Place, Settings};
use rekindle_protocol::capability::RunOfList;
use rekindle_world::{Entry, Kind, Meta, ReadError, World};

use super::event::Event;
use super::findings::Findings;
use super::fold::{Fold, Folded, Owner};
use super::layout::{self, Artifact};
use super::log::{self, Mark};
use super::origin::Record;
use super::task_graph::{self, TaskGraph};

/// A graph of 100,000 tasks is about 40 MB.
const LARGEST_GRAPH: u64 = 256 * 1024 * 1024;
/// Contracts are pages, not books.
const LARGEST_CONTRACT: u64 = 1024 * 1024;
/// A document that is longer has more in it than a few line ends.
pub(super) const LARGEST_BLANK: u64 = 64;
/// Folders under `events/` deeper than this are not looked into.
const DEEPEST: usize = 16;

/// The files of all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) now: Timestamp,
    /// Sorted by name.
    pub(super) runs: Vec<RunEvidence>,
    /// Findings outside the runs.
    pub(super) findings: Findings,
}

/// The files of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunEvidence {
    pub(super) id: String,
    pub(super) artifacts: BTreeSet<Artifact>,
    /// Empty documents, which do not count, with their bytes.
    pub(super) blank: BTreeMap<Artifact, Vec<u8>>,
    pub(super) graph: GraphFile,
    /// Names in `tasks/`.
    pub(super) contracts: Vec<String>,
    /// Names in `events/orchestrator/`, so that a new log gets a name of its own.
    pub(super) orchestrator_logs: Vec<String>,
    /// The logs in the order that [`Mark::file`] counts, relative to the project.
    pub(super) logs: Vec<Utf8PathBuf>,
    pub(super) folded: Folded,
    /// The title in the contract of the last completed task, if the graph has none.
    pub(super) contract_title: Option<(String, String)>,
    /// The settings of a run that `rekindle run` started.
    pub(super) settings: SettingsFile,
    pub(super) findings: Findings,
}

/// `task-graph.json` as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GraphFile {
    Absent,
    Corrupt,
    Read(TaskGraph),
}

/// `rekindle-run.json` as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingsFile {
    /// It does not exist, and nothing shows that `rekindle run` started the run.
    Absent,
    /// `rekindle run` started the run, and how it is to be done cannot be read.
    Unusable,
    Read(Box<Settings>),
}

impl RunEvidence {
    /// Returns the location of an event.
    pub(super) fn place(&self, mark: Mark) -> Place {
        Place::line(self.logs[mark.file].clone(), mark.line)
    }

    /// Returns the name under which its events count: the folder's, or the one it had before it was renamed.
    pub(super) fn name_in_events(&self) -> &str {
        self.folded.renamed_from.as_deref().unwrap_or(&self.id)
    }
}

impl GraphFile {
    pub(super) fn get(&self) -> Option<&TaskGraph> {
        match self {
            Self::Read(graph) => Some(graph),
            Self::Absent | Self::Corrupt => None,
        }
    }
}

/// Reads every run of the project.
pub(super) fn evidence(world: &dyn World) -> Evidence {
    evidence_of(world, |names| names)
}

/// Reads those runs of the project that `select` leaves of all their names.
pub(super) fn evidence_of(
    world: &dyn World,
    select: impl FnOnce(Vec<String>) -> Vec<String>,
) -> Evidence {
    let mut findings = Findings::default();
    let folder = world.project().join(layout::RUNS);
    // A parent folder may be a link that leads out of the project.
    let is_inside = world.stat(&folder).is_err() || inside(world, &folder, &mut findings).is_some();
    let entries = if is_inside {
        list(world, &folder, &mut findings)
    } else {
        Vec::new()
    };
    let names = entries
        .into_iter()
        .filter(|entry| !entry.name.starts_with('.'))
        .filter(|entry| is_folder(world, &folder, entry, &mut findings))
        .map(|entry| entry.name)
        .collect();
    let selected = select(names);
    let runs = selected.iter().map(|name| run(world, name)).collect();
    Evidence {
        now: world.now(),
        runs,
        findings,
    }
}

/// Returns the runs whose settings name a list, oldest first.
pub(super) fn runs_of_lists(world: &dyn World) -> Vec<RunOfList> {
    let folder = world.project().join(layout::RUNS);
    let entries = world.list(&folder).unwrap_or_default().into_iter();
    let names = entries.map(|entry| entry.name);
    let of_list = |name: String| {
        let path = world
            .project()
            .join(layout::run_folder(&name))
            .join(super::settings::FILE);
        let bytes = inside(world, &path, &mut Findings::default())
            .and_then(|path| world.read(&path, LARGEST_CONTRACT).ok())?;
        let settings = super::settings::parse(&bytes).ok()?;
        Some(RunOfList {
            name,
            list: settings.list?.id,
            branch: settings.branch,
        })
    };
    names.filter_map(of_list).collect()
}

fn run(world: &dyn World, id: &str) -> RunEvidence {
    let folder = world.project().join(layout::run_folder(id));
    let mut findings = Findings::default();
    let mut artifacts: BTreeSet<Artifact> = Artifact::ALL
        .into_iter()
        .filter(|artifact| world.is_file(&folder.join(artifact.file_name())))
        .collect();
    let blank = blank(world, &folder, &artifacts, &mut findings);
    artifacts.retain(|artifact| !blank.contains_key(artifact));
    let graph = if artifacts.contains(&Artifact::TaskGraph) {
        read_graph(world, &folder, &mut findings)
    } else {
        GraphFile::Absent
    };
    if graph == GraphFile::Absent {
        // It is gone since the folder was looked at.
        artifacts.remove(&Artifact::TaskGraph);
    }
    let mut contracts = list(world, &folder.join("tasks"), &mut findings);
    contracts.retain(|entry| matches!(entry.kind, Kind::File | Kind::Link));
    let contracts = names(&contracts);
    let events = folder.join("events");
    let orchestrator_logs = names(&list(
        world,
        &events.join("orchestrator"),
        &mut Findings::default(),
    ));
    let mut logs = Vec::new();
    find_logs(world, &events, DEEPEST, &mut logs, &mut findings);
    let folded = fold(world, id, &logs, &mut findings);
    let contract_title = contract_title(world, &folder, &folded, graph.get(), &contracts);
    let settings = Record {
        world,
        id,
        folder: &folder,
        graph: &graph,
        folded: &folded,
    }
    .settings(&mut findings);
    RunEvidence {
        id: id.to_owned(),
        artifacts,
        blank,
        graph,
        contracts,
        orchestrator_logs,
        logs: logs.iter().map(|log| shown(world, log)).collect(),
        folded,
        contract_title,
        settings,
        findings,
    }
}

/// Returns the empty documents, with their bytes.
///
/// A crash after creating a file leaves one; it proves neither an approval nor the end of a run.
fn blank(
    world: &dyn World,
    folder: &Utf8Path,
    artifacts: &BTreeSet<Artifact>,
    findings: &mut Findings,
) -> BTreeMap<Artifact, Vec<u8>> {
    let mut blank = BTreeMap::new();
    for &artifact in artifacts.iter().filter(|artifact| artifact.is_written()) {
        let path = folder.join(artifact.file_name());
        let is_short = |meta: Meta| meta.kind == Kind::File && meta.len <= LARGEST_BLANK;
        let is_blank = |c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}');
        if world.stat(&path).is_ok_and(is_short)
            && let Ok(bytes) = world.read(&path, LARGEST_BLANK)
            && String::from_utf8_lossy(&bytes).chars().all(is_blank)
        {
            findings.add_about(Code::EmptyDocument, artifact.file_name(), || {
                Place::path(shown(world, &path))
            });
            blank.insert(artifact, bytes);
        }
    }
    blank
}

fn names(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.name.clone()).collect()
}

/// Returns a path relative to the project, if it is inside.
pub(super) fn shown(world: &dyn World, path: &Utf8Path) -> Utf8PathBuf {
    path.strip_prefix(world.project())
        .unwrap_or(path)
        .to_owned()
}

/// Lists a folder; a missing one is empty, an unreadable one is a finding.
fn list(world: &dyn World, folder: &Utf8Path, findings: &mut Findings) -> Vec<Entry> {
    if !is_ours(world, folder, findings) {
        return Vec::new();
    }
    match world.list(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if !error.is_not_found() {
                unreadable(world, folder, &error, findings);
            }
            Vec::new()
        }
    }
}

fn unreadable(world: &dyn World, path: &Utf8Path, error: &ReadError, findings: &mut Findings) {
    let place = shown(world, path);
    findings.add_about(Code::UnreadableFile, format!("{place}: {error}"), || {
        Place::path(place.clone())
    });
}

/// Returns whether an entry is a folder inside the project.
fn is_folder(world: &dyn World, folder: &Utf8Path, entry: &Entry, findings: &mut Findings) -> bool {
    match entry.kind {
        Kind::Folder => true,
        Kind::Link => {
            let path = folder.join(&entry.name);
            let target = inside(world, &path, findings);
            target.is_some_and(|target| {
                world
                    .stat(&target)
                    .is_ok_and(|meta| meta.kind == Kind::Folder)
            })
        }
        Kind::File | Kind::Other => false,
    }
}

/// Returns whether a path is not a link, or one that stays inside the project.
fn is_ours(world: &dyn World, path: &Utf8Path, findings: &mut Findings) -> bool {
    let is_link = world.stat(path).is_ok_and(|meta| meta.kind == Kind::Link);
    !is_link || inside(world, path, findings).is_some()
}

/// Returns the target of a link, if it is inside the project; otherwise adds a finding.
pub(super) fn inside(
    world: &dyn World,
    link: &Utf8Path,
    findings: &mut Findings,
) -> Option<Utf8PathBuf> {
    let target = world.resolve(link).ok()?;
    let project = world.resolve(world.project()).ok()?;
    if target.starts_with(&project) {
        return Some(target);
    }
    let place = shown(world, link);
    findings.add_about(Code::OutsideProject, place.as_str(), || {
        Place::path(place.clone())
    });
    None
}

/// Finds all logs below `folder`, sorted by path.
fn find_logs(
    world: &dyn World,
    folder: &Utf8Path,
    depth: usize,
    logs: &mut Vec<Utf8PathBuf>,
    findings: &mut Findings,
) {
    for entry in list(world, folder, findings) {
        let path = folder.join(&entry.name);
        let is_log = path.extension() == Some("jsonl");
        match entry.kind {
            Kind::Folder if depth > 0 => find_logs(world, &path, depth - 1, logs, findings),
            Kind::File if is_log => logs.push(path),
            // A link to a folder is never followed: it could lead round in a circle.
            Kind::Link if is_log && inside(world, &path, findings).is_some() => logs.push(path),
            Kind::Folder | Kind::File | Kind::Link | Kind::Other => {}
        }
    }
}

fn fold(world: &dyn World, id: &str, logs: &[Utf8PathBuf], findings: &mut Findings) -> Folded {
    let before = findings.clone();
    let folded = fold_as(world, Owner::Folder(id), logs, findings);
    let renamed = folded.renamed_from.as_deref().map(|from| {
        // The folder was renamed: its events count under their own name.
        *findings = before;
        fold_as(world, Owner::Renamed(from), logs, findings)
    });
    note_foreign(world, &folded, logs, findings);
    renamed.unwrap_or(folded)
}

fn fold_as(
    world: &dyn World,
    owner: Owner<'_>,
    logs: &[Utf8PathBuf],
    findings: &mut Findings,
) -> Folded {
    let mut fold = Fold::new(owner);
    each_event(world, logs, findings, &mut |event, mark| {
        fold.hear(event, mark);
    });
    fold.finish()
}

/// Hands on every event of the given logs.
pub(super) fn each_event(
    world: &dyn World,
    logs: &[Utf8PathBuf],
    findings: &mut Findings,
    sink: &mut dyn FnMut(&Event<'_>, Mark),
) {
    for (file, path) in logs.iter().enumerate() {
        let place = shown(world, path);
        match log::read(world, path, place.clone(), file, findings, sink) {
            Ok(()) => {}
            Err(ReadError::NotFound) => {
                findings.add_about(Code::VanishedFile, place.as_str(), || {
                    Place::path(place.clone())
                });
            }
            Err(
                error @ (ReadError::Denied | ReadError::TooLarge { .. } | ReadError::Failed(_)),
            ) => {
                unreadable(world, path, &error, findings);
            }
        }
    }
}

fn note_foreign(world: &dyn World, folded: &Folded, logs: &[Utf8PathBuf], findings: &mut Findings) {
    for (other, mark) in &folded.foreign {
        findings.add_about(Code::RunIdMismatch, other, || {
            Place::line(shown(world, &logs[mark.file]), mark.line)
        });
    }
}

fn read_graph(world: &dyn World, folder: &Utf8Path, findings: &mut Findings) -> GraphFile {
    let path = folder.join(Artifact::TaskGraph.file_name());
    let place = || Place::path(shown(world, &path));
    if !is_ours(world, &path, findings) {
        return GraphFile::Absent;
    }
    let bytes = match world.read(&path, LARGEST_GRAPH) {
        Ok(bytes) => bytes,
        Err(ReadError::NotFound) => return GraphFile::Absent,
        Err(error @ (ReadError::Denied | ReadError::TooLarge { .. } | ReadError::Failed(_))) => {
            unreadable(world, &path, &error, findings);
            return GraphFile::Corrupt;
        }
    };
    match task_graph::parse(&bytes) {
        Ok(graph) => GraphFile::Read(graph),
        Err(reason) => {
            findings.add_about(Code::CorruptTaskGraph, reason, place);
            GraphFile::Corrupt
        }
    }
}

/// Reads the title of the last completed task from its contract, if the graph has none.
fn contract_title(
    world: &dyn World,
    folder: &Utf8Path,
    folded: &Folded,
    graph: Option<&TaskGraph>,
    contracts: &[String],
) -> Option<(String, String)> {
    let (task, _) = folded.last_completed()?;
    let is_task = |id: &str| graph.is_some_and(|graph| graph.graph.find(id).is_some());
    let titled = graph
        .and_then(|graph| graph.tasks.get(graph.graph.find(task)?))
        .is_some_and(|task| !task.title.is_empty());
    if titled {
        return None;
    }
    let name = layout::contract(task, contracts, is_task)?;
    let text = document(world, &folder.join("tasks").join(name))?;
    let title = heading_title(&text, task)?;
    Some((task.to_owned(), title))
}

/// Reads a document of the run, if it exists and is readable.
pub(super) fn document(world: &dyn World, path: &Utf8Path) -> Option<String> {
    inside(world, path, &mut Findings::default())?;
    let bytes = world.read(path, LARGEST_CONTRACT).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a file of a run, if it is in the project.
pub(super) fn bytes(world: &dyn World, path: &Utf8Path) -> Option<Vec<u8>> {
    inside(world, path, &mut Findings::default())?;
    world.read(path, LARGEST_GRAPH).ok()
}

/// Returns the text that follows the id in the heading `## Task: <id>`.
pub(super) fn heading_title(text: &str, task: &str) -> Option<String> {
    rekindle_text::headings(text)
        .into_iter()
        .find_map(|heading| {
            let line = text.get(heading.text.range())?;
            let rest = line
                .strip_prefix("Task:")?
                .trim_start()
                .strip_prefix(task)?;
            // Neither `T0031` nor `T003-TEST` is `T003` with a title.
            let after = rest.strip_prefix('-').unwrap_or(rest);
            if !after.is_empty()
                && !after.starts_with(|c: char| c.is_whitespace() || "–—:".contains(c))
            {
                return None;
            }
            let title = rest.trim_start_matches(|c: char| c.is_whitespace() || "-–—:".contains(c));
            Some(title.trim_end().to_owned()).filter(|title| !title.is_empty())
        })
}

/// Reads the contract of a task as text, if it has one.
pub(super) fn contract_text(
    world: &dyn World,
    run: &RunEvidence,
    task: &str,
) -> Option<(Utf8PathBuf, String)> {
    let is_task = |id: &str| {
        run.graph
            .get()
            .is_some_and(|graph| graph.graph.find(id).is_some())
    };
    let name = layout::contract(task, &run.contracts, is_task)?;
    let path = layout::run_folder(&run.id).join("tasks").join(name);
    Some((path.clone(), document(world, &world.project().join(&path))?))
}
