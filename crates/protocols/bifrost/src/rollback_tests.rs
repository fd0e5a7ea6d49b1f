//! Rollbacks in sessions of every shape: the chosen checkpoint is the latest one afterwards.

use rekindle_model::{Action, Intent};

use super::super::scene_tests::{Scene, back_to, named, session};

/// Carries out a rollback and returns the scene after it.
fn rolled_back(scene: &Scene, checkpoint: &str) -> Scene {
    let ask = back_to(checkpoint);
    let plan = scene
        .case(&ask)
        .plan(&scene.world(), &Intent::Open)
        .unwrap();
    assert!(!plan.steps.is_empty(), "{}", plan.before_asking);
    let mut after = scene.clone();
    for step in plan.steps {
        let (Action::Edit {
            path,
            after: contents,
            ..
        }
        | Action::Create { path, contents }) = step.action
        else {
            continue;
        };
        let text = String::from_utf8(contents).unwrap();
        if path == "specs/f/session.md" {
            after.session = text;
        } else {
            after = after.file(path.as_str(), &text);
        }
    }
    after
}

const LINE: &str = "**CP-002** (2026-03-13 10:00): Plan validated, ready for tasks";
const HISTORY: &str = "1. **CP-003** (2026-03-14 08:00): Work\n2. **CP-002** (2026-03-13 10:00): Plan validated, ready for tasks\n3. **CP-001** (2026-03-12 09:00): Session initialized";

#[test]
fn a_rollback_keeps_every_entry_under_the_latest() {
    let head = "## Active Focus\n- **Status**: Idle\n### Session History\n1. **2026-03-13** - x\n";
    let list = "### Recovery Checkpoints\n- **CP-001** (2026-03-12 09:00): Session initialized\n- **CP-002** (2026-03-13 10:00): Plan validated, ready for tasks\n- **CP-003** (2026-03-14 08:00): Task T001 complete\n";
    let shapes = [
        // Nothing, a placeholder, a line that was cut off, its fields alone, the template.
        session("", HISTORY),
        session("None", HISTORY),
        session("**CP-0", HISTORY),
        session(
            "**CP-003** (2026-0\n  - **Phase**: implement\n  - **Next**: x",
            HISTORY,
        ),
        session(
            "  - **Phase**: implement\n  - **Next**: `/implement f T003`",
            HISTORY,
        ),
        session(
            "**CP-001** ({DATE} {TIME}): Session initialized\n  - **Phase**: {PHASE}",
            HISTORY,
        ),
        // The one that is wanted is below one that was cut off, or below a second heading.
        session(
            &format!("**CP-0\n\n{LINE}"),
            "1. **CP-001** (2026-03-12 09:00): Session initialized",
        ),
        session(
            "**CP-004** (2026-03-14 08:00): Task T001 complete\n\n#### Latest Checkpoint\n\n**CP-003** (2026-03-14 07:00): Task T001 complete\n  - **Phase**: implement",
            HISTORY,
        ),
        // No section for the latest, no section for the history, a plain list.
        format!("{head}#### Checkpoint History\n{HISTORY}\n"),
        format!("{head}{list}"),
        format!("{head}{list}\nA remark.\n\n## Next\n"),
    ];
    for text in shapes {
        for eol in ["\n", "\r\n"] {
            let scene = Scene::with(&text.replace('\n', eol));
            let known: Vec<String> = ids(&scene, "CP-002");
            let mut after = rolled_back(&scene, "CP-002");
            for _ in 0..2 {
                assert_eq!(after.fact("checkpoint"), "CP-002", "{}", after.session);
                assert_eq!(after.fact("phase"), "plan", "{}", after.session);
                assert_eq!(after.fact("next_command"), "/tasks f", "{}", after.session);
                let codes = after.codes(&named("f"));
                assert!(
                    !codes.contains("CORRUPT") && !codes.contains("MARKER"),
                    "{codes}"
                );
                let found = ids(&after, "CP-002");
                assert!(
                    known.iter().all(|id| found.contains(id)),
                    "{known:?} {}",
                    after.session
                );
                let all = after.session.matches('\n').count();
                assert_eq!(
                    after.session.matches(eol).count(),
                    all,
                    "{:?}",
                    after.session
                );
                assert_eq!(after.session.matches("**Restored**").count(), 1);
                // A new checkpoint after it is the latest one again.
                let made = made(&after);
                assert_ne!(made.fact("checkpoint"), "CP-002", "{}", made.session);
                after = resumed(&after);
            }
        }
    }
}

