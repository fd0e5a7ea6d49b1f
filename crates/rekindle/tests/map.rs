//! `rekindle map` from end to end: answers, refusals, and what must never be lost.

use std::thread;

use anyhow::{Result, ensure};
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const STATE: &str = ".map/default/step_state.json";

fn map(sandbox: &Sandbox, words: &[&str]) -> Result<Ran> {
    let mut args = vec!["map"];
    args.extend(words);
    Ok(sandbox.run(&args)?)
}

fn state(sandbox: &Sandbox) -> Result<Value> {
    Ok(serde_json::from_str(&sandbox.read(STATE)?)?)
}

#[test]
fn a_state_that_cannot_be_parsed_is_left_alone_by_every_command() -> Result<()> {
    let commands: &[&[&str]] = &[
        &["get_next_step"],
        &["validate_step", "1.0"],
        &["initialize", "x"],
        &["set_plan_approved", "true"],
        &["set_execution_mode", "batch"],
        &["set_tdd_mode", "true"],
        &["set_subtasks", "ST-001"],
        &["skip_step", "2.25"],
        &["set_waves"],
        &["validate_wave_step", "ST-001", "2.3"],
        &["advance_wave"],
        &["monitor_failed"],
        &["wave_monitor_failed", "ST-001"],
        &["reopen_for_fixes"],
        &["mark_workflow_complete"],
        &["mark_subtask_complete", "ST-001"],
        &["record_subtask_result", "ST-001", "valid"],
        &["backfill_subtask_ids"],
        &["resume_from_plan"],
        &["resume_single_subtask", "ST-001"],
        &["archive"],
        &["peek_current_step"],
        &["build_resume_briefing"],
        &["check_circuit_breaker"],
        &["get_wave_step"],
        &["select_execution_strategy"],
    ];
    for damaged in ["", "{\"workflow\": ", "\u{feff}{}", "{} trailing"] {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write(STATE, damaged)?;
        sandbox.write(".map/default/task_plan_default.md", "### ST-001: a\n")?;
        for words in commands {
            let ran = map(&sandbox, words)?;
            ensure!(
                sandbox.read(STATE)? == damaged,
                "{words:?} changed it: {ran}"
            );
            let answer = ran.json()?;
            if answer["status"] == "error" {
                ensure!(answer["valid"] == false, "{words:?}: {ran}");
            }
        }
        let next = map(&sandbox, &["get_next_step"])?;
        ensure!(
            next.code() == Some(0) && next.json()?["status"] == "error",
            "{next}"
        );
        let put_away = map(&sandbox, &["abandon"])?.json()?;
        let kept = put_away["abandon_file"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        ensure!(sandbox.read(kept)? == damaged, "{put_away}");
    }
    Ok(())
}

#[test]
fn what_is_not_an_object_is_a_fault_on_standard_error() -> Result<()> {
    for damaged in [&b"[]"[..], b"\xff"] {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write(STATE, damaged)?;
        for command in ["get_next_step", "peek_current_step", "initialize"] {
            let ran = map(&sandbox, &[command])?;
            ensure!(
                ran.code() == Some(1) && ran.stdout_bytes().is_empty(),
                "{ran}"
            );
            let said: Value = serde_json::from_slice(ran.stderr_bytes())?;
            ensure!(said["error"].is_string(), "{ran}");
            ensure!(fs_err::read(sandbox.path(STATE))? == damaged);
        }
    }
    Ok(())
}

#[test]
fn keys_of_hooks_and_of_newer_versions_survive() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let found = json!({"hook_injection": {"status": "ok"}, "resequence_history": [1], "subtask_sequence": ["ST-001"]});
    sandbox.write(STATE, found.to_string())?;
    for words in [
        &["get_next_step"][..],
        &["validate_step", "1.0"],
        &["set_tdd_mode", "1"],
    ] {
        let ran = map(&sandbox, words)?;
        ensure!(ran.code() == Some(0), "{ran}");
    }
    let state = state(&sandbox)?;
    ensure!(state["hook_injection"]["status"] == "ok" && state["resequence_history"][0] == 1);
    Ok(())
}

