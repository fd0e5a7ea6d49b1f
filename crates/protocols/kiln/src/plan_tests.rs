//! What a resume says, writes and asks for, in every stage and after everything that can come of it.

use camino::Utf8PathBuf;
use rekindle_model::{AgentTask, Ended};

use super::super::scene_tests::{DIR, Scene, fact, said, written};
use super::*;

fn open(scene: &Scene) -> Plan {
    scene.plan(&Intent::Open)
}

fn go_on(scene: &Scene) -> Plan {
    scene.plan(&Intent::GoOn {
        log: Utf8PathBuf::new(),
    })
}

fn settle(scene: &Scene, task: &AgentTask, ended: Ended) -> Plan {
    scene.plan(&Intent::Settle {
        log: Utf8PathBuf::new(),
        task: task.clone(),
        ended,
    })
}

fn answer(scene: &Scene, question: &'static str, answer: &str) -> Plan {
    scene.plan(&Intent::Answer {
        log: Utf8PathBuf::new(),
        question,
        answer: answer.to_owned(),
        is_about_a_blocker: false,
    })
}

fn agent(plan: &Plan) -> &AgentTask {
    let Then::Agent(task) = &plan.then else {
        panic!("no agent: {:?}", plan.then);
    };
    task
}

fn stopped(plan: &Plan) -> (StopKind, &str) {
    let Then::Stop(stop) = &plan.then else {
        panic!("no stop: {:?}", plan.then);
    };
    (stop.kind, stop.reason.as_str())
}

fn failed() -> Ended {
    Ended::Failed {
        reason: "it ended with exit code 1".to_owned(),
    }
}

/// Returns the lines of a memory that differ from those of the scene, the new ones alone.
fn changed(scene: &Scene, plan: &Plan) -> Vec<String> {
    let (old, new) = (scene.text(), written(plan).unwrap());
    let old: Vec<&str> = old.lines().collect();
    new.lines()
        .filter(|line| !old.contains(line))
        .map(str::to_owned)
        .collect()
}

const STEP_7: [&str; 2] = [
    "last_updated: 2026-02-20T12:00:00Z",
    "- Resumed: 2026-02-20T12:00:00Z",
];

#[test]
fn the_banner_has_the_lines_that_are_due() {
    let scene = Scene::execution()
        .set("phase_number", "2")
        .set("phase_name", "Engine | x: y")
        .set("project_mode", "brownfield")
        .set("correction_cycle", "1")
        .phase(2, "Engine", "in_progress")
        .tail("\n## Reset Notes\nnext_action: Look\n");
    assert_eq!(
        open(&scene).before_asking,
        "=== Kiln Resume ===\nProject: /w/ledger\nMode:    brownfield\nStage:   execution\nPhase:   2/3 Engine | x: y\n\
         Correction: cycle 1/3\nStatus:  in_progress\nHandoff: note\n=====================\n\
         Recommended next step (from last reset): Look\n"
    );
    let bare = Scene::new("execution", "blocked")
        .set("phase_number", "1")
        .set("phase_name", "null")
        .note("")
        .phase(1, "S", "in_progress");
    assert_eq!(
        open(&bare).before_asking,
        "=== Kiln Resume ===\nProject: /w/ledger\nStage:   execution\nPhase:   1/?\nStatus:  blocked\nHandoff: (none)\n=====================\n"
    );
    assert!(said(&open(&bare)).ends_with("\nResuming phase 1/?: Storage — spawning Maestro.\n"));
    let elsewhere = Scene::new("planning", "paused").set("phase_number", "2");
    assert!(!open(&elsewhere).before_asking.contains("Phase:"));
}

#[test]
fn a_stage_that_waits_for_words_says_its_own_and_stops() {
    for (stage, parts) in [
        (
            "brainstorm",
            [
                "Resuming brainstorming session. Here is the current vision:\n\n# Vision\nThe vision.\n",
                "\nWhat would you like to explore or refine next?\n",
            ],
        ),
        (
            "planning",
            [
                "Resuming planning stage (dual_plan).\n\n# Master Plan\n",
                "- none\n\nWhat would you like to change or settle in the plan?\n",
            ],
        ),
    ] {
        let scene = Scene::new(stage, "paused");
        let plan = open(&scene);
        for part in parts {
            assert!(said(&plan).contains(part), "{stage}: {}", said(&plan));
        }
        assert_eq!(stopped(&plan).0, StopKind::Waiting);
        let wanted: Vec<&str> = [STEP_7[0], "status: in_progress", STEP_7[1]].to_vec();
        assert_eq!(changed(&scene, &plan), wanted);
    }
}

