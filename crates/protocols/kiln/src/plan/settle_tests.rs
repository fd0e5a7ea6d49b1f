//! The record of an executor that has returned, and what follows.

use super::super::tests::*;
use super::*;
use crate::scene_tests::{Scene, said, written};

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
fn phases_completed_by_the_archive_are_written_with_the_next_phase() {
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
fn a_proven_phase_completes_and_the_next_one_starts() {
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
    // Results from before belong to an earlier attempt.
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
    // The archive is made after the merge, so it counts even if Maestro failed afterwards.
    assert_eq!(settle(archived, &task, failed()).then, Then::Again);
}

#[test]
fn a_phase_without_proof_gets_one_more_attempt_and_then_blocks() {
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
    // Results of an attempt whose log is at another step prove nothing.
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
    // Maestro wrote the note: it is kept.
    let own = agent(&go_on(&begun)).clone();
    // The note was there before Maestro started: it gets a clause.
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
            // A second attempt removes nothing either.
            let text = written(&settle(&left, &again, ended)).unwrap();
            assert!(text.contains(note) && text.contains(&context(2)), "{text}");
        }
    }
}

#[test]
fn a_new_phase_replaces_only_a_routine_note() {
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
fn an_executor_cannot_complete_the_project() {
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
fn the_last_phase_enters_validation_in_the_same_edit() {
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