fn ids(scene: &Scene, checkpoint: &str) -> Vec<String> {
    let all = scene
        .case(&back_to(checkpoint))
        .checkpoints()
        .unwrap()
        .list()
        .into_iter();
    let named = all.filter(|found| found.name != "CP-???" && found.is_valid == Some(true));
    named.map(|found| found.name).collect()
}

fn edited(scene: &Scene, intent: &Intent) -> Scene {
    let plan = scene
        .case(&named("f"))
        .plan(&scene.world(), intent)
        .unwrap();
    let mut after = scene.clone();
    for step in plan.steps {
        if let Action::Edit {
            path, after: text, ..
        } = step.action
            && path == "specs/f/session.md"
        {
            after.session = String::from_utf8(text).unwrap();
        }
    }
    assert_ne!(after.session, scene.session);
    after
}

fn resumed(scene: &Scene) -> Scene {
    edited(scene, &Intent::Open)
}

fn made(scene: &Scene) -> Scene {
    let note = "New".to_owned();
    edited(scene, &Intent::Checkpoint { note })
}

#[test]
fn a_rollback_sets_the_active_task() {
    let task = "- **Status**: Idle\n- **Active Task**:\n  - **Task ID**: T003 complete\n  - **Description**: C\n  - **Files**: c.rs\n  - **Progress**: 3/3 tasks complete (100%)\n- **Mood**: fine\n";
    let history = "1. **CP-003** (2026-03-14 08:00): Work\n2. **CP-002** (2026-03-13 10:00): Task T001 complete - A\n3. **CP-001** (2026-03-12 09:00): Spec phase complete\n4. **CP-000** (2026-03-12 08:00): Tasks breakdown complete";
    let scene = Scene::with(&session(
        &super::super::scene_tests::block("implement", "Complete", "`/implement f T002`"),
        history,
    ));
    let scene = scene.edit("- **Status**: Idle\n", task);
    for (id, wanted) in [
        (
            "CP-001",
            "  - **Task ID**: None\n  - **Description**: No active task\n  - **Progress**: 0/0 tasks complete (0%)\n",
        ),
        (
            "CP-000",
            "  - **Task ID**: Ready to start T001\n  - **Description**: Tasks breakdown complete\n  - **Progress**: 1/3 tasks complete (33%)\n",
        ),
        (
            "CP-002",
            "  - **Task ID**: T001 complete\n  - **Description**: Task T001 complete - A\n  - **Progress**: 1/3 tasks complete (33%)\n",
        ),
    ] {
        let session = rolled_back(&scene, id).session;
        let block =
            format!("- **Status**: Resuming\n- **Active Task**:\n{wanted}- **Mood**: fine\n");
        assert!(session.contains(&block), "{id}: {session}");
    }
    // A plain resume does not change the task.
    assert!(resumed(&scene).session.contains("  - **Files**: c.rs\n"));
}

#[test]
fn corrects_the_phase_of_the_focus() {
    let other = "- **Phase**: plan\n- **Status**";
    let scene = Scene::new().edit("- **Phase**: implement\n- **Status**", other);
    let session = resumed(&scene).session;
    assert!(
        session.contains("- **Phase**: implement\n- **Status**: Resuming\n"),
        "{session}"
    );
    let synonym = Scene::new().edit(
        "- **Phase**: implement\n- **Status**",
        "- **Phase**: implementation\n- **Status**",
    );
    assert!(
        resumed(&synonym)
            .session
            .contains("- **Phase**: implementation\n")
    );
}