#[test]
fn execution_is_opened_by_one_write_and_goes_on_with_maestro() {
    let scene = Scene::execution()
        .phase(1, "Storage", "completed")
        .note("Phase 1 complete; ready for next phase.")
        .names();
    let plan = open(&scene);
    assert_eq!(plan.then, Then::Again);
    assert_eq!(changed(&scene, &plan), STEP_7);
    assert!(said(&plan).ends_with("\nResuming phase 2/3: Engine — spawning Maestro.\n"));
    let plan = go_on(&scene);
    let begun = [
        STEP_7[0],
        "phase_number: 2",
        "phase_name: Engine",
        "handoff_note: Executing phase 2: Engine.",
        "- phase_number: 2 | phase_name: Engine | phase_status: in_progress",
    ];
    assert_eq!(changed(&scene, &plan), begun);
    let task = agent(&plan);
    assert_eq!(
        (task.role, task.task.as_deref(), task.attempt),
        ("kiln-phase-executor", Some("phase-2"), 1)
    );
}

#[test]
fn the_executors_prompt_has_every_part_whole() {
    let long = "x".repeat(40_000);
    let scene = Scene::execution()
        .phase(2, "Engine", "in_progress")
        .tail(&format!("\n## Unknown\n{long}\n"))
        .state(2, &["task_start] — Starting task 01"])
        .kiln_file("prompts/task_01.md", "x")
        .names();
    let scene = scene.set("debate_mode", "3");
    let prompt = agent(&go_on(&scene)).prompt.clone();
    for part in [
        "You are Maestro (kiln-phase-executor). Resume phase 2 and bring it to its end.",
        "~~~\ntwo\n~~~\n",
        "PROJECT_PATH: /w/ledger\n",
        &format!("MEMORY_DIR: {DIR}\n"),
        "phase_number: 2\ndebate_mode: 3",
        "Restart point: step implement",
        "next task: 01",
        "git_branch_name: kiln/phase-2-x",
        "### Phase 2: Engine\nGoal two",
        scene.text().trim_end(),
        "# Vision\nThe vision.",
    ] {
        assert!(
            prompt.contains(part),
            "the prompt lacks {}",
            &part[..part.len().min(80)]
        );
    }
    assert!(
        !prompt.contains("Goal three"),
        "only the phase's own section"
    );
}

#[test]
fn the_status_of_the_state_file_is_shown_and_passed_on() {
    let text = "status: partial-failure\n## Events\n- [t] [Maestro] [task_fail] — Task 01 failed\n- [t] [Maestro] [halt] — x\n";
    let scene = Scene::execution()
        .phase(2, "Engine", "in_progress")
        .kiln_file("phase_2_state.md", text);
    let prompt = agent(&go_on(&scene)).prompt.clone();
    assert!(prompt.contains("\nstatus: partial-failure\n"), "{prompt}");
    let said = "its state file says partial-failure";
    assert!(open(&scene).ahead[0].ends_with(said));
    let workflow = &scene.assessment().workflows[0];
    assert!(format!("{:?}", workflow.next).contains(said));
}

#[test]
fn a_phase_that_was_begun_or_failed_keeps_its_note() {
    let begun = Scene::execution()
        .set("phase_number", "2")
        .set("phase_name", "Engine")
        .phase(2, "Engine", "in_progress");
    assert_eq!(written(&go_on(&begun)), None, "nothing is left to write");
    let failed = Scene::execution()
        .phase(2, "Engine", "failed")
        .note("fix the schema first");
    let plan = go_on(&failed);
    assert!(
        written(&plan)
            .unwrap()
            .contains("handoff_note: fix the schema first\n")
    );
    assert!(
        written(&plan)
            .unwrap()
            .contains("phase_name: Engine | phase_status: in_progress\n")
    );
    let noted = Scene::execution().note("Phase 1 task 2/3 running; next: x");
    assert!(
        written(&go_on(&noted))
            .unwrap()
            .contains("handoff_note: Phase 1 task 2/3 running; next: x\n")
    );
}

