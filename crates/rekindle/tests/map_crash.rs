//! Dies at every point of every MAP command that writes, at every passing of it.
//!
//! Needs the feature `crash-points`, by which the binary kills itself where it is told to:
//! `cargo test -p rekindle --features crash-points --test map_crash`.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};
use rekindle_app::TRANSACTION_CRASH_POINTS;
use rekindle_testkit::sandbox::{Files, Ran, Sandbox};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
/// The binary dies as by a fault; no image of it is wanted.
const WITHOUT_CORE: [&str; 4] = ["sh", "-c", r#"ulimit -c 0 && exec "$@""#, "sh"];
const ABORTED: i32 = 6;
/// More often than any point is passed by one command.
const MOST_PASSINGS: u32 = 12;
/// This one is passed only by a command that finds another's work.
const ONLY_AGAIN: &str = "transaction-after-repeat";
/// This one is passed only by a command that fails.
const ONLY_FAILING: &str = "transaction-after-take-back";
/// A command that may write, and does not.
const IDLE: &[&str] = &["update_plan_status", "ST-999", "x"];

/// A command, and the state in which it writes as much as it can.
struct Command {
    words: &'static [&'static str],
    input: &'static str,
    state: Value,
}

fn commands() -> Vec<Command> {
    let working = json!({
        "subtask_sequence": ["ST-001", "ST-002"], "current_subtask_id": "ST-001", "retry_count": 1,
        "current_step_id": "2.4", "current_step_phase": "MONITOR", "completed_steps": ["2.2", "2.3"],
        "pending_steps": ["2.4"], "plan_approved": true, "workflow_status": "IN_PROGRESS",
        "subtask_results": {"ST-000": {"status": "valid"}}, "hook_injection": {"status": "ok"},
    });
    let over = json!({"workflow_status": "WORKFLOW_COMPLETE", "current_step_id": "COMPLETE", "current_step_phase": "COMPLETE"});
    let command = |words, state: &Value| Command {
        words,
        input: "",
        state: state.clone(),
    };
    vec![
        command(&["monitor_failed", "--feedback", "BLOCKER: x"], &working),
        command(&["wave_monitor_failed", "ST-002"], &working),
        command(&["restore_deferred_yagni", "YG-001"], &working),
        command(&["initialize", "x"], &over),
        command(&["initialize", "x"], &working),
        command(&["resume_from_plan"], &working),
        command(&["reopen_for_fixes", "--feedback", "mend it"], &over),
        command(&["archive"], &over),
        command(&["abandon"], &working),
        command(&["mark_subtask_complete", "ST-001"], &working),
        command(&["set_tdd_mode", "true"], &working),
        command(&["ensure_human_artifacts"], &working),
        command(
            &["record_test_contract_handoff", "ST-001", "make"],
            &working,
        ),
        command(&["update_plan_status", "ST-001", "complete"], &working),
        Command {
            words: &["save_research", "default", "ST-001", "--attempt", "1"],
            input: "new",
            state: working,
        },
    ]
}

fn project(command: &Command) -> Result<Sandbox> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let blueprint = json!({
        "subtasks": [{"id": "ST-001"}, {"id": "ST-002", "dependencies": ["ST-001"]}],
        "deferred_yagni": [{"id": "YG-001", "title": "Cache"}],
    });
    let plan = "# Task Plan: x\n### ST-001: a\n- **Status:** pending\n### ST-002: b\n- **Status:** pending\n";
    let files = [
        ("step_state.json", command.state.to_string()),
        ("blueprint.json", blueprint.to_string()),
        ("task_plan_default.md", plan.to_owned()),
        ("test_contract_ST-001.md", "# Contract\n".to_owned()),
        ("research/ST-001__actor.md", "old".to_owned()),
    ];
    for (name, text) in files {
        sandbox.write(format!(".map/default/{name}"), text)?;
    }
    Ok(sandbox)
}

fn run(sandbox: &Sandbox, words: &[&str], input: &str, place: Option<&str>) -> Result<Ran> {
    let mut args = vec!["map"];
    args.extend(words);
    let typed = sandbox.typed(&args).through(&WITHOUT_CORE).answering(input);
    Ok(match place {
        Some(place) => typed.with("REKINDLE_CRASH_AT", place).run()?,
        None => typed.run()?,
    })
}

fn files(sandbox: &Sandbox) -> Result<Files> {
    Ok(sandbox.files()?.except(".rekindle"))
}

