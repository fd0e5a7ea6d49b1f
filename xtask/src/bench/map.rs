//! MAP's read commands: `rekindle map` and its own scripts on the same files, in turns.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::chore::{Bench, Setting};
use super::measure;
use super::report::{Section, Table, Target, figure};
use super::standing::{Better, Standing};
use crate::map_peer;

pub(super) const BENCH: Bench = Bench {
    name: "map",
    run: bench,
};

const N_RUNS: usize = 15;
const SIZES: [usize; 2] = [6, 500];
const AT_LEAST: f64 = 20.0;

/// The script that has a command; the briefing is a function that no script offers as a command.
enum Script {
    Orchestrator,
    StepRunner,
    Function,
}

const COMMANDS: &[(&str, Script)] = &[
    ("get_plan_progress", Script::Orchestrator),
    ("build_resume_briefing", Script::Function),
    ("peek_current_step", Script::Orchestrator),
    ("check_circuit_breaker", Script::Orchestrator),
    ("get_wave_step", Script::Orchestrator),
    ("select_execution_strategy", Script::Orchestrator),
    ("read_current_goal", Script::StepRunner),
    ("get_current_phase", Script::StepRunner),
    (
        "next_numbered_artifact_path code-review",
        Script::StepRunner,
    ),
];

fn bench(setting: &Setting) -> Result<Section, String> {
    let python = map_peer::python()?;
    let mut rows = Vec::new();
    let mut least = f64::INFINITY;
    let mut standings = Vec::new();
    for size in SIZES {
        let project = lay_out(&setting.folder.join(format!("map-{size}")), size)?;
        for (command, script) in COMMANDS {
            let mut ours = Vec::new();
            let mut theirs = Vec::new();
            for _ in 0..N_RUNS {
                let mut call = Command::new(&setting.rekindle);
                call.arg("map").args(command.split(' '));
                ours.push(wall(&mut call, &project)?);
                let mut call = Command::new(&python);
                match script {
                    Script::Orchestrator => call
                        .arg(".map/scripts/map_orchestrator.py")
                        .args(command.split(' ')),
                    Script::StepRunner => call
                        .arg(".map/scripts/map_step_runner.py")
                        .args(command.split(' ')),
                    Script::Function => call.args(["-c", BRIEFING]),
                };
                theirs.push(wall(&mut call, &project)?);
            }
            let [ours, theirs] = [ours, theirs].map(median);
            least = least.min(theirs / ours);
            standings.push(Standing {
                what: format!("`{command}`, {size} subtasks, ms"),
                better: Better::Less,
                ours,
                peers: vec![("mapify-cli 3.25.0".to_owned(), theirs)],
                if_behind: "this would be a defect",
            });
            rows.push(vec![
                format!("`{command}`"),
                size.to_string(),
                figure(ours),
                figure(theirs),
                figure(theirs / ours),
            ]);
        }
    }
    Ok(Section {
        title: "MAP's commands",
        about: vec![
            format!(
                "Wall time of one call in a repository with a plan, a blueprint and a state, median \
                 of {N_RUNS} runs in turns; the peer is mapify-cli 3.25.0 with its byte code cached."
            ),
            "`build_resume_briefing` is no command of the peer's; its function is called from a \
             line of Python, which then need not compile a script."
                .to_owned(),
        ],
        table: Table {
            n_text: 1,
            head: vec![
                "command",
                "subtasks",
                "rekindle ms",
                "peer ms",
                "times faster",
            ],
            rows,
        },
        targets: vec![Target::above(
            "the least of these, times faster",
            least,
            AT_LEAST,
            "times",
        )],
        standings,
        chart: None,
    })
}

/// Prints the briefing of MAP's own function.
pub(super) const BRIEFING: &str = "import sys, json; sys.path.insert(0, '.map/scripts'); import map_orchestrator as m; print(json.dumps(m.build_resume_briefing('main'), indent=2))";