/// A scene with Maestro at work on phase 2.
fn at_work() -> (Scene, AgentTask) {
    let scene =
        Scene::execution()
            .phase(1, "Storage", "completed")
            .phase(2, "Engine", "in_progress");
    let task = agent(&go_on(&scene)).clone();
    (scene, task)
}

#[test]
fn what_the_archive_proved_while_nobody_looked_is_written_with_the_next_phase() {
    let scene = Scene::execution()
        .phase(1, "Storage", "in_progress")
        .kiln_file("archive/phase_01/phase_summary.md", "x");
    assert_eq!(changed(&scene, &open(&scene)), STEP_7);
    let text = written(&go_on(&scene)).unwrap();
    assert!(
        text.contains("phase_name: Storage | phase_status: completed\n"),
        "{text}"
    );
    assert!(
        text.contains("phase_name: Engine | phase_status: in_progress\n"),
        "{text}"
    );
}

#[test]
fn a_phase_is_complete_by_proof_and_the_next_one_follows() {
    let (scene, task) = at_work();
    let summary =
        "# Phase 2 Summary\n## What Was Built\nA ledger.\n\nWith tests.\n## Key Decisions\n- x\n";
    let proofs = [
        scene
            .clone()
            .kiln_file("archive/phase_02/phase_summary.md", summary),
        scene
            .clone()
            .memory_file("phase-2-results.md", "## Completed Tasks\n- all\n"),
        scene
            .clone()
            .memory_file("phase-2-results.md", "x")
            .state(2, &["merge] — done"]),
        scene.clone().phase(2, "Engine", "completed"),
    ];
    for done in &proofs {
        let plan = settle(done, &task, Ended::Succeeded);
        let text = written(&plan).unwrap();
        assert!(
            text.contains("phase_name: Engine | phase_status: completed\n"),
            "{text}"
        );
        assert!(text.contains("handoff_note: Phase 2 complete; ready for next phase.\n"));
        assert!(text.contains("handoff_context: |\n  Phase 2 (Engine) completed successfully.\n"));
        assert_eq!(
            said(&plan),
            "\nResuming phase 3/3: Reports — spawning Maestro.\n"
        );
        assert_eq!(plan.then, Then::Again);
    }
    let archived = &proofs[0];
    assert!(
        written(&settle(archived, &task, Ended::Succeeded))
            .unwrap()
            .contains("  A ledger.\n  With tests.\n")
    );
    // Results that were there before are of an earlier attempt.
    let old = scene.memory_file("phase-2-results.md", "## Blockers or Issues\n- x\n");
    let task_again = agent(&go_on(&old)).clone();
    assert_eq!(
        agent(&settle(&old, &task_again, Ended::Succeeded)).attempt,
        2
    );
    let anew = old.memory_file("phase-2-results.md", "## Completed Tasks\n- all\n");
    assert_eq!(
        settle(&anew, &task_again, Ended::Succeeded).then,
        Then::Again
    );
    // The archive is made after the merge: it counts even if Maestro failed at the very end.
    assert_eq!(settle(archived, &task, failed()).then, Then::Again);
}

#[test]
fn a_phase_without_proof_is_tried_once_more_and_then_blocks() {
    let (scene, first) = at_work();
    for (ended, status) in [(Ended::Succeeded, "in_progress"), (failed(), "failed")] {
        let plan = settle(&scene, &first, ended.clone());
        let again = agent(&plan).clone();
        assert_eq!((again.task.as_deref(), again.attempt), (Some("phase-2"), 2));
        assert!(
            written(&plan)
                .unwrap()
                .contains(&format!("phase_name: Engine | phase_status: {status}\n"))
        );
        assert!(
            again
                .prompt
                .contains("handoff_note: note; phase 2 attempt 1 did not complete"),
            "the prompt has the new note: {}",
            again.prompt
        );
        let plan = settle(&scene, &again, ended);
        assert_eq!(stopped(&plan).0, StopKind::Blocked);
        let text = written(&plan).unwrap();
        assert!(
            text.contains("status: blocked\n")
                && text.contains("phase_name: Engine | phase_status: failed\n"),
            "{text}"
        );
    }
    // Results of an attempt whose log stands elsewhere prove nothing.
    let doubtful = scene
        .memory_file("phase-2-results.md", "x")
        .state(2, &["task_start] — Starting task 01"]);
    assert_eq!(
        agent(&settle(&doubtful, &first, Ended::Succeeded)).attempt,
        2
    );
    let waits = doubtful.state(2, &["review_rejected] — round 3"]);
    assert_eq!(
        stopped(&settle(&waits, &first, Ended::Succeeded)).0,
        StopKind::Blocked
    );
}

