//! What an actor is told about attempts that failed.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::project::{Project, state};

const FEEDBACK: &str = ".map/main/monitor_feedback_retry2.md";

fn prompt(project: &Project) -> Result<String> {
    let ran = project.alone(&["--yes", "--json"]).run()?;
    let told = ran.json()?;
    let prompt = told["agent"]["prompt"].as_str().map(str::to_owned);
    ensure!(prompt.is_some(), "{ran}");
    Ok(prompt.unwrap_or_default())
}

/// A quarantine as MAP 3.25.0 writes it, sentence by sentence.
fn quarantine() -> Value {
    let source = |path: &str, kind: &str| json!({"path": path, "kind": kind});
    json!({"schema_version": "1.0", "branch": "main", "updated_at": "2026-01-20T09:00:00Z", "quarantines": [{
        "subtask_id": "ST-002", "retry_count": 2, "isolation_mode": "clean_retry", "failed_attempt": "retry_2",
        "monitor_rejection_summary": "See latest Monitor feedback artifact.", "rejected_assumptions": [],
        "do_not_repeat": ["See latest Monitor feedback artifact.", "float sums"],
        "preserved_constraints": ["Keep the blueprint's constraints."],
        "required_evidence": [
            "Read blueprint.json for the subtask contract before editing.",
            "Read the latest Monitor feedback artifact before choosing a new approach.",
            "Cite passing focused checks or explain the blocker before returning to Monitor."
        ],
        "source_artifacts": [source(".map/main/step_state.json", "step-state"),
            source(".map/main/blueprint.json", "blueprint"), source(FEEDBACK, "monitor-feedback")]
    }]})
}

#[test]
fn a_clean_retry_is_never_sent_to_the_feedback_that_it_must_not_read() -> Result<()> {
    let project = Project::new()?;
    let mut state = state();
    state["retry_count"] = json!(2);
    state["retry_isolation_status"] = json!({"ST-002": "clean_retry_required"});
    state["retry_quarantine_paths"] = json!({"ST-002": ".map/main/retry_quarantine.json"});
    project.state(&state)?;
    project
        .sandbox
        .write(".map/main/retry_quarantine.json", quarantine().to_string())?;
    project
        .sandbox
        .write(FEEDBACK, "the raw failed context\n")?;
    let prompt = prompt(&project)?;
    ensure!(prompt.contains("This is a clean retry"), "{prompt}");
    ensure!(!prompt.contains("the raw failed context"), "{prompt}");
    ensure!(!prompt.contains("See latest Monitor feedback"), "{prompt}");
    // What names feedback is quoted behind the sentence that it is not to be read, and nowhere else.
    let (told, basis) = prompt
        .split_once("Do not read them.")
        .unwrap_or((&prompt, ""));
    for named in ["Read the latest Monitor feedback artifact", FEEDBACK] {
        ensure!(!told.contains(named), "{named}: {prompt}");
        ensure!(basis.contains(named), "{named}: {prompt}");
    }
    for kept in [
        "Read blueprint.json for the subtask contract",
        "float sums",
        "Cite passing focused checks",
    ] {
        ensure!(told.contains(kept), "{kept}: {prompt}");
    }
    // The step's instruction of `rekindle map` does not lead there either.
    let next = project.sandbox.run(&["map", "get_next_step"])?.json()?;
    let instruction = next["instruction"].as_str().unwrap_or_default();
    ensure!(
        instruction.contains("not from the feedback files"),
        "{next}"
    );
    Ok(())
}

#[test]
fn our_own_quarantine_asks_for_no_feedback() -> Result<()> {
    let project = Project::new()?;
    let mut state = state();
    state["retry_count"] = json!(1);
    state["current_step_id"] = json!("2.4");
    state["current_step_phase"] = json!("MONITOR");
    state["pending_steps"] = json!(["2.4"]);
    project.state(&state)?;
    let ran = project.sandbox.run(&["map", "monitor_failed"])?;
    ensure!(
        ran.json()?["retry_isolation"] == "clean_retry_required",
        "{ran}"
    );
    let text = project.sandbox.read(".map/main/retry_quarantine.json")?;
    ensure!(!text.to_lowercase().contains("feedback"), "{text}");
    Ok(())
}

#[test]
fn fixes_have_one_bullet_and_commands_name_their_subtask() -> Result<()> {
    let project = Project::new()?;
    project.sandbox.write(
        ".map/main/code-review-001.md",
        "# Review\n\n- fix me\n- - twice\n",
    )?;
    let prompt = prompt(&project)?;
    ensure!(prompt.contains("\n- fix me\n- twice\n"), "{prompt}");
    ensure!(!prompt.contains("- - "), "{prompt}");
    let mut state = state();
    state["retry_count"] = json!(5);
    state["current_step_id"] = json!("2.4");
    state["current_step_phase"] = json!("MONITOR");
    state["pending_steps"] = json!(["2.4"]);
    project.state(&state)?;
    project.verdicts(&[r#"{"valid": false, "summary": "no", "issues": ["- fix it"]}"#])?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(
        ran.stderr()
            .contains("mark_subtask_complete ST-002 --kind done"),
        "{ran}"
    );
    let review = project.sandbox.read(".map/main/code-review-002.md")?;
    ensure!(
        review.contains("\n- fix it\n") && !review.contains("- - "),
        "{review}"
    );
    state["current_step_id"] = json!("2.2");
    state["pending_steps"] = json!(["2.2", "2.3", "2.4"]);
    project.state(&state)?;
    let next = project.sandbox.run(&["map", "get_next_step"])?.json()?;
    let instruction = next["instruction"].as_str().unwrap_or_default().to_owned();
    for command in ["save_research main ST-002", "mark_subtask_complete ST-002"] {
        ensure!(instruction.contains(command), "{next}");
    }
    Ok(())
}