fn points() -> impl Iterator<Item = &'static str> {
    let effects = [
        "edit-before-replace",
        "edit-after-replace",
        "move-file-before",
        "move-file-after",
    ];
    let own = TRANSACTION_CRASH_POINTS.iter().copied();
    own.filter(|point| ![ONLY_AGAIN, ONLY_FAILING].contains(point))
        .chain(effects)
}

#[test]
fn a_death_at_any_point_leaves_all_or_nothing() -> Result<()> {
    let mut reached = BTreeSet::new();
    for command in commands() {
        let calm = project(&command)?;
        let before = files(&calm)?;
        let ran = run(&calm, command.words, command.input, None)?;
        ensure!(ran.code() == Some(0), "{:?}: {ran}", command.words);
        let after = files(&calm)?;
        ensure!(before != after, "{:?} writes nothing", command.words);
        let recorded = "transaction-after-record";
        let is_recorded = dies_at_every_passing(&command, recorded, &before, &after, true)?;
        for point in points() {
            if dies_at_every_passing(&command, point, &before, &after, is_recorded)? {
                reached.insert(point);
            }
        }
    }
    let all: BTreeSet<&str> = points().collect();
    ensure!(reached == all, "only {reached:?} are ever reached");
    Ok(())
}

#[test]
fn a_death_while_a_command_is_taken_back_fails_at_most_one_other() -> Result<()> {
    // The folder is not there, so only writing finds out that the name is too long.
    let id = format!("folder/{}", "x".repeat(250));
    let words = ["wave_monitor_failed", &id, "--feedback", "f"];
    let command = &commands()[0];
    let sandbox = project(command)?;
    let ran = run(&sandbox, &words, "", Some(ONLY_FAILING))?;
    ensure!(ran.signal() == Some(ABORTED), "{ran}");
    state_is_whole(&sandbox, ONLY_FAILING)?;
    let ran = run(&sandbox, IDLE, "", None)?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains(".aside-1"), "{ran}");
    let ran = run(&sandbox, IDLE, "", None)?;
    ensure!(ran.code() == Some(0), "{ran}");
    let state: Value = serde_json::from_str(&sandbox.read(".map/default/step_state.json")?)?;
    ensure!(state == command.state, "{state}");
    Ok(())
}

/// Returns whether the command passes the point at all.
fn dies_at_every_passing(
    command: &Command,
    point: &str,
    before: &Files,
    after: &Files,
    is_recorded: bool,
) -> Result<bool> {
    for nth in 1..=MOST_PASSINGS {
        let place = format!("{point}:{nth}");
        let what = format!("{:?} at {place}", command.words);
        let sandbox = project(command)?;
        let ran = run(&sandbox, command.words, command.input, Some(&place))?;
        if ran.signal() != Some(ABORTED) {
            ensure!(ran.code() == Some(0), "{what}: {ran}");
            return Ok(nth > 1);
        }
        state_is_whole(&sandbox, &what)?;
        // The next command that may write finishes what was begun, even if it dies over it once.
        if nth == 1 {
            run(&sandbox, IDLE, "", Some(ONLY_AGAIN))?;
            state_is_whole(&sandbox, &what)?;
        }
        let ran = run(&sandbox, IDLE, "", None)?;
        ensure!(ran.code() == Some(0), "{what}: {ran}");
        let end = files(&sandbox)?;
        // What was not begun is as it was; what stood in the record is finished.
        let may_be_old = match point {
            "transaction-after-lock" => true,
            "edit-before-replace" | "move-file-before" => !is_recorded,
            _ => false,
        };
        ensure!(
            end == *after || (may_be_old && end == *before),
            "{what}: neither old nor new\n{end:?}"
        );
    }
    bail!("{point} is passed more than {MOST_PASSINGS} times")
}

/// Wherever the state stands, under its name or put away, it can be read.
fn state_is_whole(sandbox: &Sandbox, what: &str) -> Result<()> {
    let folder = sandbox.path(".map/default");
    let mut n_states = 0;
    for entry in folder.read_dir_utf8()? {
        let path = entry?.into_path();
        let name = path.file_name().unwrap_or_default();
        if name.starts_with("step_state") {
            let state: Value = serde_json::from_str(&fs_err::read_to_string(&path)?)?;
            ensure!(state.is_object(), "{what}: {path} is no state");
            n_states += 1;
        }
    }
    ensure!(n_states > 0, "{what}: no state is left");
    Ok(())
}
