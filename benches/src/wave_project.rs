//! A wave of tasks after a crash, each in its own worktree, as Kiln Teams leaves them.
//!
//! Of ten tasks, one is done with its proof, one is dead, and eight are in progress.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::{files, run};

use crate::generate::{self, Recipe, git};

/// The sizes there are.
pub(crate) const RECIPES: [(u32, Recipe); 3] = [
    (10, recipe("wave10", |folder| make(folder, 10))),
    (100, recipe("wave100", |folder| make(folder, 100))),
    (1000, recipe("wave1000", |folder| make(folder, 1000))),
];

const TEAM: &str = "kiln-exec-phase-1";

/// Returns the project's folder below that of the recipe.
pub(crate) fn project(folder: &Path) -> PathBuf {
    folder.join("project")
}

/// Returns the environment in which rekindle reads the project.
pub(crate) fn environment(folder: &Path) -> [(&'static str, PathBuf); 3] {
    [
        ("HOME", folder.join("home")),
        ("KILN_WORKTREE_ROOT", folder.join("worktrees")),
        ("REKINDLE_NOW", "2026-02-16T15:00:00Z".into()),
    ]
}

const fn recipe(name: &'static str, make: fn(&Path) -> Result<String, String>) -> Recipe {
    Recipe {
        name,
        sources: &[include_str!("wave_project.rs")],
        make,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ready,
    Dead,
    Alive,
}

impl Kind {
    fn of(number: u32) -> Self {
        match number % 10 {
            1 => Self::Ready,
            2 => Self::Dead,
            _ => Self::Alive,
        }
    }

    /// Returns status, stage and the last heartbeat.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Ready => ["completed", "verified", "2026-02-16T14:40:00Z"],
            Self::Dead => ["in_progress", "implementing", "2026-02-16T14:10:00Z"],
            Self::Alive => ["in_progress", "implementing", "2026-02-16T14:55:00Z"],
        }
    }
}

/// Makes the project; returns how many tasks can be landed.
fn make(folder: &Path, n_tasks: u32) -> Result<String, String> {
    // The worktrees' folder is named after the real path.
    let folder = fs::canonicalize(folder).map_err(|e| format!("cannot resolve a path: {e}"))?;
    let project = project(&folder);
    let kiln = project.join(".kiln");
    let tasks = folder.join("home/.claude/tasks").join(TEAM);
    files::write(project.join("README.md"), "# ledger-api\n")?;
    files::write(
        kiln.join("config.json"),
        "{\"projectType\": \"node\", \"modelMode\": \"multi-model\", \"preferences\": {\"maxRetries\": 2, \
         \"useTeams\": true, \"waveParallelism\": 3, \"executeConcurrency\": \"worktree\", \
         \"deadWorkerTimeoutMinutes\": null}}\n",
    )?;
    files::write(
        kiln.join("ROADMAP.md"),
        "# ROADMAP\n\n## Phase 1: Ledger core\nPostings.\n\n## Phase 2: Reporting\nTotals.\n",
    )?;
    for name in ["TECH_STACK", "PATTERNS", "DECISIONS", "PITFALLS"] {
        files::write(kiln.join(format!("docs/{name}.md")), format!("# {name}\n"))?;
    }
    files::write(kiln.join("tracks/phase-1/PLAN.md"), plan(n_tasks))?;
    files::write(kiln.join("STATE.md"), state(n_tasks))?;
    generate::repository(&project)?;
    let exclude = project.join(".git/info/exclude");
    files::write(exclude, ".kiln-snapshot/\n.kiln-artifacts/\n")?;
    let name = format!("worktrees/kiln-{}", digest(&project)?);
    let root = folder.join(name);
    for number in 1..=n_tasks {
        let worktree = root.join(format!("phase-1-exec-wave-1-task-{number}"));
        let path = worktree.to_string_lossy();
        git(&project, &["worktree", "add", "-q", "--detach", &path])?;
        work(&worktree, number)?;
        files::write(tasks.join(format!("{number}.json")), task(&path, number))?;
    }
    let gate = tasks.join(format!("{}.json", n_tasks + 1));
    files::write(gate, gate_task(n_tasks))?;
    let n_ready = (1..=n_tasks).filter(|number| Kind::of(*number) == Kind::Ready);
    Ok(n_ready.count().to_string())
}

/// Writes what a worker has left in its worktree.
fn work(worktree: &Path, number: u32) -> Result<(), String> {
    let (id, file) = (plan_id(number), file(number));
    let artifacts = worktree.join(format!(".kiln-artifacts/{id}"));
    files::make_folder(worktree.join("src"))?;
    files::write(artifacts.join("sharpened.md"), format!("# {id}\n"))?;
    match Kind::of(number) {
        Kind::Ready => {
            files::write(worktree.join(&file), "export const x = 1;\n")?;
            let operations = format!("[{{\"op\": \"add\", \"path\": \"{file}\"}}]");
            files::write(artifacts.join("changed_ops.json"), operations)?;
            let summary = "{\"result\": \"pass\"}";
            files::write(artifacts.join("verify_summary.json"), summary)
        }
        Kind::Dead => files::write(worktree.join(file), "export const"),
        Kind::Alive => Ok(()),
    }
}

