//! World to evidence: the memory, the files next to it, and kiln's folder in the project.
//!
//! Only MEMORY.md is required.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_text::excerpt;
use rekindle_world::{Kind, World};

use super::findings;
use super::handed_back::HandedBack;
use super::layout::{self, Layout};
use super::master_plan::MasterPlan;
use super::memory::{Fields, Memory};
use super::names::Names;
use super::phase_state::PhaseState;
use super::report::Report;
use super::restart::TaskFiles;

/// What was found of a project.
#[derive(Debug)]
pub(super) enum Evidence {
    /// The memory is missing or empty.
    NoMemory(Layout),
    /// The memory has no known stage or status.
    Corrupt {
        layout: Layout,
        fields: Vec<&'static str>,
        /// Why the file could not be read, if so.
        unreadable: Option<String>,
    },
    /// The memory can be followed.
    Project(Box<Project>),
}

/// All that was read of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) layout: Layout,
    /// The folder of the memory.
    pub(super) memory_dir: Utf8PathBuf,
    /// The target of that folder, if it is a link.
    pub(super) linked_to: Option<Utf8PathBuf>,
    pub(super) memory: Memory,
    pub(super) fields: Fields,
    /// The existing supporting files, by name.
    pub(super) documents: BTreeMap<&'static str, String>,
    pub(super) plan: MasterPlan,
    /// Phases that have a summary in the archive.
    pub(super) archived: BTreeSet<u32>,
    /// The state files of phases.
    pub(super) states: BTreeMap<u32, PhaseState>,
    pub(super) tasks: TaskFiles,
    pub(super) report: Option<Report>,
    /// `phase-<N>-results.md`, by phase.
    pub(super) results: BTreeMap<u32, String>,
    /// The summaries of archived phases.
    pub(super) summaries: BTreeMap<u32, String>,
    pub(super) names: Names,
    /// The work that the last resume handed back to its caller.
    pub(super) handed_back: Option<HandedBack>,
    pub(super) findings: Vec<Finding>,
}

impl Project {
    /// Returns the project with another memory, which must have a known stage and status.
    pub(super) fn with_memory(&self, memory: Memory) -> Self {
        let fields = memory.read().unwrap_or_else(|_| self.fields.clone());
        Self {
            memory,
            fields,
            ..self.clone()
        }
    }

    /// Returns a supporting file.
    pub(super) fn document(&self, name: &str) -> Option<&str> {
        self.documents.get(name).map(String::as_str)
    }

    /// Returns the path of MEMORY.md.
    pub(super) fn memory_file(&self) -> Utf8PathBuf {
        self.memory_dir.join(layout::MEMORY)
    }
}

/// Reads the project.
pub(super) fn evidence(world: &dyn World) -> Evidence {
    let layout = Layout::find(world);
    let (Some(memory_dir), Some(file)) = (layout.memory(), layout.in_memory(layout::MEMORY)) else {
        return Evidence::NoMemory(layout);
    };
    let memory = match world.read(&file, layout::LARGEST) {
        Ok(bytes) => Memory::parse(bytes),
        Err(error) if error.is_not_found() => return Evidence::NoMemory(layout),
        Err(error) => {
            return Evidence::Corrupt {
                layout,
                fields: vec!["stage", "status"],
                unreadable: Some(error.to_string()),
            };
        }
    };
    if memory.is_empty() {
        return Evidence::NoMemory(layout);
    }
    match memory.read() {
        Err(fields) => Evidence::Corrupt {
            layout,
            fields,
            unreadable: None,
        },
        Ok(fields) => {
            Evidence::Project(Box::new(project(world, layout, memory_dir, memory, fields)))
        }
    }
}

