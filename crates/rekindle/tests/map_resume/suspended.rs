//! A run that a repair has suspended is left alone, whatever is asked of it.

use anyhow::{Result, ensure};
use rekindle_testkit::sandbox::Ran;
use serde_json::{Value, json};

use crate::project::{Project, STATE, out, state};

const OPERATION: &str = "repair-0123456789abcdef01234567";

/// Every command that changes something, or says what a wave does next, with its exit code.
const MOVING: &[(&[&str], i32)] = &[
    (&["get_next_step"], 0),
    (&["validate_step", "2.3"], 1),
    (&["initialize", "x"], 0),
    (&["set_plan_approved", "true"], 0),
    (&["restore_deferred_yagni", "YG-001"], 1),
    (&["set_execution_mode", "batch"], 0),
    (&["set_tdd_mode", "true"], 0),
    (&["skip_step", "2.25"], 0),
    (&["set_subtasks", "ST-001"], 0),
    (&["mark_contract_ready", "ST-002"], 0),
    (&["resume_from_plan"], 0),
    (&["resume_from_test_contract", "ST-002"], 0),
    (&["set_waves"], 0),
    (&["get_wave_step"], 0),
    (&["validate_wave_step", "ST-002", "2.3"], 0),
    (&["advance_wave"], 0),
    (&["monitor_failed", "--feedback", "no"], 0),
    (&["wave_monitor_failed", "ST-002"], 0),
    (&["defer_flaky_subtask", "ST-002", "--check-id", "x"], 1),
    (&["reopen_for_fixes"], 0),
    (&["mark_workflow_complete"], 0),
    (&["mark_subtask_complete", "ST-002"], 1),
    (&["record_subtask_result", "ST-002", "valid"], 0),
    (&["backfill_subtask_ids"], 0),
    (&["finalize_plan"], 0),
    (&["archive"], 1),
    (&["abandon"], 0),
    (&["resume_single_subtask", "ST-002"], 0),
    (&["update_plan_status", "ST-002", "complete"], 1),
    (&["ensure_human_artifacts"], 1),
    (&["validate_retry_quarantine"], 1),
];

fn journal(project: &Project) -> String {
    format!("{}/journal.json", repair(project))
}

fn repair(project: &Project) -> String {
    let git = project
        .shell("git rev-parse --absolute-git-dir")
        .unwrap_or_default();
    format!("{}/map-repairs/{OPERATION}", git.trim())
}

/// Suspends the run of a project, as MAP 3.34.2 does it.
fn suspend(project: &Project) -> Result<()> {
    let mut state = state();
    state["active_interruption"] = json!({"operation_id": OPERATION, "contract_digest": "d"});
    project.state(&state)?;
    let root = project.shell("git rev-parse --show-toplevel")?;
    let checkout = format!("{}/checkout", repair(project));
    let journal_text = json!({
        "operation_id": OPERATION, "contract_digest": "d", "branch": "main", "root": root.trim(),
        "stage": "active", "private_checkout": checkout, "repair_id": "ST-003",
    });
    fs_err::create_dir_all(&checkout)?;
    Ok(fs_err::write(journal(project), journal_text.to_string())?)
}

fn map(project: &Project, words: &[&str]) -> Result<Ran> {
    let mut args = vec!["map"];
    args.extend(words);
    Ok(project.sandbox.run(&args)?)
}

#[test]
fn every_command_that_changes_something_is_refused_with_the_answer_of_map() -> Result<()> {
    let project = Project::new()?;
    suspend(&project)?;
    let before = project.sandbox.files()?;
    let checkout = format!("{}/checkout", repair(&project));
    let open = json!({"operation_id": OPERATION, "stage": "active", "private_checkout": checkout});
    let with = |more: Value| {
        let mut answer = open.clone();
        for (key, value) in more.as_object().into_iter().flatten() {
            answer[key] = value.clone();
        }
        answer
    };
    for (words, code) in MOVING {
        let ran = map(&project, words)?;
        ensure!(ran.code() == Some(*code), "{words:?}: {ran}");
        let expected = with(json!({"status": "error", "valid": false}));
        assert_eq!(ran.json()?, expected, "{words:?}");
        // Not even our own folder: finishing a repair compares the files of the project.
        let changes = before.changes(&project.sandbox.files()?);
        ensure!(changes.is_empty(), "{words:?}: {changes:?}");
    }
    for words in ["get_interruption_status", "repair_status"] {
        let ran = map(&project, &[words])?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(ran.json()?, with(json!({"status": "interrupted"})));
    }
    for words in [
        "peek_current_step",
        "get_plan_progress",
        "check_circuit_breaker",
    ] {
        let ran = map(&project, &[words])?;
        ensure!(
            ran.code() == Some(0) && ran.json()?["status"] != "error",
            "{ran}"
        );
    }
    Ok(())
}