fn plan_id(number: u32) -> String {
    format!("P1-T{number:04}")
}

fn file(number: u32) -> String {
    format!("src/part_{number}.js")
}

fn subject(number: u32) -> String {
    format!("phase-1:exec:wave-1:task-{number}")
}

fn plan(n_tasks: u32) -> String {
    let task = |number| {
        format!(
            "### Task {}: Part {number}\n\n**Goal:** Part {number}\n**Acceptance Criteria:**\n- works\n\
             **Files:** {} (add)\n**Dependencies:** none\n**Wave:** 1\n\n---\n\n",
            plan_id(number),
            file(number),
        )
    };
    let tasks: String = (1..=n_tasks).map(task).collect();
    format!(
        "# Plan: Phase 1 — Ledger core\n\n## Context\n\nA ledger.\n\n## Task Packets\n\n{tasks}"
    )
}

fn state(n_tasks: u32) -> String {
    let unfinished = (1..=n_tasks).filter(|number| Kind::of(*number) != Kind::Ready);
    let active: String = unfinished
        .map(|number| format!("  - {}\n", subject(number)))
        .collect();
    format!(
        "# Project State\n\n- **Project:** ledger-api\n- **Model Mode:** multi-model\n- **Initialized:** 2026-02-16T09:00:00Z\n\n\
         ## Phase Progress\n\n| Phase | Title | Status |\n| --- | --- | --- |\n| 1 | Ledger core | in-progress |\n| 2 | Reporting | pending |\n\n\
         ## Current Track\n\n- **Phase:** 1 — Ledger core\n- **Current Step:** execute\n- **Step Status:** in-progress\n- **Started:** 2026-02-16T13:55:00Z\n\n\
         ## Correction Cycles\n\n- **Mini-verify retries (current task):** 0 / 2\n- **E2E correction cycles (current track):** 0 / 3\n\
         - **Code review correction cycles (current track):** 0 / 3\n\n### Task Retry Ledger\n\n\
         | Plan Task ID | Wave | Retries | Last Attempt | Last Status | Next Action |\n| ------------ | ---- | ------- | ------------ | ----------- | ----------- |\n\n\
         ## Regression Suite\n\n0 tests from 0 completed phases\n\n\
         ## Session Recovery\n\n- **Last Activity:** 2026-02-16T14:40:00Z\n- **Last Completed Action:** phase-1/wave-1: workers spawned\n\
         - **Next Expected Action:** Wait for wave-1 workers of phase-1\n\n\
         ## Orchestration Session\n\n- **Orchestration Engine:** teams\n- **Team Name:** {TEAM}\n- **UI Mode:** inline\n\
         - **Active Stage:** track:phase-1:execute\n- **Active Task IDs:**\n{active}- **Last Transition ID:** execute\n\
         - **Paused:** false\n- **Pause Reason:** \n"
    )
}

fn task(worktree: &str, number: u32) -> String {
    let [status, stage, beat] = Kind::of(number).words();
    let subject = subject(number);
    format!(
        "{{\"id\": \"{number}\", \"subject\": \"{subject}\", \"description\": \"{subject}\", \"status\": \"{status}\", \
         \"owner\": \"worker-{number}\", \"blocks\": [], \"blockedBy\": [], \"metadata\": {{\"kiln_phase\": \"phase-1\", \
         \"kiln_wave\": \"wave-1\", \"kiln_plan_task_id\": \"{}\", \"kiln_worktree\": \"{worktree}/\", \
         \"kiln_stage\": \"{stage}\", \"kiln_last_heartbeat\": \"{beat}\"}}}}\n",
        plan_id(number)
    )
}

fn gate_task(n_tasks: u32) -> String {
    let before: Vec<String> = (1..=n_tasks).map(|number| number.to_string()).collect();
    format!(
        "{{\"id\": \"{}\", \"subject\": \"phase-1:exec:wave-1:gate\", \"description\": \"gate\", \"status\": \"pending\", \
         \"owner\": null, \"blocks\": [], \"blockedBy\": {before:?}, \"metadata\": {{\"kiln_phase\": \"phase-1\", \
         \"kiln_wave\": \"wave-1\", \"kiln_type\": \"wave-gate\"}}}}\n",
        n_tasks + 1
    )
}

/// Returns the first twelve digits of the SHA-256 of a path, which the protocol uses as a name.
fn digest(project: &Path) -> Result<String, String> {
    let script = "printf %s \"$1\" | sha256sum";
    let path = project.to_string_lossy();
    let line = run::output_of("sh", &["-c", script, "sh", &path]);
    let digits = line.and_then(|line| line.get(..12).map(str::to_owned));
    digits.ok_or_else(|| "`sha256sum` is not installed".to_owned())
}
