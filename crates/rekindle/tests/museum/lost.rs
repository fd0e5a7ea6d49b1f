//! State that is lost by a crash, a restart or an update.

use anyhow::{Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::conformance::Stage;
use rekindle_testkit::repository::text;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::waves::{dead, landed, scene, subject};
use serde_json::json;

use crate::cut::Cut;
use crate::{BINARY, NOTHING, ORDERS, interrupted, states};

/// Elsewhere nothing was resumed after a crash of the host: the log had never reached the disk.
#[test]
fn genie_774_after_a_crash_everything_that_was_started_goes_on() -> Result<()> {
    let mut cut = Cut::new()?;
    assert_eq!(cut.project.events("task_claimed", "A"), 1);
    assert_eq!(cut.project.events("task_started", "A"), 1);
    cut.lands_cleanly()?;
    assert_eq!(cut.rescued().as_deref(), Some("half\n"));
    Ok(())
}

/// Elsewhere what was left by Ctrl-C or a restart looked running for ever, and could not be resumed.
#[test]
fn ruflo_325_what_was_killed_does_not_look_running() -> Result<()> {
    let mut cut = Cut::new()?;
    let status = text(&cut.project.rekindle(&["status", "--json"]).stdout);
    ensure!(status.contains("\"state\":\"interrupted\""), "{status}");
    let doctor = text(&cut.project.rekindle(&["doctor"]).stdout);
    ensure!(!doctor.contains("held by"), "{doctor}");
    cut.lands_cleanly()?;
    Ok(())
}

/// Elsewhere a restart in the middle of the recovery stranded the work for ever.
#[test]
fn dbos_transact_py_716_a_second_death_in_the_recovery_strands_nothing() -> Result<()> {
    let mut cut = Cut::new()?;
    for _ in 0..2 {
        cut.kill_in(&["resume", "--yes"])?;
    }
    cut.lands_cleanly()?;
    assert_eq!(cut.project.landed(), [("A".to_owned(), 4)]);
    Ok(())
}

/// Elsewhere the state of a helper program was empty after a restart, or its database was gone, and
/// every way to mend it wanted the database first.
#[test]
fn ruflo_900_without_our_own_folder_everything_is_still_there() -> Result<()> {
    let mut cut = Cut::new()?;
    fs_err::remove_dir_all(cut.project.path().join(".rekindle"))?;
    cut.lands_cleanly()?;
    Ok(())
}

/// Elsewhere an update changed the format and hid nearly all of the history.
#[test]
fn claude_code_12114_what_a_newer_release_wrote_hides_nothing() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let newer = json!({"schema_version": 99, "event_type": "task_completed", "task_id": "T002",
        "timestamp": "2026-01-19T11:00:00Z", "details": {"attempt": {"number": 1}}, "extra": [[]]});
    let unknown = json!({"event_type": "task_teleported", "task_id": "T001",
        "timestamp": "2026-01-19T11:00:01Z", "details": "none"});
    let log = run.path("events/executor/newer.jsonl");
    sandbox.write(log, format!("{unknown}\n{newer}\n"))?;
    let expected = json!({"T001": "done", "T002": "done", "T003": "pending"});
    assert_eq!(states(&sandbox)?, expected);
    Ok(())
}

/// Elsewhere the list of tasks was wiped when a session began, or by a hook when it ended.
#[test]
fn claude_code_33764_no_hook_removes_or_changes_a_file() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    for moment in [
        "session-start",
        "pre-compact",
        "stop",
        "session-end",
        "session-start",
    ] {
        let told = json!({"session_id": "s", "cwd": sandbox.project(), "source": "startup"});
        let hook = sandbox.typed(&["hook", moment, "--agent", "claude"]);
        let ran = hook.answering(&told.to_string()).run()?;
        assert_eq!(ran.code(), Some(0), "{ran}");
        let changes = before.changes(&sandbox.files()?);
        let harmful: Vec<&String> = changes
            .iter()
            .filter(|line| !line.starts_with('+'))
            .collect();
        assert_eq!(harmful, NOTHING, "{moment}");
    }
    Ok(())
}

/// Elsewhere tasks were kept by the session's id, and the next session did not find them.
#[test]
fn claude_code_90731_another_session_in_another_home_finds_the_same_tasks() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let first = sandbox.run(&["status"])?;
    let other = sandbox.root().join("other-home");
    fs_err::create_dir(&other)?;
    let typed = sandbox.typed(&["status"]).with("HOME", other.as_str());
    let typed = typed
        .with("CLAUDE_CODE_SESSION_ID", "another")
        .with("CLAUDECODE", "1");
    assert_eq!(typed.run()?.stdout(), first.stdout());
    assert!(first.stdout().contains(ORDERS), "{first}");
    Ok(())
}

/// Elsewhere the entries of finished tasks vanished from a list seconds after they were done.
#[test]
fn claude_code_88346_a_deleted_entry_is_neither_run_nor_landed_again() -> Result<()> {
    let done = landed(1, 1, json!({"src/a.js": "a\n"}));
    let stage = Stage::new(BINARY, &scene(&[done, dead(1, 2)]))?;
    fs_err::remove_file(stage.task_list().join("1.json"))?;
    let ran = stage.resume(&["--agent-cmd", "echo x > x.txt"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(1, 2)]);
    Ok(())
}

/// Elsewhere a resume after Ctrl-C had forgotten that a person was being asked.
#[test]
fn codex_29058_a_question_that_was_killed_is_asked_again() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::awaiting_approval(ORDERS).task("T001", "Add model", &[]);
    run.lay_out(&sandbox)?;
    let resume = ["resume", "--yes", "--no-agent"];
    let typed = sandbox.typed(&resume);
    let asked = typed.start()?;
    asked.wait_for("approve")?;
    asked.kill()?;
    let again = sandbox.typed(&resume).answering("approve\n").run()?;
    assert!(run.told(&sandbox)?.contains("to_phase=2"), "{again}");
    Ok(())
}
