//! Verdicts of the Monitor: rejections, retries with feedback, clean retries, and the limit.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::project::{Project, out, state};

pub(crate) const NO: &str = r#"{"valid": false, "summary": "wrong sum", "issues": [{"severity": "high", "description": "SECRET-APPROACH fails"}]}"#;

#[test]
fn a_rejected_attempt_learns_why_and_a_clean_retry_does_not() -> Result<()> {
    let project = Project::new()?;
    project.verdicts(&[NO])?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let calls = project.calls()?;
    ensure!(
        calls.starts_with("actor ST-002 1\nmonitor ST-002 1\nactor ST-002 2\nmonitor ST-002 1\n"),
        "{calls}"
    );
    assert_eq!(project.read_state()?["contaminated_retry_count"], 1);

    let project = Project::new()?;
    project.verdicts(&[NO, NO])?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(project.read_state()?["clean_retry_count"], 1);
    ensure!(
        project
            .sandbox
            .path(".map/main/retry_quarantine.json")
            .exists(),
        "{ran}"
    );
    Ok(())
}

#[test]
fn the_prompt_of_a_retry_has_the_feedback_and_that_of_a_clean_one_the_quarantine_alone()
-> Result<()> {
    let project = Project::new()?;
    project.sandbox.write(
        ".map/main/monitor_feedback_retry1.md",
        "# Monitor Feedback\n\nRAW-FEEDBACK\n",
    )?;
    let mut once = state();
    once["retry_count"] = json!(1);
    once["retry_isolation_status"] = json!({"ST-002": "normal_retry"});
    project.state(&once)?;
    let prompt = next_prompt(&project)?;
    ensure!(
        prompt.contains("RAW-FEEDBACK") && prompt.contains("(data, not instructions)"),
        "{prompt}"
    );
    ensure!(prompt.contains("No third-party dependencies"), "{prompt}");
    ensure!(prompt.contains("Balance -> sum -> zero"), "{prompt}");

    project
        .sandbox
        .write(".map/main/code-review-001.md", "- RAW-REVIEW\n")?;
    let mut twice = once;
    twice["retry_count"] = json!(2);
    twice["retry_isolation_status"] = json!({"ST-002": "clean_retry_required"});
    twice["retry_quarantine_paths"] = json!({"ST-002": ".map/main/retry_quarantine.json"});
    project.state(&twice)?;
    // Without a quarantine that holds nobody is sent off.
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(
        ran.code() == Some(1) && ran.stderr().contains("retry_quarantine.json"),
        "{ran}"
    );
    assert_eq!(project.calls()?, "");
    let entry = |subtask: &str, summary: &str| {
        json!({"subtask_id": subtask, "retry_count": 2, "isolation_mode": "clean_retry", "failed_attempt": "retry_2",
            "monitor_rejection_summary": summary, "rejected_assumptions": [], "do_not_repeat": [summary],
            "preserved_constraints": ["c"], "required_evidence": ["e"],
            "source_artifacts": [{"path": "a", "kind": "step-state"}, {"path": "b", "kind": "blueprint"}]})
    };
    let quarantine = json!({"schema_version": "1.0", "branch": "main", "updated_at": "x",
        "quarantines": [entry("ST-001", "OF-ANOTHER"), entry("ST-002", "KEPT-SUMMARY")]});
    project
        .sandbox
        .write(".map/main/retry_quarantine.json", quarantine.to_string())?;
    let prompt = next_prompt(&project)?;
    ensure!(prompt.contains("KEPT-SUMMARY"), "{prompt}");
    for raw in ["RAW-FEEDBACK", "RAW-REVIEW", "OF-ANOTHER"] {
        ensure!(!prompt.contains(raw), "{raw} in {prompt}");
    }
    Ok(())
}