fn project(
    world: &dyn World,
    layout: Layout,
    memory_dir: Utf8PathBuf,
    memory: Memory,
    fields: Fields,
) -> Project {
    let mut reader = Reader {
        world,
        findings: Vec::new(),
    };
    let documents: BTreeMap<&'static str, String> = layout::SUPPORTING
        .into_iter()
        .filter_map(|name| Some((name, reader.text(&memory_dir.join(name))?)))
        .collect();
    let plan = documents
        .get(layout::MASTER_PLAN)
        .map(|text| MasterPlan::parse(text))
        .unwrap_or_default();
    let lines = memory.phase_lines().into_iter();
    let planned = plan.phases.iter().map(|phase| phase.number);
    let known: BTreeSet<u32> = planned
        .chain(lines.filter_map(|(_, line)| line.number))
        .collect();
    let summaries: BTreeMap<u32, String> = known
        .iter()
        .filter(|number| world.is_file(&layout.in_kiln(&layout::phase_summary(**number))))
        .map(|number| {
            let text = reader.text(&layout.in_kiln(&layout::phase_summary(*number)));
            (*number, text.unwrap_or_default())
        })
        .collect();
    let states = known
        .iter()
        .filter_map(|number| {
            let text = reader.text(&layout.in_kiln(&layout::phase_state(*number)))?;
            Some((*number, PhaseState::parse(&text)))
        })
        .collect();
    let names = layout.names().and_then(|path| reader.text(&path));
    let spawns = reader.text(&world.project().join(layout::SPAWNS));
    let mut project = Project {
        tasks: reader.tasks(&layout),
        report: reader
            .text(&layout.in_kiln(layout::REPORT))
            .map(|text| Report {
                modified: world.modified(&layout.in_kiln(layout::REPORT)),
                ..Report::parse(text)
            }),
        results: reader.results(&memory_dir),
        archived: summaries.keys().copied().collect(),
        layout,
        linked_to: linked_to(world, &memory_dir),
        memory_dir,
        memory,
        fields,
        documents,
        plan,
        states,
        summaries,
        names: Names::parse(names.as_deref(), spawns.as_deref()),
        handed_back: HandedBack::parse(spawns.as_deref()),
        findings: reader.findings,
    };
    let found = findings::findings(&project);
    project.findings.extend(found);
    project
}

fn linked_to(world: &dyn World, folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let found = world.stat(folder).ok()?;
    let target = (found.kind == Kind::Link).then(|| world.resolve(folder));
    target?.ok()
}

struct Reader<'w> {
    world: &'w dyn World,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    /// Reads a file as text with plain line ends; `None` if it is missing.
    fn text(&mut self, path: &Utf8Path) -> Option<String> {
        match self.world.read(path, layout::LARGEST) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Some(text.trim_start_matches('\u{feff}').replace("\r\n", "\n"))
            }
            Err(error) if error.is_not_found() => None,
            Err(error) => {
                let message = format!("`{}` cannot be read: {error}", excerpt(path.as_str(), 300));
                let finding = Finding::new(Code::UnreadableDocument, message);
                self.findings.push(finding.at(Place::path(path)));
                None
            }
        }
    }

    fn tasks(&mut self, layout: &Layout) -> TaskFiles {
        let mut files = TaskFiles::default();
        for name in self.files(&layout.in_kiln("prompts")) {
            files.prompts.extend(task_number(&name, ".md"));
        }
        let outputs = layout.in_kiln("outputs");
        for name in self.files(&outputs) {
            if let Some(number) = task_number(&name, "_output.md") {
                let text = self.text(&outputs.join(&name)).unwrap_or_default();
                let succeeded = !text.trim().is_empty() && !text.contains("status: failed");
                files.outputs.insert(number, succeeded);
            }
        }
        let plans = ["plans/claude_plan.md", "plans/codex_plan.md"];
        files.has_both_plans = plans.iter().all(|path| {
            let text = self.text(&layout.in_kiln(path));
            text.is_some_and(|text| !text.trim().is_empty())
        });
        files
    }

    fn results(&mut self, memory_dir: &Utf8Path) -> BTreeMap<u32, String> {
        let names = self.files(memory_dir).into_iter();
        let results = |name: String| {
            let phase = layout::results_of(&name)?;
            Some((phase, self.text(&memory_dir.join(&name))?))
        };
        names.filter_map(results).collect()
    }

    /// Returns the names of the files in a folder, sorted.
    fn files(&self, folder: &Utf8Path) -> Vec<String> {
        let entries = self.world.list(folder).unwrap_or_default();
        let files = entries
            .into_iter()
            .filter(|entry| matches!(entry.kind, Kind::File | Kind::Link));
        files.map(|entry| entry.name).collect()
    }
}

/// Returns the number of a file `task_<NN>` with an ending, as it is written.
fn task_number(name: &str, ending: &str) -> Option<String> {
    let number = name.strip_prefix("task_")?.strip_suffix(ending)?;
    let is_number = (1..=6).contains(&number.len()) && number.bytes().all(|c| c.is_ascii_digit());
    is_number.then(|| number.to_owned())
}
