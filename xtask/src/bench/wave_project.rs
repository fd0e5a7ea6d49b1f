//! A wave of tasks after a crash, each in a worktree of its own, as Kiln Teams leaves them.
//!
//! Of ten tasks one says that it is done and has its proof, one is dead, and eight are at it.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::generate::Recipe;
use crate::run;

/// The sizes there are.
pub(super) const RECIPES: [(u32, Recipe); 3] = [
    (10, recipe("wave10", |folder| make(folder, 10))),
    (100, recipe("wave100", |folder| make(folder, 100))),
    (1000, recipe("wave1000", |folder| make(folder, 1000))),
];

/// The time at which the project is to be looked at.
pub(super) const NOW: &str = "2026-02-16T15:00:00Z";
const TEAM: &str = "kiln-exec-phase-1";

/// Returns the project's folder in that of the recipe.
pub(super) fn project(folder: &Path) -> PathBuf {
    folder.join("project")
}

/// Returns what has to stand in the environment.
pub(super) fn environment(folder: &Path) -> [(&'static str, String); 3] {
    let below = |name: &str| folder.join(name).to_string_lossy().into_owned();
    [
        ("HOME", below("home")),
        ("KILN_WORKTREE_ROOT", below("worktrees")),
        ("REKINDLE_NOW", NOW.to_owned()),
    ]
}

const fn recipe(name: &'static str, make: fn(&Path) -> io::Result<String>) -> Recipe {
    Recipe {
        name,
        sources: &[include_str!("wave_project.rs")],
        make,
    }
}

/// How a task stands.
#[derive(Clone, Copy)]
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

    /// Returns status, stage and the last sign of life.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Ready => ["completed", "verified", "2026-02-16T14:40:00Z"],
            Self::Dead => ["in_progress", "implementing", "2026-02-16T14:10:00Z"],
            Self::Alive => ["in_progress", "implementing", "2026-02-16T14:55:00Z"],
        }
    }
}

/// Lays it out; returns how many tasks can be landed.
fn make(folder: &Path, n_tasks: u32) -> io::Result<String> {
    // The worktrees' folder is named after the path.
    let folder = fs::canonicalize(folder)?;
    let project = project(&folder);
    let kiln = project.join(".kiln");
    let tasks = folder.join("home/.claude/tasks").join(TEAM);
    for made in [&kiln.join("tracks/phase-1"), &kiln.join("docs"), &tasks] {
        fs::create_dir_all(made)?;
    }
    fs::write(project.join("README.md"), "# ledger-api\n")?;
    fs::write(
        kiln.join("config.json"),
        "{\"projectType\": \"node\", \"modelMode\": \"multi-model\", \"preferences\": {\"maxRetries\": 2, \
         \"useTeams\": true, \"waveParallelism\": 3, \"executeConcurrency\": \"worktree\", \
         \"deadWorkerTimeoutMinutes\": null}}\n",
    )?;
    fs::write(
        kiln.join("ROADMAP.md"),
        "# ROADMAP\n\n## Phase 1: Ledger core\nPostings.\n\n## Phase 2: Reporting\nTotals.\n",
    )?;
    for name in ["TECH_STACK", "PATTERNS", "DECISIONS", "PITFALLS"] {
        fs::write(kiln.join(format!("docs/{name}.md")), format!("# {name}\n"))?;
    }
    fs::write(kiln.join("tracks/phase-1/PLAN.md"), plan(n_tasks))?;
    fs::write(kiln.join("STATE.md"), state(n_tasks))?;
    git(&project, &["init", "-q", "-b", "main"])?;
    git(&project, &["add", "-A"])?;
    git(&project, &["commit", "-q", "-m", "chore: scaffold"])?;
    fs::write(
        project.join(".git/info/exclude"),
        ".kiln-snapshot/\n.kiln-artifacts/\n",
    )?;
    let root = folder
        .join("worktrees")
        .join(format!("kiln-{}", digest(&project)?));
    for number in 1..=n_tasks {
        let kind = Kind::of(number);
        let worktree = root.join(format!("phase-1-exec-wave-1-task-{number}"));
        let path = worktree.to_string_lossy();
        git(&project, &["worktree", "add", "-q", "--detach", &path])?;
        work(&worktree, number, kind)?;
        fs::write(
            tasks.join(format!("{number}.json")),
            task(&path, number, kind),
        )?;
    }
    fs::write(tasks.join(format!("{}.json", n_tasks + 1)), gate(n_tasks))?;
    let n_ready = (1..=n_tasks).filter(|number| matches!(Kind::of(*number), Kind::Ready));
    Ok(n_ready.count().to_string())
}

