//! MAP's read commands: `rekindle map` and MAP's own scripts on the same files, in turns.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{files, packages, run};

use crate::chore::Setting;
use crate::generate::git;
use crate::measure::{milliseconds, percentile};
use crate::report::{Section, Table, Target, figure};
use crate::standing::Standing;

const N_RUNS: u32 = 15;
const SIZES: [usize; 2] = [6, 500];
const AT_LEAST: f64 = 20.0;

const ORCHESTRATOR: &str = ".map/scripts/map_orchestrator.py";
const STEP_RUNNER: &str = ".map/scripts/map_step_runner.py";

/// Every command with its script; the briefing is a function that no script offers as a command.
const COMMANDS: [(&str, Option<&str>); 9] = [
    ("get_plan_progress", Some(ORCHESTRATOR)),
    ("build_resume_briefing", None),
    ("peek_current_step", Some(ORCHESTRATOR)),
    ("check_circuit_breaker", Some(ORCHESTRATOR)),
    ("get_wave_step", Some(ORCHESTRATOR)),
    ("select_execution_strategy", Some(ORCHESTRATOR)),
    ("read_current_goal", Some(STEP_RUNNER)),
    ("get_current_phase", Some(STEP_RUNNER)),
    ("next_numbered_artifact_path code-review", Some(STEP_RUNNER)),
];

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let python = packages::MAPIFY.program("python")?;
    let peer = format!("mapify-cli {}", packages::MAPIFY.version());
    let (mut rows, mut standings) = (Vec::new(), Vec::new());
    let (mut least, mut least_at) = (f64::INFINITY, 0);
    for size in SIZES {
        let project = make(&setting.folder.join(format!("map-{size}")), size)?;
        for (command, script) in COMMANDS {
            let [mut ours, mut theirs] = [const { Vec::new() }; 2];
            for _ in 0..N_RUNS {
                let mut call = Command::new(&setting.rekindle);
                call.arg("map").args(command.split(' '));
                ours.push(milliseconds(call.current_dir(&project))?);
                let mut call = Command::new(&python);
                match script {
                    Some(script) => call.arg(script).args(command.split(' ')),
                    None => call.args(["-c", BRIEFING]),
                };
                theirs.push(milliseconds(call.current_dir(&project))?);
            }
            let [ours, theirs] = [ours, theirs].map(|mut times| percentile(&mut times, 50));
            let standing = Standing::less(
                format!("`{command}`, {size} subtasks, ms"),
                ours,
                vec![(peer.clone(), theirs)],
                "this would be a defect",
            );
            if theirs / ours < least {
                (least, least_at) = (theirs / ours, standings.len());
            }
            standings.push(standing);
            let mut row = vec![format!("`{command}`"), size.to_string()];
            row.extend([ours, theirs, theirs / ours].map(figure));
            rows.push(row);
        }
    }
    let slowest = standings.remove(least_at).headline();
    standings.insert(least_at, slowest);
    Ok(Section {
        title: "MAP's commands",
        about: format!(
            "Wall time of one call in a repository with a plan, a blueprint and a state, median of {N_RUNS} runs in turns; the peer is {peer} with its byte code cached.\n\
             `build_resume_briefing` is not a command of the peer; its function is called from a line of Python, so that no script is compiled."
        ),
        table: Table {
            n_text: 1,
            head: &[
                "command",
                "subtasks",
                "rekindle ms",
                "peer ms",
                "times faster",
            ],
            rows,
        },
        targets: vec![Target::above(
            "the smallest ratio",
            least,
            AT_LEAST,
            "times",
        )],
        standings,
        ..Section::default()
    })
}

/// Prints the briefing of MAP's own function.
pub(crate) const BRIEFING: &str = "import sys, json; sys.path.insert(0, '.map/scripts'); import map_orchestrator as m; print(json.dumps(m.build_resume_briefing('main'), indent=2))";

/// Makes a repository with a workflow of this size, half done.
pub(crate) fn make(project: &Path, size: usize) -> Result<PathBuf, String> {
    let scripts = scripts_folder()?;
    for script in ["map_orchestrator.py", "map_step_runner.py", "map_utils.py"] {
        let text = files::read(scripts.join(script))?;
        files::write(project.join(".map/scripts").join(script), text)?;
    }
    let ids: Vec<String> = (1..=size).map(|n| format!("ST-{n:03}")).collect();
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
        let needs = &ids[n.saturating_sub(1)..n];
        subtasks.push(format!(
            "{{\"id\": {id:?}, \"title\": \"Part {n}\", \"description\": \"Does part {n} of the whole, and nothing else.\", \"dependencies\": {needs:?}, \"affected_files\": [\"src/part_{n}.py\"]}}"
        ));
    }
    let results: Vec<String> = ids[..size / 2]
        .iter()
        .map(|id| format!("{id:?}: {{\"subtask_id\": {id:?}, \"files_changed\": [\"src/x.py\"], \"status\": \"valid\", \"summary\": \"done\"}}"))
        .collect();
    let waves: Vec<[&String; 1]> = ids.iter().map(|id| [id]).collect();
    let state = format!(
        "{{\"workflow\": \"map-efficient\", \"current_subtask_id\": {:?}, \"subtask_index\": {}, \"subtask_sequence\": {ids:?}, \"current_step_id\": \"2.3\", \"current_step_phase\": \"ACTOR\", \"completed_steps\": [\"2.2\"], \"pending_steps\": [\"2.3\", \"2.4\"], \"execution_waves\": {waves:?}, \"workflow_status\": \"IN_PROGRESS\", \"subtask_results\": {{{}}}}}",
        ids[size / 2],
        size / 2,
        results.join(", "),
    );
    let blueprint = format!("{{\"subtasks\": [{}]}}", subtasks.join(", "));
    for (name, text) in [
        ("task_plan_main.md", plan.as_str()),
        ("blueprint.json", &blueprint),
        ("step_state.json", &state),
        ("code-review-001.md", "# Code Review 001\n- one problem\n"),
    ] {
        files::write(project.join(".map/main").join(name), text)?;
    }
    if !project.join(".git").exists() {
        git(project, &["init", "-q", "-b", "main"])?;
        git(project, &["commit", "-q", "--allow-empty", "-m", "start"])?;
    }
    Ok(project.to_owned())
}

/// Returns the folder of MAP's own scripts.
fn scripts_folder() -> Result<PathBuf, String> {
    let code = "import mapify_cli, pathlib; print(pathlib.Path(mapify_cli.__file__).parent / 'templates/map/scripts')";
    let python = packages::MAPIFY.program("python")?;
    let folder = run::output_of(&python.to_string_lossy(), &["-c", code]);
    folder
        .map(PathBuf::from)
        .ok_or_else(|| "cannot find the scripts of mapify-cli".to_owned())
}