#[test]
fn commands_that_are_typed_at_once_wait_for_each_other() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    map(&sandbox, &["initialize"])?;
    thread::scope(|scope| {
        let ran: Vec<_> = (0..12)
            .map(|n| {
                let sandbox = &sandbox;
                scope
                    .spawn(move || map(sandbox, &["validate_wave_step", &format!("ST-{n}"), "2.3"]))
            })
            .collect();
        for ran in ran {
            let ran = ran.join().expect("no panic")?;
            ensure!(ran.code() == Some(0), "{ran}");
        }
        Ok(())
    })?;
    let phases = state(&sandbox)?["subtask_phases"]
        .as_object()
        .map(serde_json::Map::len);
    ensure!(phases == Some(12), "{phases:?}");
    Ok(())
}

#[test]
fn a_state_with_work_in_it_is_kept_when_another_takes_its_place() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let work = json!({"subtask_results": {"ST-001": {"status": "valid"}}, "subtask_sequence": ["ST-001", "ST-002"]});
    sandbox.write(STATE, work.to_string())?;
    let ran = map(&sandbox, &["initialize"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let kept = sandbox.read(".map/default/step_state.abandoned-20260120T120000Z.json")?;
    ensure!(serde_json::from_str::<Value>(&kept)? == work, "{kept}");
    ensure!(state(&sandbox)?["subtask_results"] == json!({}));
    Ok(())
}

#[test]
fn words_are_read_as_the_scripts_read_them() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let ran = map(&sandbox, &["peek_current_step", "--bran=../../etc"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    for (words, code) in [
        (&["nonsense"][..], 2),
        (&[], 2),
        (&["get_next_step", "--nonsense"], 2),
        (&["get_next_step", "--re", "x"], 2),
        (&["validate_step"], 1),
        (&["save_research", "main"], 1),
        (&["--help"], 0),
    ] {
        let ran = map(&sandbox, words)?;
        ensure!(ran.code() == Some(code), "{words:?}: {ran}");
        ensure!(
            ran.stdout_bytes().is_empty() == (code != 0),
            "{words:?}: {ran}"
        );
        ensure!(
            ran.stderr_bytes().is_empty() == (code == 0),
            "{words:?}: {ran}"
        );
    }
    Ok(())
}

#[test]
fn a_folder_that_is_named_wins_over_the_current_one() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    sandbox.write("named/.map/default/task_plan_default.md", "## Goal\nhere\n")?;
    let typed = sandbox.typed(&["map", "read_current_goal"]);
    let ran = typed
        .with("CLAUDE_PROJECT_DIR", sandbox.path("named").as_str())
        .run()?;
    ensure!(ran.stdout() == "here\n", "{ran}");
    let typed = sandbox.typed(&["map", "read_current_goal"]);
    let ran = typed.with("CLAUDE_PROJECT_DIR", "/not/there").run()?;
    ensure!(ran.stdout() == "Goal not found\n", "{ran}");
    ensure!(ran.stderr().starts_with("WARNING: "), "{ran}");
    Ok(())
}

#[test]
fn text_is_handed_out_byte_for_byte() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let text = "a\u{b}b\u{1b}[31m red\u{1c} é\u{2028}\n";
    let typed = sandbox.typed(&["map", "save_research", "default", "ST-001"]);
    let ran = typed.answering(text).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let ran = map(&sandbox, &["load_research", "default", "ST-001"])?;
    ensure!(ran.stdout_bytes() == text.as_bytes(), "{ran}");
    Ok(())
}