#[test]
fn a_failed_attempt_adds_to_the_handoff_and_replaces_nothing() {
    let begun = Scene::execution().phase(1, "Storage", "completed");
    let scene = || {
        Scene::execution()
            .phase(1, "Storage", "completed")
            .phase(2, "Engine", "in_progress")
    };
    let noted = |note: &str| {
        let context = "\nhandoff_context: |\n  Run the migration by hand.\n  Then go on.\n";
        scene().note(&format!("{note}{context}"))
    };
    let left = noted("Phase 2 task 3 needs the schema of v2");
    let context = |attempt: u32| {
        format!(
            "handoff_context: |\n  Run the migration by hand.\n  Then go on.\n\n  [2026-02-20T12:00:00Z] Phase 2 (Engine) attempt {attempt} did not complete.\n"
        )
    };
    let note = "handoff_note: Phase 2 task 3 needs the schema of v2";
    // Maestro wrote the note: it stays as it is.
    let own = agent(&go_on(&begun)).clone();
    // The note was there before Maestro came: it gets a clause.
    let old = agent(&go_on(&left)).clone();
    for (task, clause) in [(own, ""), (old, "; phase 2 attempt 1 did not complete: ")] {
        for ended in [Ended::Succeeded, failed()] {
            let plan = settle(&left, &task, ended.clone());
            let text = written(&plan).unwrap();
            assert!(text.contains(&format!("{note}{clause}")), "{text}");
            assert!(text.contains(&context(1)), "{text}");
            let again = agent(&plan).clone();
            assert!(again.prompt.contains("Run the migration by hand."));
            assert!(again.prompt.contains("needs the schema of v2"));
            // A second attempt takes nothing away either.
            let text = written(&settle(&left, &again, ended)).unwrap();
            assert!(text.contains(note) && text.contains(&context(2)), "{text}");
        }
    }
}

#[test]
fn a_phase_that_begins_replaces_only_a_routine_note() {
    let scene = Scene::execution().phase(1, "Storage", "completed");
    for (note, wanted) in [
        (
            "Phase 1 complete; ready for next phase.",
            "Executing phase 2: Engine.",
        ),
        (
            "Rotate the key before phase 2.",
            "Rotate the key before phase 2.",
        ),
    ] {
        let scene = scene.clone().note(note);
        let text = written(&go_on(&scene)).unwrap();
        assert!(
            text.contains(&format!("handoff_note: {wanted}\n")),
            "{text}"
        );
    }
}

#[test]
fn an_executor_does_not_complete_the_project_by_writing_so() {
    let (_, task) = at_work();
    let lying = Scene::new("complete", "complete")
        .phase(1, "Storage", "completed")
        .phase(2, "Engine", "in_progress");
    let proven = lying
        .clone()
        .kiln_file("archive/phase_02/phase_summary.md", "x");
    for scene in [lying, proven] {
        let text = written(&settle(&scene, &task, Ended::Succeeded)).unwrap();
        assert!(
            text.contains("stage: execution\nstatus: in_progress\n"),
            "{text}"
        );
    }
}

#[test]
fn the_last_phase_leads_to_validation_in_the_same_write() {
    let scene = Scene::execution()
        .phase(1, "S", "completed")
        .phase(2, "E", "completed")
        .phase(3, "Reports", "in_progress");
    let task = agent(&go_on(&scene)).clone();
    let done = scene.kiln_file("archive/phase_03/phase_summary.md", "x");
    let plan = settle(&done, &task, Ended::Succeeded);
    assert!(written(&plan).unwrap().contains("stage: validation\n"));
    assert!(
        said(&plan)
            .starts_with("\nResuming validation stage.\n\nBuilt so far:\n  Phase 1: Storage\n"),
        "{}",
        said(&plan)
    );
    assert_eq!(plan.then, Then::Again);
}

/// A scene in validation with Argus at work, and what Argus leaves.
fn validating(cycle: &str, verdict: &str) -> (Scene, AgentTask) {
    let scene = Scene::new("validation", "in_progress")
        .set("correction_cycle", cycle)
        .memory_file("phase-1-results.md", "RESULTS");
    let task = agent(&go_on(&scene)).clone();
    let report = format!(
        "# Validation Report\n## Correction Tasks\n### Correction Task 1: A\nFailure: x\n## Verdict\n\n**{verdict}**\n"
    );
    (scene.kiln_file("validation/report.md", &report), task)
}