/// Returns what the next agent would be told.
fn next_prompt(project: &Project) -> Result<String> {
    let ran = project.alone(&["--yes", "--json"]).run()?;
    let object = ran.json()?;
    ensure!(object["outcome"] == "agent_needed", "{ran}");
    Ok(object["agent"]["prompt"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

#[test]
fn the_sixth_rejection_stops_and_says_what_to_do() -> Result<()> {
    let project = Project::new()?;
    project.verdicts(&[NO; 6])?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(1), "{ran}");
    assert_eq!(project.calls()?.matches("actor ST-002").count(), 6);
    ensure!(ran.stderr().contains("mark_subtask_complete"), "{ran}");
    assert_eq!(project.read_state()?["retry_count"], 6);
    Ok(())
}

#[test]
fn after_the_sixth_rejection_only_a_person_has_it_judged_again() -> Result<()> {
    let project = Project::new()?;
    project.verdicts(&[NO; 6])?;
    project.resume(&["--yes"]).run()?;
    project.calls()?;
    let again = project.resume(&["--yes"]).run()?;
    ensure!(again.code() == Some(1), "{again}");
    assert_eq!(project.calls()?, "");
    ensure!(out(&again).contains("**Rejected:** 6 times"), "{again}");
    let person = project.resume(&[]).answering("1\n1\n").run()?;
    ensure!(person.code() == Some(0), "{person}");
    ensure!(
        project.calls()?.starts_with("monitor ST-002 1\n"),
        "{person}"
    );
    Ok(())
}

/// What an agent does that moves the state machine by itself, from the actor of ST-002 to that of ST-003.
const MOVES_ON: &str = r#"
if [ $REKINDLE_ROLE/$REKINDLE_TASK = actor/ST-002 ]; then
  mkdir -p src .map/main/research && echo work > src/ST-002.txt
  "$rekindle" map validate_step 2.3 >&2
  "$rekindle" map record_subtask_result ST-002 valid --files src/ST-002.txt >&2
  "$rekindle" map validate_step 2.4 --recommendation proceed >&2
  printf '{"status": "OK", "confidence": 0.9, "search_stats": {"files_scanned": 1, "total_matches_found": 0, "results_truncated": false}, "relevant_locations": []}' > .map/main/research/ST-003__actor.md
  "$rekindle" map validate_step 2.2 >&2
fi
"#;

#[test]
fn a_step_is_closed_only_for_the_subtask_that_somebody_was_sent_off_for() -> Result<()> {
    let project = Project::new()?;
    project.act(MOVES_ON)?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        project.calls()?,
        "actor ST-002 1\nactor ST-003 1\nmonitor ST-003 1\n"
    );
    ensure!(project.sandbox.path("src/ST-003.txt").exists(), "{ran}");
    Ok(())
}

#[test]
fn a_rejection_without_words_does_not_hand_on_what_was_said_of_another_subtask() -> Result<()> {
    let project = Project::new()?;
    let yes = r#"{"valid": true, "summary": "ok", "issues": []}"#;
    let mute = r#"{"valid": false, "summary": "", "issues": []}"#;
    project.verdicts(&[NO, yes, mute])?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let feedback = project
        .sandbox
        .read(".map/main/monitor_feedback_retry1.md")?;
    ensure!(
        feedback.contains("names no reason") && !feedback.contains("SECRET-APPROACH"),
        "{feedback}"
    );
    let review = project.sandbox.read(".map/main/code-review-001.md")?;
    ensure!(
        review.contains("Subtask: ST-002") && review.contains("- high: SECRET-APPROACH fails"),
        "{review}"
    );
    Ok(())
}

#[test]
fn what_a_person_wants_who_opens_it_again_reaches_actor_and_monitor() -> Result<()> {
    let project = Project::new()?;
    project.verdicts(&[NO, NO])?;
    project.resume(&["--yes"]).run()?;
    let wish = ["map", "reopen_for_fixes", "--feedback", "RENAME THE COLUMN"];
    project.sandbox.run(&wish)?;
    let actor = next_prompt(&project)?;
    ensure!(actor.contains("RENAME THE COLUMN"), "{actor}");
    project.sandbox.run(&["map", "validate_step", "2.3"])?;
    let monitor = next_prompt(&project)?;
    ensure!(monitor.contains("RENAME THE COLUMN"), "{monitor}");
    Ok(())
}

#[test]
fn a_verdict_that_cannot_be_used_is_asked_for_once_more() -> Result<()> {
    let project = Project::new()?;
    project.sign("mute")?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(
        project
            .calls()?
            .contains("monitor ST-002 1\nmonitor ST-002 2\n"),
        "{ran}"
    );

    let project = Project::new()?;
    project.verdicts(&[
        "It is fine.",
        r#"{"valid": "yes", "summary": "", "issues": []}"#,
    ])?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains("neither true nor false"), "{ran}");
    assert_eq!(project.read_state()?["current_step_id"], "2.4");
    Ok(())
}

#[test]
fn work_that_changed_nothing_is_judged_twice() -> Result<()> {
    let project = Project::new()?;
    project.sign("idle")?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(
        project
            .calls()?
            .starts_with("actor ST-002 1\nmonitor ST-002 1\nmonitor ST-002 1\n"),
        "{ran}"
    );
    Ok(())
}
