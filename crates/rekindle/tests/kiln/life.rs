//! A project from its first phase to its end, killed in between, with its memory at every point.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::project::Project;

fn three_phases() -> Result<Project> {
    let runtime = "stage: execution\nstatus: in_progress\nplanning_sub_stage: null\ndebate_mode: 2\nphase_number: null\nphase_name: null\nphase_total: 3\n";
    Project::new(runtime, "")
}

#[test]
fn three_phases_with_a_kill_in_the_second_and_one_in_the_first_correction() -> Result<()> {
    let project = three_phases()?;
    project.verdicts(&["FAIL", "PARTIAL", "PASS"])?;
    killed_in_the_second_phase(&project)?;
    killed_in_the_first_correction(&project)?;
    to_the_end(&project)
}

/// The first phase is done, the second is killed in its middle.
fn killed_in_the_second_phase(project: &Project) -> Result<()> {
    project.stop_in("phase-2")?;
    let running = project.resume("12:00").start()?;
    let agent = project.gate.wait()?;
    project.kill(running, agent)?;
    assert_eq!(
        project.calls()?,
        "kiln-phase-executor phase-1 1\nkiln-phase-executor phase-2 1\n"
    );
    project.unrelated_is_untouched()?;
    insta::assert_snapshot!(project.memory()?, @"
    # Kiln Project Memory

    ## Metadata
    project_name: ledger-api
    test_runner:   vitest  
    date_started: 2026-02-19
    last_updated: 2026-02-20T12:00:00Z

    ## Runtime
    stage: execution
    status: in_progress
    planning_sub_stage: null
    debate_mode: 2
    phase_number: 2
    phase_name: Engine
    phase_total: 3

    ## Handoff
    handoff_note: Executing phase 2: Engine.
    handoff_context: |
      Phase 1 (Storage) completed successfully.
      Part 1.

    ## Phase Statuses
    # Add one line per phase during execution:
    - phase_number: 1 | phase_name: Storage | phase_status: completed
    - phase_number: 2 | phase_name: Engine | phase_status: in_progress

    ## Notes of a person
    	status: not a field
    * keep  this | as: it is

    ## Resume Log
    - 2026-02-19T09:00:00Z Initialized via /kiln:start
    - Resumed: 2026-02-20T12:00:00Z

    # Optional sections — uncomment when needed
    # ## Reset Notes
    # next_action: (filled by /kiln:reset)
    ");
    let facts = project.facts()?;
    assert_eq!(facts["phase"], 2);
    assert_eq!(facts["reason"], "in_progress");
    assert_eq!(facts["restart"]["task"], "02");
    Ok(())
}

/// It continues through the third phase and into validation; the first correction is killed.
fn killed_in_the_first_correction(project: &Project) -> Result<()> {
    project.stop_in("correction-1")?;
    let running = project.resume("13:00").start()?;
    let agent = project.gate.wait()?;
    let prompt = project.prompt()?;
    project.kill(running, agent)?;
    let calls = project.calls()?;
    assert_eq!(
        calls,
        "kiln-phase-executor phase-2 1\nkiln-phase-executor phase-3 1\nkiln-validator validation 1\nkiln-phase-executor correction-1 1\n"
    );
    ensure!(
        prompt.contains("### Correction Task 1: Totals\nFailure: totals"),
        "{prompt}"
    );
    project.unrelated_is_untouched()?;
    insta::assert_snapshot!(project.memory()?, @"
    # Kiln Project Memory

    ## Metadata
    project_name: ledger-api
    test_runner:   vitest  
    date_started: 2026-02-19
    last_updated: 2026-02-20T13:00:00Z

    ## Runtime
    stage: execution
    status: in_progress
    planning_sub_stage: null
    debate_mode: 2
    phase_number: 3
    phase_name: Reports
    phase_total: 3
    correction_cycle: 1

    ## Handoff
    handoff_note: Correction cycle 1/3: fixing validation failures.
    handoff_context: |
      Validation verdict: FAIL. Correction tasks: 1. See .kiln/validation/report.md.

    ## Phase Statuses
    # Add one line per phase during execution:
    - phase_number: 1 | phase_name: Storage | phase_status: completed
    - phase_number: 2 | phase_name: Engine | phase_status: completed
    - phase_number: 3 | phase_name: Reports | phase_status: completed

    ## Notes of a person
    	status: not a field
    * keep  this | as: it is

    ## Resume Log
    - 2026-02-19T09:00:00Z Initialized via /kiln:start
    - Resumed: 2026-02-20T12:00:00Z
    - Resumed: 2026-02-20T13:00:00Z

    # Optional sections — uncomment when needed
    # ## Reset Notes
    # next_action: (filled by /kiln:reset)

    ## Correction Log
    - Cycle 1: FAIL, 1 correction tasks
    - [2026-02-20T13:00:00Z] [Kiln] [correction_start] — Correction cycle 1/3 started
    ");
    let facts = project.facts()?;
    assert_eq!(
        facts["route"],
        serde_json::json!(["execution", "validation"])
    );
    assert_eq!(facts["validation_branch"], "correction");
    Ok(())
}

/// Validation runs first; failures are corrected in the same cycle, and then it passes.
fn to_the_end(project: &Project) -> Result<()> {
    let ran = project.resume("14:00").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        project.calls()?,
        "kiln-validator validation 2\nkiln-phase-executor correction-1 1\nkiln-validator validation 2\n"
    );
    project.unrelated_is_untouched()?;
    insta::assert_snapshot!(project.memory()?, @"
    # Kiln Project Memory

    ## Metadata
    project_name: ledger-api
    test_runner:   vitest  
    date_started: 2026-02-19
    last_updated: 2026-02-20T14:00:00Z

    ## Runtime
    stage: complete
    status: complete
    planning_sub_stage: null
    debate_mode: 2
    phase_number: null
    phase_name: null
    phase_total: 3
    correction_cycle: 0
    completed_at: 2026-02-20T14:00:00Z

    ## Handoff
    handoff_note: Protocol run completed successfully.
    handoff_context: |
      All 3 phases completed and validated.

    ## Phase Statuses
    # Add one line per phase during execution:
    - phase_number: 1 | phase_name: Storage | phase_status: completed
    - phase_number: 2 | phase_name: Engine | phase_status: completed
    - phase_number: 3 | phase_name: Reports | phase_status: completed

    ## Notes of a person
    	status: not a field
    * keep  this | as: it is

    ## Resume Log
    - 2026-02-19T09:00:00Z Initialized via /kiln:start
    - Resumed: 2026-02-20T12:00:00Z
    - Resumed: 2026-02-20T13:00:00Z
    - Resumed: 2026-02-20T14:00:00Z

    # Optional sections — uncomment when needed
    # ## Reset Notes
    # next_action: (filled by /kiln:reset)

    ## Correction Log
    - Cycle 1: FAIL, 1 correction tasks
    - [2026-02-20T13:00:00Z] [Kiln] [correction_start] — Correction cycle 1/3 started
    - [2026-02-20T14:00:00Z] [Kiln] [correction_complete] — Correction cycle 1/3 complete
    ");
    insta::assert_snapshot!(project.said(&ran), @"
    === Kiln Resume ===
    Project: [PROJECT]
    Stage:   execution
    Phase:   3/3 Reports
    Correction: cycle 1/3
    Status:  in_progress
    Handoff: Correction cycle 1/3: fixing validation failures.
    =====================
    Context:
      Validation verdict: FAIL. Correction tasks: 1. See .kiln/validation/report.md.

    Resuming validation — correction cycle 1/3 in progress.

    Resuming validation — correction cycle 1/3 in progress.
    ");
    Ok(())
}

#[test]
fn a_resume_prints_where_every_phase_continues() -> Result<()> {
    let project = three_phases()?;
    project.verdicts(&["PASS"])?;
    let ran = project.resume("12:00").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    insta::assert_snapshot!(project.said(&ran), @"
    === Kiln Resume ===
    Project: [PROJECT]
    Stage:   execution
    Status:  in_progress
    Handoff: Plan approved; execution starting.
    =====================

    Resuming phase 1/3: Storage — spawning Maestro.

    Resuming phase 2/3: Engine — spawning Maestro.

    Resuming phase 3/3: Reports — spawning Maestro.

    Resuming validation stage.

    Built so far:
      Phase 1: Storage
      Phase 2: Engine
      Phase 3: Reports
    Decisions:
      Integer cents
    ");
    assert_eq!(project.field("stage")?, "complete");
    Ok(())
}

#[test]
fn a_phase_that_fails_twice_blocks_the_project_and_is_retried_by_the_next_resume() -> Result<()> {
    let project = three_phases()?;
    project.verdicts(&["PASS"])?;
    let args = [
        "resume",
        "--protocol",
        "kiln",
        "--yes",
        "--agent-cmd",
        "cat >/dev/null; exit 3",
    ];
    let ran = project
        .sandbox
        .typed(&args)
        .at("2026-02-20T12:00:00Z")
        .run()?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    ensure!(
        ran.stderr()
            .contains("phase 1 (Storage) did not complete: it ended with exit code 3"),
        "{ran}"
    );
    assert_eq!(project.field("status")?, "blocked");
    assert_eq!(
        project.field("handoff_note")?,
        "Executing phase 1: Storage. Phase 1 attempt 1 did not complete: it ended with exit code 3; \
         phase 1 attempt 2 did not complete: it ended with exit code 3"
    );
    assert_eq!(project.facts()?["reason"], "failed");
    let ran = project.resume("13:00").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(project.field("stage")?, "complete");
    project.unrelated_is_untouched()
}

#[test]
fn an_executor_without_proof_has_completed_nothing() -> Result<()> {
    let project = three_phases()?;
    let args = [
        "resume",
        "--protocol",
        "kiln",
        "--yes",
        "--agent-cmd",
        "cat >/dev/null",
    ];
    let ran = project.sandbox.typed(&args).run()?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    let memory = project.memory()?;
    ensure!(
        memory.contains("phase_name: Storage | phase_status: failed\n"),
        "{memory}"
    );
    ensure!(!memory.contains("phase_number: 2 |"), "{memory}");
    Ok(())
}

#[test]
fn without_an_agent_the_whole_prompt_is_printed() -> Result<()> {
    let project = three_phases()?;
    let hosts = [
        ("CLAUDECODE", "1"),
        ("CODEX_SANDBOX", "seatbelt"),
        ("CODEX_THREAD_ID", "0199"),
        ("CURSOR_AGENT", "1"),
        ("GEMINI_CLI", "1"),
        ("OPENCODE", "1"),
    ];
    // A host is the caller, so a configured agent is not started.
    let inside = hosts.map(|(name, value)| project.alone(&["--yes", "--json"]).with(name, value));
    let inside = inside
        .into_iter()
        .chain([project.alone(&["--yes", "--json", "--no-agent"])]);
    project
        .sandbox
        .write(".rekindle/config.toml", "[agent]\ndefault = \"claude\"\n")?;
    for typed in inside {
        let object = typed.run()?.json()?;
        assert_eq!(object["outcome"], "agent_needed");
        let agent = &object["agent"];
        assert_eq!(agent["role"], "kiln-phase-executor");
        let prompt = agent["prompt"].as_str().unwrap_or_default();
        for part in [
            "### Phase 1: Storage\n",
            "# Project Vision\nA ledger.",
            project.memory()?.trim_end(),
        ] {
            ensure!(prompt.contains(part), "{part} in {prompt}");
        }
        let text = object["text"].as_str().unwrap_or_default();
        ensure!(
            text.ends_with("Resuming phase 1/3: Storage — spawning Maestro.\n"),
            "{text}"
        );
    }
    // The phase was not started.
    assert_eq!(project.field("phase_number")?, "null");
    Ok(())
}

#[test]
fn a_report_from_before_the_resume_does_not_count() -> Result<()> {
    for verdict in ["PASS", "FAIL"] {
        let project = Project::new("stage: validation\nstatus: in_progress\n", "")?;
        let report = format!("# Validation Report\n\n## Verdict\n\n**{verdict}**\n");
        project
            .sandbox
            .write(".kiln/validation/report.md", &report)?;
        let resume = |script: &str| {
            let args = [
                "resume",
                "--protocol",
                "kiln",
                "--yes",
                "--agent-cmd",
                script,
            ];
            project.sandbox.typed(&args).run()
        };
        let ran = resume("cat >/dev/null")?;
        ensure!(
            ran.code() == Some(1) && ran.stderr().contains("Argus wrote no report"),
            "{ran}"
        );
        assert_eq!(project.field("stage")?, "validation");
        ensure!(!project.memory()?.contains("correction_cycle"));
        // A rewritten report counts, even with the same text.
        let ran = resume(
            "cat >/dev/null; cp .kiln/validation/report.md r && cp r .kiln/validation/report.md",
        )?;
        let is_complete = project.field("stage")? == "complete";
        assert_eq!(is_complete, verdict == "PASS", "{ran}");
        assert_eq!(
            project.memory()?.contains("- Cycle 1: FAIL"),
            verdict == "FAIL"
        );
    }
    Ok(())
}

#[test]
fn a_session_that_ends_during_a_phase_leaves_a_note_if_there_is_none() -> Result<()> {
    let runtime = "stage: execution\nstatus: in_progress\nphase_number: 2\nphase_total: 3\n";
    let phases = "- phase_number: 2 | phase_name: Engine | phase_status: in_progress\n";
    let project = Project::new(runtime, phases)?;
    // The session worked on the memory.
    let edit = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "a",
        "name": "Edit", "input": {"file_path": project.memory_dir().join("MEMORY.md")}}]}});
    let transcript = project.sandbox.root().join("home/session.jsonl");
    fs_err::write(&transcript, format!("{edit}\n"))?;
    let told =
        json!({"session_id": "s", "transcript_path": transcript, "cwd": project.sandbox.project()});
    let end = || -> Result<()> {
        let ran = project
            .sandbox
            .typed(&["hook", "session-end", "--agent", "claude"])
            .answering(&told.to_string())
            .at("2026-02-20T09:00:00Z")
            .run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        Ok(())
    };
    let before = project.memory()?;
    end()?;
    // An existing note is kept.
    assert_eq!(project.memory()?, before);
    let silent = before.replace(
        "handoff_note: Plan approved; execution starting.",
        "handoff_note:",
    );
    project.write_memory("MEMORY.md", &silent)?;
    end()?;
    assert_eq!(project.field("handoff_note")?, "Executing phase 2: Engine.");
    assert_eq!(project.field("last_updated")?, "2026-02-20T09:00:00Z");
    project.unrelated_is_untouched()?;
    let noted = project.memory()?;
    end()?;
    assert_eq!(project.memory()?, noted);
    ensure!(!project.sandbox.path(".rekindle/hook.log").exists());
    Ok(())
}