#[test]
fn argus_is_told_the_plan_the_results_and_where_the_report_goes() {
    let (_, task) = validating("1", "PASS");
    assert_eq!((task.role, task.attempt), ("kiln-validator", 2));
    for part in [
        "PROJECT_PATH: /w/ledger\n",
        "MEMORY_DIR: ",
        "### Phase 3: Reports",
        "RESULTS",
        "/w/ledger/.kiln/validation/report.md",
    ] {
        assert!(task.prompt.contains(part), "{part}");
    }
}

#[test]
fn a_pass_completes_the_project() {
    let (scene, task) = validating("2", "PASS");
    let plan = settle(&scene, &task, Ended::Succeeded);
    assert_eq!(stopped(&plan).0, StopKind::Done);
    let text = written(&plan).unwrap();
    for line in [
        "stage: complete\n",
        "status: complete\n",
        "correction_cycle: 0\n",
        "phase_number: null\n",
        "completed_at: 2026-02-20T12:00:00Z\n",
        "handoff_note: Protocol run completed successfully.\n",
        "  All 3 phases completed and validated.\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn a_failure_is_corrected_and_validated_again() {
    for verdict in ["FAIL", "PARTIAL"] {
        let (scene, task) = validating("0", verdict);
        let plan = settle(&scene, &task, Ended::Succeeded);
        let text = written(&plan).unwrap();
        for part in [
            "stage: execution\n",
            "correction_cycle: 1\n",
            "handoff_note: Correction cycle 1/3: fixing validation failures.\n",
            &format!(
                "## Correction Log\n- Cycle 1: {verdict}, 1 correction tasks\n- [2026-02-20T12:00:00Z] [Kiln] [correction_start] — "
            ),
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let correction = agent(&plan);
        assert_eq!(
            (correction.role, correction.task.as_deref()),
            ("kiln-phase-executor", Some("correction-1"))
        );
        assert!(
            correction
                .prompt
                .contains("### Correction Task 1: A\nFailure: x")
        );
        let scene = Scene::execution()
            .set("correction_cycle", "1")
            .phase(1, "S", "completed")
            .phase(2, "E", "completed")
            .phase(3, "R", "completed");
        let plan = settle(&scene, correction, Ended::Succeeded);
        assert_eq!(
            said(&plan),
            "\nResuming validation — correction cycle 1/3 in progress.\n"
        );
        assert!(written(&plan).unwrap().contains("[correction_complete]"));
        assert!(written(&plan).unwrap().contains("stage: validation\n"));
        let plan = settle(&scene, correction, failed());
        assert_eq!(agent(&plan).attempt, 2);
        let plan = settle(&scene, agent(&plan), failed());
        assert_eq!(stopped(&plan).0, StopKind::Blocked);
        assert!(written(&plan).unwrap().contains("status: blocked\n"));
    }
}

#[test]
fn the_quote_that_is_noted_is_the_one_that_was_told() {
    let (scene, task) = validating("0", "FAIL");
    let done = scene
        .phase(1, "S", "completed")
        .phase(2, "E", "completed")
        .phase(3, "R", "completed")
        .names();
    let plan = settle(&done, &task, Ended::Succeeded);
    assert!(agent(&plan).prompt.contains("~~~\ntwo\n~~~"));
    let noted = plan.steps.iter().find_map(|step| match &step.action {
        Action::Append { record, .. } => Some(record.clone()),
        Action::Create { .. }
        | Action::Edit { .. }
        | Action::MoveFolder { .. }
        | Action::MoveFile { .. }
        | Action::Land(_)
        | Action::EndWorker { .. }
        | Action::AskHost { .. }
        | Action::Print(_) => None,
    });
    assert!(
        noted
            .as_ref()
            .is_some_and(|noted| noted.contains("\"quote\":1")),
        "{noted:?}"
    );
}

#[test]
fn a_correction_that_was_cut_short_is_not_counted() {
    let (scene, task) = validating("1", "FAIL");
    let cut = scene
        .clone()
        .tail("\n## Correction Log\n- Cycle 1: FAIL, 1 correction tasks\n- [t] [Kiln] [correction_start] — x\n");
    let text = written(&settle(&cut, &task, Ended::Succeeded)).unwrap();
    assert!(text.contains("correction_cycle: 1\n"), "{text}");
    assert_eq!(text.matches("- Cycle 1:").count(), 1, "{text}");
    assert_eq!(text.matches("[correction_start]").count(), 1, "{text}");
    let whole = cut.tail("- [t] [Kiln] [correction_complete] — x\n");
    assert!(
        written(&settle(&whole, &task, Ended::Succeeded))
            .unwrap()
            .contains("correction_cycle: 2\n")
    );
}

#[test]
fn after_three_corrections_a_person_is_asked() {
    let (scene, task) = validating("3", "FAIL");
    // Not even one that was cut short is begun again.
    for scene in [
        scene.clone(),
        scene.tail("\n## Correction Log\n- [t] [Kiln] [correction_start] — x\n"),
    ] {
        let plan = settle(&scene, &task, Ended::Succeeded);
        let text = written(&plan).unwrap();
        assert!(
            text.contains("stage: validation\nstatus: blocked\n"),
            "{text}"
        );
        assert!(text.contains("handoff_note: Validation failed after 3 correction cycles; operator intervention needed.\n"));
        assert!(said(&plan).starts_with("\nValidation failed after 3 correction cycles. Here is the validation report:\n\n# Validation Report\n"));
        assert!(matches!(plan.then, Then::Ask(_)));
    }
}

#[test]
fn an_argus_without_a_verdict_stops_the_resume_and_writes_nothing() {
    let (scene, task) = validating("0", "maybe");
    for ended in [Ended::Succeeded, failed()] {
        let plan = settle(&scene, &task, ended);
        assert_eq!(stopped(&plan).0, StopKind::Blocked);
        assert_eq!(plan.steps, []);
    }
}

#[test]
fn what_was_there_before_argus_is_not_what_argus_left() {
    for verdict in ["PASS", "FAIL"] {
        let noted = format!("\n## Validation\nverdict: {verdict}\n");
        let (stale, _) = validating("0", verdict);
        let stale = stale.tail(&noted);
        let task = agent(&go_on(&stale)).clone();
        let plan = settle(&stale, &task, Ended::Succeeded);
        let (kind, reason) = stopped(&plan);
        assert_eq!(kind, StopKind::Blocked);
        assert!(reason.starts_with("Argus left no report"), "{reason}");
        assert_eq!(plan.steps, []);
    }
    // A verdict in the memory counts if it is new, and then nothing of the old report does.
    let (stale, _) = validating("0", "PASS");
    let task = agent(&go_on(&stale)).clone();
    let noted = stale.tail("\n## Validation\nverdict: FAIL\n");
    let plan = settle(&noted, &task, Ended::Succeeded);
    assert!(
        written(&plan)
            .unwrap()
            .contains("- Cycle 1: FAIL, 0 correction tasks\n")
    );
    assert!(!agent(&plan).prompt.contains("Correction Task 1"));
    // A report that Argus took away, or one without a verdict, is none.
    let (stale, _) = validating("0", "PASS");
    let task = agent(&go_on(&stale)).clone();
    let gone = Scene::new("validation", "in_progress");
    assert_eq!(settle(&gone, &task, Ended::Succeeded).steps, []);
    let silent = stale.kiln_file("validation/report.md", "# Validation Report\n");
    let plan = settle(&silent, &task, Ended::Succeeded);
    assert!(stopped(&plan).1.ends_with("has no verdict"));
}

#[test]
fn the_blocked_question_is_put_after_the_report_and_its_answers_do_what_they_say() {
    let scene = Scene::new("validation", "blocked").set("correction_cycle", "2");
    let plan = open(&scene);
    let text = said(&plan);
    assert!(text.contains("Validation failed after 2 correction cycles. Here is the validation report:\n\nThere is no validation report at .kiln/validation/report.md.\n"));
    assert!(text.ends_with("\nHow would you like to proceed? Options: retry validation, fix manually, or mark complete.\n"));
    let Then::Ask(question) = &plan.then else {
        panic!("no question: {:?}", plan.then);
    };
    // The write below takes the block away, so the question is not what the next resume begins with.
    assert!(question.unanswered.contains("validate once more"));
    assert!(changed(&scene, &plan).contains(&"status: in_progress".to_owned()));

    let kind = super::words::VALIDATION;
    let retried = answer(&scene, kind, "Retry validation");
    assert_eq!(retried.then, Then::Again);
    let text = written(&retried).unwrap();
    assert!(
        text.contains("stage: validation\nstatus: in_progress\ncorrection_cycle: 2\n"),
        "{text}"
    );
    let manual = answer(&scene, kind, "fix manually");
    assert_eq!(stopped(&manual).0, StopKind::Waiting);
    assert!(written(&manual).unwrap().contains("status: paused\n"));
    let complete = answer(&scene, kind, "mark complete");
    assert_eq!(stopped(&complete).0, StopKind::Done);
    assert!(
        written(&complete)
            .unwrap()
            .contains("stage: complete\nstatus: complete\n")
    );
}

#[test]
fn a_complete_project_is_not_written_and_its_menu_does_what_it_says() {
    let scene = Scene::new("complete", "complete")
        .memory_file("decisions.md", "# Key Decisions\n## Cents\n");
    let plan = open(&scene);
    assert_eq!(plan.steps, []);
    assert!(plan.before_asking.ends_with(
        "\nThis project is marked complete.\n\nWhat would you like to do next?\n  1. Start a new project in this directory (/kiln:start)\n  \
         2. Review the decisions log\n  3. Review the pitfalls log\n  4. Archive this project's memory\n"
    ));
    assert!(matches!(plan.then, Then::Ask(_)));
    let kind = super::words::COMPLETE;
    let started = answer(&scene, kind, "1");
    assert!(stopped(&started).1.contains("/kiln:start") && started.steps.is_empty());
    assert_eq!(
        said(&answer(&scene, kind, "2")),
        "# Key Decisions\n## Cents\n"
    );
    assert_eq!(said(&answer(&scene, kind, "3")), "pitfalls.md is absent.\n");
    let archived = answer(&scene, kind, "4");
    let wanted = Action::MoveFolder {
        from: DIR.into(),
        to: "/h/.claude/projects/-w-ledger/memory-archive/2026-02-20T12-00-00Z".into(),
    };
    assert_eq!(
        archived
            .steps
            .iter()
            .map(|step| &step.action)
            .collect::<Vec<_>>(),
        [&wanted]
    );
}

#[test]
fn a_phase_that_waits_for_the_operator_and_a_plan_without_all_phases_stop_after_step_7() {
    let waits = Scene::execution()
        .phase(1, "S", "in_progress")
        .state(1, &["review_rejected] — round 3"]);
    let plan = open(&waits);
    assert_eq!(stopped(&plan).0, StopKind::Waiting);
    assert!(
        said(&plan).ends_with(
            "\nPhase 1 (Storage) waits for the operator: 3 review rounds were rejected.\n"
        )
    );
    // Every hint names something that works.
    let Then::Stop(stop) = &plan.then else {
        panic!("no stop: {:?}", plan.then)
    };
    let lines: Vec<&str> = stop
        .hints
        .iter()
        .map(|hint| hint.split("`- ").nth(1).unwrap().split('`').next().unwrap())
        .collect();
    for (line, step) in lines.iter().zip(["complete", "review"]) {
        for status in ["in_progress", "needs-operator-review"] {
            let events = "- [t] [Maestro] [task_success] — Implementation complete\n- [t] [Maestro] [review_rejected] — round 3\n";
            let text = format!("status: {status}\n## Events\n{events}- {line}\n");
            let acted = waits.clone().kiln_file("phase_1_state.md", &text);
            let is_marked = step == "review" && status == "needs-operator-review";
            assert_eq!(open(&acted).then == Then::Again, !is_marked, "{text}");
            assert!(fact(&acted.facts(), "restart").starts_with(step), "{text}");
        }
    }
    let none = Scene::execution().memory_file("master-plan.md", "");
    let plan = open(&none);
    assert_eq!(stopped(&plan).0, StopKind::Blocked);
    let torn = Scene::execution()
        .phase(1, "S", "completed")
        .phase(2, "E", "in_progress")
        .memory_file("master-plan.md", "### Phase 1: Storage\n");
    let plan = open(&torn);
    assert_eq!(stopped(&plan).0, StopKind::Blocked);
    assert!(said(&plan).contains("master-plan.md lacks 2 of the 3 phases"));
    for plan in [open(&waits), open(&none), open(&torn)] {
        assert!(written(&plan).unwrap().contains(STEP_7[1]));
        assert!(!written(&plan).unwrap().contains("stage: validation"));
    }
}
