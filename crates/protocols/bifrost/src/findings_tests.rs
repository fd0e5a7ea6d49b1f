//! Tests of the messages of findings.

use rekindle_model::Code;

use super::super::scene_tests::{Scene, TASKS, named};
use rekindle_protocol::{Ask, ResumeOption};

/// Returns the message and the hint of a finding that must be there.
fn said(scene: &Scene, ask: &Ask, code: Code) -> (String, String) {
    let found = scene.assessment(ask).findings;
    let finding = found.into_iter().find(|finding| finding.code == code);
    let finding = finding.unwrap();
    (finding.message, finding.hint.unwrap_or_default())
}

#[test]
fn names_an_interrupted_task_only_if_tasks_md_is_newer() {
    let in_progress = TASKS.replacen("T002: B", "T002: B\n**Status**: In Progress", 1);
    let scene = || Scene::new().file("specs/f/tasks.md", &in_progress);
    let later = "2026-03-14T08:01:00Z";
    let (message, _) = said(
        &scene().written_at("specs/f/plan.md", later),
        &named("f"),
        Code::ModifiedAfter,
    );
    assert_eq!(message, "written after CP-003: `specs/f/plan.md`");
    let (message, _) = said(
        &scene().written_at("specs/f/tasks.md", later),
        &named("f"),
        Code::ModifiedAfter,
    );
    assert_eq!(
        message,
        "written after CP-003: `specs/f/tasks.md`; it was interrupted in task T002"
    );
}

#[test]
fn a_failed_validation_names_its_file() {
    let ask = Ask {
        options: vec![(ResumeOption::VALIDATE, String::new())],
        ..named("f")
    };
    let scene = Scene::new()
        .file("specs/f/spec.md", "a page\n")
        .file("specs/f/plan.md", "# Plan\n");
    let (message, _) = said(&scene, &ask, Code::ValidationFailed);
    for file in [
        "`specs/f/spec.md`: it lacks",
        "; `specs/f/plan.md`: it lacks",
    ] {
        assert!(message.contains(file), "{message}");
    }
}

#[test]
fn reports_a_checkpoint_after_an_open_fence() {
    let scene = Scene::new().edit("### Context Carryover", "```\n### Context Carryover");
    let (message, hint) = said(&scene, &named("f"), Code::NoCheckpoint);
    let lines = scene.session.lines().collect::<Vec<_>>();
    let at = lines.iter().position(|line| line.starts_with("**CP-003**"));
    assert!(
        message.starts_with(&format!("line {} of the session", at.unwrap() + 1)),
        "{message}"
    );
    assert!(hint.contains("close the block above it"), "{hint}");
}