#[test]
fn a_resume_waits_for_the_repair_and_offers_no_fresh_start() -> Result<()> {
    let project = Project::new()?;
    suspend(&project)?;
    let before = project.sandbox.files()?;
    let checkout = format!("{}/checkout", repair(&project));
    for (args, answer) in [
        (&["--yes"][..], ""),
        (&[], "2\n"),
        (&[], "Start fresh\n"),
        (&[], "1\n"),
    ] {
        let ran = project.resume(args).answering(answer).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        let said = format!("{}{}", out(&ran), ran.stderr());
        for named in [OPERATION, &checkout, "verify_repair", "finish_repair"] {
            ensure!(said.contains(named), "{named}: {ran}");
        }
        ensure!(!said.contains("Start fresh"), "{ran}");
        project.is_unchanged(&ran, &before)?;
    }
    assert_eq!(project.calls()?, "");
    for words in [
        &["status", "--json"][..],
        &["plan", "--json"],
        &["inspect", "--json"],
    ] {
        let ran = project.sandbox.run(words)?;
        ensure!(ran.code() == Some(0), "{ran}");
        let said = out(&ran);
        for named in [checkout.as_str(), "verify_repair", "finish_repair"] {
            ensure!(said.contains(named), "{named}: {ran}");
        }
    }
    let inspected = project.sandbox.run(&["inspect", "--json"])?.json()?;
    assert_eq!(inspected["state"], "waiting");
    assert_eq!(inspected["facts"]["interruption"]["status"], "interrupted");
    let hook = project.sandbox.typed(&["hook", "session-start"]);
    let start = json!({"session_id": "s", "cwd": project.sandbox.path("."), "hook_event_name": "SessionStart", "source": "startup"});
    let ran = hook.answering(&start.to_string()).run()?;
    ensure!(
        out(&ran).contains("verify_repair") && out(&ran).contains("continue the repair"),
        "{ran}"
    );
    Ok(())
}

#[test]
fn a_run_goes_on_once_the_repair_is_done() -> Result<()> {
    let project = Project::new()?;
    suspend(&project)?;
    project.state(&state())?;
    let text = fs_err::read_to_string(journal(&project))?;
    fs_err::write(journal(&project), text.replace("\"active\"", "\"done\""))?;
    let ran = map(&project, &["get_interruption_status"])?;
    assert_eq!(ran.json()?, json!({"status": "idle"}));
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        project.read_state()?["workflow_status"],
        "WORKFLOW_COMPLETE"
    );
    Ok(())
}

/// What makes a repair and a state disagree, and the state that is then shown.
const DISAGREEMENTS: &[(&str, &str, &str)] = &[
    ("the journal is gone", "rm $journal", "waiting"),
    (
        "all repairs are gone",
        "rm -r $(dirname $(dirname $journal))",
        "waiting",
    ),
    (
        "another contract",
        "sed -i 's/\"d\"/\"e\"/' $journal",
        "waiting",
    ),
    (
        "another branch",
        "sed -i 's/\"main\"/\"dev\"/' $journal",
        "waiting",
    ),
    (
        "another folder",
        "sed -i 's/\"root\":\"/&x/' $journal",
        "waiting",
    ),
    ("a torn journal", "truncate -s 40 $journal", "waiting"),
    (
        "a journal that is a list",
        "echo '[1]' > $journal",
        "waiting",
    ),
    (
        "no marker",
        "sed -i 's/active_interruption/x/' .map/main/step_state.json",
        "waiting",
    ),
    ("no state", "rm .map/main/step_state.json", "waiting"),
    (
        "a torn state",
        "truncate -s 40 .map/main/step_state.json",
        "waiting",
    ),
    (
        "a marker of another type",
        "sed -i 's/\"operation_id\":\"[^\"]*\"/\"operation_id\":7/' .map/main/step_state.json",
        "waiting",
    ),
    (
        "no state, a repair that is done",
        "rm .map/main/step_state.json; sed -i 's/\"active\"/\"done\"/' $journal",
        "blocked",
    ),
    (
        "no marker, a stray file",
        "sed -i 's/active_interruption/x/' .map/main/step_state.json; rm $journal; touch $(dirname $(dirname $journal))/x",
        "blocked",
    ),
];