fn wall(call: &mut Command, project: &Path) -> Result<Duration, String> {
    measure::wall(call.current_dir(project).stdin(Stdio::null()))
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2);
    middle.map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
}

/// Lays out a repository in which a workflow of this size is in the middle.
pub(super) fn lay_out(project: &Path, size: usize) -> Result<PathBuf, String> {
    let folder = project.join(".map/main");
    let scripts = project.join(".map/scripts");
    for folder in [&folder, &scripts] {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot make a project: {e}"))?;
    }
    for script in ["map_orchestrator.py", "map_step_runner.py", "map_utils.py"] {
        let from = map_peer::scripts()?.join(script);
        std::fs::copy(&from, scripts.join(script))
            .map_err(|e| format!("cannot copy {}: {e}", from.display()))?;
    }
    let ids: Vec<String> = (1..=size).map(|n| format!("ST-{n:03}")).collect();
    let quoted: Vec<String> = ids.iter().map(|id| format!("{id:?}")).collect();
    let mut plan = String::from(
        "# Task Plan: bench\n## Overview\n- Goal: measure\n\n## Current Phase\nST-001\n\n## Subtasks\n",
    );
    let mut subtasks = Vec::new();
    for (n, id) in ids.iter().enumerate() {
        let status = if n < size / 2 { "complete" } else { "pending" };
        let _ = writeln!(
            plan,
            "### {id}: Part {n}\n- **Status:** {status}\n- **Risk:** low\n- **AAG Contract:** Actor -> does part {n} -> it is done\n- **Validation Criteria:** VC1 [AC-{n}] holds, VC2 tests pass\n"
        );
        let needs = if n == 0 {
            String::new()
        } else {
            format!("{:?}", ids[n - 1])
        };
        subtasks.push(format!(
            "{{\"id\": {id:?}, \"title\": \"Part {n}\", \"description\": \"Does part {n} of the whole, and nothing else.\", \"dependencies\": [{needs}], \"affected_files\": [\"src/part_{n}.py\"]}}"
        ));
    }
    let blueprint = format!("{{\"subtasks\": [{}]}}", subtasks.join(", "));
    let results: Vec<String> = ids[..size / 2]
        .iter()
        .map(|id| format!("{id:?}: {{\"subtask_id\": {id:?}, \"files_changed\": [\"src/x.py\"], \"status\": \"valid\", \"summary\": \"done\"}}"))
        .collect();
    let state = format!(
        "{{\"workflow\": \"map-efficient\", \"current_subtask_id\": {:?}, \"subtask_index\": {}, \"subtask_sequence\": [{}], \"current_step_id\": \"2.3\", \"current_step_phase\": \"ACTOR\", \"completed_steps\": [\"2.2\"], \"pending_steps\": [\"2.3\", \"2.4\"], \"execution_waves\": [[{}]], \"workflow_status\": \"IN_PROGRESS\", \"subtask_results\": {{{}}}}}",
        ids[size / 2],
        size / 2,
        quoted.join(", "),
        quoted.join("], ["),
        results.join(", "),
    );
    let files = [
        ("task_plan_main.md", plan),
        ("blueprint.json", blueprint),
        ("step_state.json", state),
        (
            "code-review-001.md",
            "# Code Review 001\n- one thing to mend\n".to_owned(),
        ),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).map_err(|e| format!("cannot write {name}: {e}"))?;
    }
    if !project.join(".git").exists() {
        let identity = [
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@example.invalid",
        ];
        for args in [
            &["init", "-q", "-b", "main"][..],
            &["commit", "-q", "--allow-empty", "-m", "start"],
        ] {
            let mut git = Command::new("git");
            git.args(identity).args(args).current_dir(project);
            if !crate::run::watched(&mut git)? {
                return Err("cannot make a repository".to_owned());
            }
        }
    }
    Ok(project.to_owned())
}