/// Writes what a worker has left in its worktree.
fn work(worktree: &Path, number: u32, kind: Kind) -> io::Result<()> {
    let artifacts = worktree.join(format!(".kiln-artifacts/{}", plan_id(number)));
    fs::create_dir_all(&artifacts)?;
    fs::create_dir_all(worktree.join("src"))?;
    fs::write(
        artifacts.join("sharpened.md"),
        format!("# {}\n", plan_id(number)),
    )?;
    match kind {
        Kind::Ready => {
            fs::write(worktree.join(file(number)), "export const x = 1;\n")?;
            let operations = format!("[{{\"op\": \"add\", \"path\": \"{}\"}}]", file(number));
            fs::write(artifacts.join("changed_ops.json"), operations)?;
            fs::write(
                artifacts.join("verify_summary.json"),
                "{\"result\": \"pass\"}",
            )
        }
        Kind::Dead => fs::write(worktree.join(file(number)), "export const"),
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
    let mut text =
        "# Plan: Phase 1 — Ledger core\n\n## Context\n\nA ledger.\n\n## Task Packets\n\n"
            .to_owned();
    for number in 1..=n_tasks {
        let _ = write!(
            text,
            "### Task {}: Part {number}\n\n**Goal:** Part {number}\n**Acceptance Criteria:**\n- works\n\
             **Files:** {} (add)\n**Dependencies:** none\n**Wave:** 1\n\n---\n\n",
            plan_id(number),
            file(number),
        );
    }
    text
}

fn state(n_tasks: u32) -> String {
    let at_it = (1..=n_tasks).filter(|number| !matches!(Kind::of(*number), Kind::Ready));
    let mut active = String::new();
    for number in at_it {
        let _ = writeln!(active, "  - {}", subject(number));
    }
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

fn task(worktree: &str, number: u32, kind: Kind) -> String {
    let [status, stage, beat] = kind.words();
    let subject = subject(number);
    format!(
        "{{\"id\": \"{number}\", \"subject\": \"{subject}\", \"description\": \"{subject}\", \"status\": \"{status}\", \
         \"owner\": \"worker-{number}\", \"blocks\": [], \"blockedBy\": [], \"metadata\": {{\"kiln_phase\": \"phase-1\", \
         \"kiln_wave\": \"wave-1\", \"kiln_plan_task_id\": \"{}\", \"kiln_worktree\": \"{worktree}/\", \
         \"kiln_stage\": \"{stage}\", \"kiln_last_heartbeat\": \"{beat}\"}}}}\n",
        plan_id(number)
    )
}

fn gate(n_tasks: u32) -> String {
    let before: Vec<String> = (1..=n_tasks)
        .map(|number| format!("\"{number}\""))
        .collect();
    format!(
        "{{\"id\": \"{}\", \"subject\": \"phase-1:exec:wave-1:gate\", \"description\": \"gate\", \"status\": \"pending\", \
         \"owner\": null, \"blocks\": [], \"blockedBy\": [{}], \"metadata\": {{\"kiln_phase\": \"phase-1\", \
         \"kiln_wave\": \"wave-1\", \"kiln_type\": \"wave-gate\"}}}}\n",
        n_tasks + 1,
        before.join(", ")
    )
}

/// Returns the first twelve digits of the SHA-256 of a path, by which the protocol names the folder.
fn digest(project: &Path) -> io::Result<String> {
    let script = "printf %s \"$1\" | sha256sum";
    let path = project.to_string_lossy();
    let line = run::output_of("sh", &["-c", script, "sh", &path]).unwrap_or_default();
    let digits: String = line.chars().take(12).collect();
    if digits.len() == 12 {
        Ok(digits)
    } else {
        Err(io::Error::other("`sha256sum` is not there"))
    }
}

fn git(project: &Path, args: &[&str]) -> io::Result<()> {
    let status = Command::new("git")
        .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"])
        .args(args)
        .current_dir(project)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("`git {}` failed", args.join(" "))))
    }
}