#[test]
fn a_lock_of_a_newer_peer_is_taken_if_it_is_there() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let ran = map(&sandbox, &["initialize"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(!sandbox.path(".map/.locks").exists());
    sandbox.write(".map/.locks/default.transaction.lock", "")?;
    let ran = map(&sandbox, &["get_next_step"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(
        sandbox
            .read(".map/.locks/default.transaction.lock")?
            .is_empty()
    );
    Ok(())
}

/// A workflow at the monitor, whose next failure writes feedback, quarantine and state.
fn at_the_monitor() -> Result<Sandbox> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let working = json!({
        "subtask_sequence": ["ST-001"], "current_subtask_id": "ST-001", "retry_count": 1,
        "current_step_id": "2.4", "current_step_phase": "MONITOR", "pending_steps": ["2.4"],
    });
    sandbox.write(STATE, working.to_string())?;
    Ok(sandbox)
}

#[test]
fn a_command_that_fails_changes_nothing_and_blocks_no_other() -> Result<()> {
    let long = "x".repeat(250);
    let scenes: [&[&str]; 3] = [
        &["wave_monitor_failed", "../../x", "--feedback", "f"],
        &["wave_monitor_failed", &long, "--feedback", "f"],
        &["monitor_failed", "--feedback", "f"],
    ];
    for words in scenes {
        let sandbox = at_the_monitor()?;
        let feedback = sandbox.path(".map/default/monitor_feedback_retry2.md");
        std::os::unix::fs::symlink("../../../../gone", feedback)?;
        let before = sandbox.files()?.except(".rekindle");
        let ran = map(&sandbox, words)?;
        ensure!(ran.code() == Some(1), "{words:?}: {ran}");
        ensure!(serde_json::from_slice::<Value>(ran.stderr_bytes())?["error"].is_string());
        let after = sandbox.files()?.except(".rekindle");
        ensure!(before == after, "{words:?}: {:?}", before.changes(&after));
        let next = map(&sandbox, &["set_tdd_mode", "true"])?;
        ensure!(next.code() == Some(0), "{words:?}: {next}");
        ensure!(
            state(&sandbox)?["retry_count"] == 1,
            "{words:?} was carried out later"
        );
    }
    Ok(())
}

#[test]
fn a_link_that_leads_out_of_the_project_is_refused_by_reading_and_writing_alike() -> Result<()> {
    for path in [".map", ".map/default", STATE] {
        let sandbox = at_the_monitor()?;
        let (inside, outside) = (sandbox.path(path), sandbox.root().join("moved"));
        fs_err::rename(&inside, &outside)?;
        std::os::unix::fs::symlink(&outside, &inside)?;
        let before = sandbox.read(STATE)?;
        for words in [&["peek_current_step"][..], &["set_tdd_mode", "true"]] {
            let ran = map(&sandbox, words)?;
            ensure!(ran.code() == Some(1), "{path} {words:?}: {ran}");
            ensure!(
                ran.stderr().contains("is a link"),
                "{path} {words:?}: {ran}"
            );
        }
        ensure!(sandbox.read(STATE)? == before);
    }
    Ok(())
}

#[test]
fn a_folder_below_a_project_without_git_is_not_a_project_of_its_own() -> Result<()> {
    let sandbox = at_the_monitor()?;
    sandbox.write("src/deep/x", "")?;
    let typed = sandbox.typed(&["map", "set_tdd_mode", "true"]);
    let ran = typed.from(sandbox.path("src/deep")).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(state(&sandbox)?["tdd_mode"] == true);
    ensure!(!sandbox.path("src/deep/.map").exists());
    Ok(())
}

#[test]
fn closed_steps_that_another_writer_keeps_as_an_object_are_read_by_their_keys() -> Result<()> {
    // What the scripts of mapify-cli 3.25.0 answer for the same file.
    let found = json!({
        "subtask_sequence": ["ST-001"], "current_subtask_id": "ST-001", "current_step_id": "2.3",
        "current_step_phase": "ACTOR", "completed_steps": {"2.2": ["x"], "ST-001": ["actor"]},
        "pending_steps": ["2.3", "2.4"],
    });
    let scenes: &[(&[&str], i32, Value)] = &[
        (&["peek_current_step"], 0, json!({"step_id": "2.3"})),
        (
            &["check_circuit_breaker"],
            0,
            json!({"tool_count": 2, "triggered": false}),
        ),
        (
            &["get_next_step"],
            0,
            json!({"step_id": "2.3", "warning": null}),
        ),
        (
            &["validate_step", "2.2"],
            0,
            json!({"valid": true, "idempotent": true}),
        ),
        (
            &["set_tdd_mode", "true"],
            0,
            json!({"status": "success", "tdd_mode": true}),
        ),
        (&["monitor_failed"], 0, json!({"status": "retrying"})),
        (
            &["set_plan_approved", "true"],
            0,
            json!({"status": "success"}),
        ),
        (
            &["record_subtask_result", "ST-001", "valid"],
            0,
            json!({"status": "success"}),
        ),
        // A step cannot be added to an object.
        (&["validate_step", "2.3"], 1, Value::Null),
    ];
    for (words, code, expected) in scenes {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write(STATE, found.to_string())?;
        let ran = map(&sandbox, words)?;
        ensure!(ran.code() == Some(*code), "{words:?}: {ran}");
        if *code == 0 {
            let answer = ran.json()?;
            for (key, value) in expected.as_object().into_iter().flatten() {
                ensure!(answer[key] == *value, "{words:?}, {key}: {ran}");
            }
        }
        let kept = state(&sandbox)?["completed_steps"].clone();
        ensure!(kept == found["completed_steps"], "{words:?}: {kept}");
    }
    Ok(())
}