#[test]
fn a_repair_and_a_state_that_disagree_stop_everything() -> Result<()> {
    for (about, script, expected) in DISAGREEMENTS {
        let project = Project::new()?;
        suspend(&project)?;
        project.shell(&format!("journal='{}'\n{script}", journal(&project)))?;
        let before = project.sandbox.files()?;
        let ran = map(&project, &["get_interruption_status"])?;
        ensure!(
            ran.code() == Some(1) && ran.json()?["status"] == "error",
            "{about}: {ran}"
        );
        let reason = ran.json()?["reasons"][0]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        for (words, code) in MOVING {
            let ran = map(&project, words)?;
            let answer = ran.json()?;
            ensure!(ran.code() == Some(*code), "{about}: {words:?}: {ran}");
            assert_eq!(
                answer,
                json!({"status": "error", "reasons": [reason], "valid": false}),
                "{about}"
            );
        }
        for (args, answer) in [(&["--yes"][..], ""), (&[], "2\n")] {
            let ran = project.resume(args).answering(answer).run()?;
            ensure!(ran.code() == Some(1), "{about}: {ran}");
        }
        let inspected = project
            .sandbox
            .run(&["inspect", "--protocol", "map", "--json"])?
            .json()?;
        assert_eq!(inspected["state"], *expected, "{about}");
        let findings = inspected["findings"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let found = findings
            .iter()
            .find(|found| found["code"] == "REPAIR_MISMATCH");
        let message = found
            .and_then(|found| found["message"].as_str())
            .unwrap_or_default();
        for named in [STATE, "map-repairs"] {
            ensure!(message.contains(named), "{about}: {inspected}");
        }
        let changes = before
            .except(".rekindle")
            .changes(&project.sandbox.files()?.except(".rekindle"));
        ensure!(changes.is_empty(), "{about}: {changes:?}");
    }
    Ok(())
}

#[test]
fn a_linked_worktree_has_repairs_of_its_own() -> Result<()> {
    let project = Project::new()?;
    suspend(&project)?;
    let other = project.sandbox.root().join("other");
    project.shell(&format!(
        "git worktree add -q -b topic '{other}' && mkdir -p '{other}/.map/topic'"
    ))?;
    let text = state().to_string();
    fs_err::write(other.join(".map/topic/step_state.json"), &text)?;
    let typed = project.sandbox.typed(&["map", "get_interruption_status"]);
    let ran = typed.from(other.clone()).run()?;
    assert_eq!(ran.json()?, json!({"status": "idle"}));
    let git_dir = project.shell(&format!("git -C '{other}' rev-parse --absolute-git-dir"))?;
    let own = format!("{}/map-repairs/{OPERATION}", git_dir.trim());
    fs_err::create_dir_all(&own)?;
    let journal_text = json!({"operation_id": OPERATION, "branch": "topic", "stage": "active"});
    fs_err::write(format!("{own}/journal.json"), journal_text.to_string())?;
    let typed = project.sandbox.typed(&["map", "get_next_step"]);
    let ran = typed.from(other.clone()).run()?;
    assert_eq!(ran.json()?["status"], "error");
    assert_eq!(
        fs_err::read_to_string(other.join(".map/topic/step_state.json"))?,
        text
    );
    Ok(())
}
