//! Validation, corrections and the questions after them.

use super::super::tests::*;
use super::*;
use crate::scene_tests::{Scene, said, written};
use rekindle_model::{Action, Then};

/// A scene in validation with Argus at work, and its report.
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
fn the_prompt_of_argus_has_plan_results_and_report_path() {
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
fn the_logged_quote_is_the_one_in_the_prompt() {
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
fn an_interrupted_correction_is_not_counted() {
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
    // Not even an interrupted correction is started again.
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
fn argus_without_a_verdict_stops_the_resume_and_writes_nothing() {
    let (scene, task) = validating("0", "maybe");
    for ended in [Ended::Succeeded, failed()] {
        let plan = settle(&scene, &task, ended);
        assert_eq!(stopped(&plan).0, StopKind::Blocked);
        assert_eq!(plan.steps, []);
    }
}

#[test]
fn a_report_from_before_argus_does_not_count() {
    for verdict in ["PASS", "FAIL"] {
        let noted = format!("\n## Validation\nverdict: {verdict}\n");
        let (stale, _) = validating("0", verdict);
        let stale = stale.tail(&noted);
        let task = agent(&go_on(&stale)).clone();
        let plan = settle(&stale, &task, Ended::Succeeded);
        let (kind, reason) = stopped(&plan);
        assert_eq!(kind, StopKind::Blocked);
        assert!(reason.starts_with("Argus wrote no report"), "{reason}");
        assert_eq!(plan.steps, []);
    }
    // A new verdict in the memory counts, and then the old report does not.
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
    // A deleted report, or one without a verdict, does not count.
    let (stale, _) = validating("0", "PASS");
    let task = agent(&go_on(&stale)).clone();
    let gone = Scene::new("validation", "in_progress");
    assert_eq!(settle(&gone, &task, Ended::Succeeded).steps, []);
    let silent = stale.kiln_file("validation/report.md", "# Validation Report\n");
    let plan = settle(&silent, &task, Ended::Succeeded);
    assert!(stopped(&plan).1.ends_with("has no verdict"));
}

#[test]
fn the_question_after_failed_validation_follows_the_report_and_its_answers_apply() {
    let scene = Scene::new("validation", "blocked").set("correction_cycle", "2");
    let plan = open(&scene);
    let text = said(&plan);
    assert!(text.contains("Validation failed after 2 correction cycles. Here is the validation report:\n\nThere is no validation report at .kiln/validation/report.md.\n"));
    assert!(text.ends_with("\nHow would you like to proceed? Options: retry validation, fix manually, or mark complete.\n"));
    let Then::Ask(question) = &plan.then else {
        panic!("no question: {:?}", plan.then);
    };
    // The edit below removes the block, so the next resume does not start with the question.
    assert!(question.unanswered.contains("validate again"));
    assert!(changed(&scene, &plan).contains(&"status: in_progress".to_owned()));

    let kind = super::messages::VALIDATION;
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
