//! Tests of migrations.

use rekindle_model::Action;

use super::super::scene_tests::Scene;
use super::*;

fn told(migration: &Migration) -> String {
    match migration {
        Migration::Nothing { reason, .. } => format!("nothing: {reason}"),
        Migration::Mismatch { reason } => format!("mismatch: {reason}"),
        Migration::Plan { plan, notes } => {
            let steps = plan.steps.iter().map(|step| match &step.action {
                Action::Create { path, .. } => format!("create {path}"),
                Action::MoveFile { from, to, .. } => format!("move {from} to {to}"),
                other @ (Action::Append { .. }
                | Action::Edit { .. }
                | Action::MoveFolder { .. }
                | Action::Land(_)
                | Action::EndWorker { .. }
                | Action::AskHost { .. }
                | Action::Print(_)) => format!("{other:?}"),
            });
            let all: Vec<String> = steps.chain(notes.iter().cloned()).collect();
            all.join("; ")
        }
    }
}

#[test]
fn migrates_and_saves_a_legacy_session() {
    let scene = Scene::new().legacy();
    let moved = "create specs/f/session.md; move .bifrost/memory/session.md to .bifrost/memory/session.md.backup-20260314-090000";
    let note = "there is no `.bifrost/memory/project-session.md`, so no shared session is started";
    for name in [Some("f"), Some("specs/f/"), None] {
        assert_eq!(
            told(&migration(&scene.world(), name)),
            format!("{moved}; {note}")
        );
    }
    let with_template = scene.clone().file(layout::PROJECT_SESSION, "# Project\n");
    assert_eq!(
        told(&migration(&with_template.world(), None)),
        format!("{moved}; create .bifrost/memory/session.md")
    );
    let blank = scene.edit("**Feature**: f", "**Feature**:");
    let found = told(&migration(&blank.world(), Some("f")));
    assert!(found.contains("it is taken as this one's"), "{found}");
}

#[test]
fn a_migration_overwrites_nothing() {
    let legacy = || Scene::new().legacy();
    let table = [
        (
            legacy().file("specs/f/session.md", "mine"),
            Some("f"),
            "nothing: `specs/f/session.md` already exists and is not overwritten",
        ),
        (
            Scene::new(),
            Some("f"),
            "nothing: there is no legacy session at `.bifrost/memory/session.md`",
        ),
        (
            legacy().marker(""),
            None,
            "nothing: no feature was named, and there is no `.bifrost/active-workflow`",
        ),
        (
            legacy().marker("../x:plan|\n"),
            None,
            "nothing: `.bifrost/active-workflow` names no feature",
        ),
        (
            legacy(),
            Some("../f"),
            "nothing: `../f` is not a valid feature name: it leaves `specs/`",
        ),
        (
            legacy(),
            Some("g"),
            "mismatch: the legacy session is about `f`, not `g`",
        ),
    ];
    for (scene, name, wanted) in table {
        assert_eq!(told(&migration(&scene.world(), name)), wanted);
    }
}
