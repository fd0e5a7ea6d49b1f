//! Tests of new checkpoints and of the archive.

use rekindle_model::Intent;

use super::super::scene_tests::{Scene, named};
use super::tests::{after, deeds, plan};

#[test]
fn a_new_checkpoint_records_the_current_work() {
    let make = |scene: &Scene, note: &str| {
        let intent = Intent::Checkpoint {
            note: note.to_owned(),
        };
        after(&plan(scene, &named("f"), &intent), "specs/f/session.md")
    };
    let session = make(&Scene::new(), "Half\nway");
    assert!(session.contains("**CP-004** (2026-03-14 09:00): Half way\n  - **Phase**: implement\n  - **Status**: In Progress\n  - **Context**: ~0% utilization\n  - **Artifacts**: plan.md, spec.md, tasks.md\n  - **Dependencies**: 1/3 tasks complete\n  - **Next**: `/implement f T002`\n"), "{session}");
    assert!(session.contains("**Last Updated**: 2026-03-14"));
    // The marker is ahead while a command works on its phase.
    let ahead = Scene::at("plan", "Complete").marker("specs/f:tasks|spec,plan\n");
    assert!(make(&ahead, "x").contains("  - **Phase**: tasks\n  - **Status**: In Progress\n"));
    // Marker and focus both say that the work went back.
    let back = Scene::new().marker("specs/f:plan|spec,plan\n").edit(
        "- **Phase**: implement\n- **Status**",
        "- **Phase**: plan\n- **Status**",
    );
    let session = make(&back, "x");
    assert!(
        session.contains("  - **Phase**: plan\n  - **Status**: Complete\n"),
        "{session}"
    );
    assert!(session.contains("  - **Next**: `/tasks f`\n"), "{session}");
    // A number that was archived is not given out again.
    let archived = Scene::new().file("specs/f/session-archive.md", "- **CP-041** (x): y\n");
    assert!(make(&archived, "x").contains("**CP-042** ("));
}

#[test]
fn a_new_checkpoint_names_files_in_readable_form() {
    let scene = Scene::new()
        .edit(
            "**Artifacts**: spec.md",
            "**Artifacts**: contracts/, ./Makefile, docs/Notes",
        )
        .file("specs/f/contracts/a.yaml", "")
        .file("Makefile", "")
        .file("docs/Notes", "");
    let intent = Intent::Checkpoint {
        note: String::new(),
    };
    let session = after(&plan(&scene, &named("f"), &intent), "specs/f/session.md");
    assert!(
        session.contains(
            "  - **Artifacts**: ./Makefile, docs/Notes, contracts/, plan.md, spec.md, tasks.md\n"
        ),
        "{session}"
    );
    let mut again = scene;
    again.session = session;
    assert_eq!(again.fact("artifacts_listed"), "6 6");
}

/// Returns a session with seven checkpoints.
fn seven() -> Scene {
    let history: Vec<String> = (1..=7)
        .rev()
        .enumerate()
        .map(|(place, n)| {
            format!(
                "{}. **CP-00{n}** (2026-03-0{n} 08:00): Phase {n} complete",
                place + 1
            )
        })
        .collect();
    let history = history.join("\n");
    Scene::with(&super::super::scene_tests::session(
        "**CP-007** (2026-03-07 08:00): Phase 7 complete",
        &history,
    ))
}

#[test]
fn a_sixth_checkpoint_is_archived() {
    let intent = Intent::Checkpoint {
        note: "New".to_owned(),
    };
    let made = plan(&seven(), &named("f"), &intent);
    assert_eq!(
        deeds(&made),
        [
            "create specs/f/session-archive.md",
            "edit specs/f/session.md"
        ]
    );
    assert_eq!(
        after(&made, "specs/f/session-archive.md"),
        "# Session Archive\n\n## 2026-03-14\n\n- **CP-003** (2026-03-03 08:00): Phase 3 complete\n- **CP-002** (2026-03-02 08:00): Phase 2 complete\n- **CP-001** (2026-03-01 08:00): Phase 1 complete\n"
    );
    let mut next = seven();
    next.session = after(&made, "specs/f/session.md");
    assert_eq!(
        next.fact("history_ids"),
        "CP-008 CP-007 CP-006 CP-005 CP-004"
    );
    // A plain list stays one.
    let list: Vec<String> = (1..=6)
        .map(|n| format!("- **CP-00{n}** (2026-03-0{n} 08:00): Phase {n} complete\n"))
        .collect();
    let list = list.concat();
    let plain = Scene::with(&format!("### Recovery Checkpoints\n{list}"));
    let made = plan(&plain, &named("f"), &intent);
    let session = after(&made, "specs/f/session.md");
    assert!(session.contains("\n- **CP-003** ("), "{session}");
    assert!(session.contains("- **CP-006** (2026-03-06 08:00): Phase 6 complete\n- **CP-007** (2026-03-14 09:00): New\n  - **Phase**: implement\n"), "{session}");
    assert!(!session.contains("CP-002"), "{session}");
    let archive = after(&made, "specs/f/session-archive.md");
    assert!(archive.contains("\n- **CP-002** ("), "{archive}");
}

#[test]
fn a_new_checkpoint_extends_a_plain_list() {
    let intent = Intent::Checkpoint {
        note: "note".to_owned(),
    };
    let list = "- **CP-001** (2026-03-12 08:00): Spec phase complete\n- **CP-002** (2026-03-13 08:00): Plan validated, ready for tasks\n";
    let before = Scene::with(&format!("### Recovery Checkpoints\n{list}")).marker("");
    let made = plan(&before, &named("f"), &intent);
    let mut next = before.clone();
    next.session = after(&made, "specs/f/session.md");
    assert_eq!(next.fact("checkpoint"), "CP-003");
    for key in ["phase", "status", "next_command"] {
        assert_eq!(next.fact(key), before.fact(key), "{key}");
    }
}

#[test]
fn archiving_keeps_the_newest_in_any_order() {
    let line = |n: usize| format!("**CP-00{n}** (2026-03-0{n} 08:00): Phase {n} complete");
    let latest = line(8);
    for order in [
        [8, 7, 6, 5, 4, 3, 2, 1],
        [1, 2, 3, 4, 5, 6, 7, 8],
        [3, 8, 1, 7, 2, 6, 5, 4],
    ] {
        let list: String = order.map(|n| format!("- {}\n", line(n))).concat();
        for text in [
            format!("### Recovery Checkpoints\n{list}"),
            super::super::scene_tests::session(&latest, &list),
        ] {
            let scene = Scene::with(&text);
            let plan = scene
                .case(&named("f"))
                .checkpoints()
                .unwrap()
                .archive()
                .unwrap();
            let archive = after(&plan, "specs/f/session-archive.md");
            let is_moved = |n: usize| archive.contains(&line(n));
            let moved: Vec<usize> = (1..=8).filter(|n| is_moved(*n)).collect();
            assert_eq!(moved, [1, 2, 3], "{text}");
            let mut shorter = scene.clone();
            shorter.session = after(&plan, "specs/f/session.md");
            assert_eq!(shorter.fact("checkpoint"), "CP-008", "{text}");
        }
    }
}

#[test]
fn archiving_loses_nothing() {
    let scene = seven().edit(
        "1. **2026-03-13** - Implement",
        "1. **2026-03-14** - Resume: Resumed f.\n2. **2026-03-13** - Implement",
    );
    let plan = scene
        .case(&named("f"))
        .checkpoints()
        .unwrap()
        .archive()
        .unwrap();
    assert_eq!(
        deeds(&plan),
        [
            "create specs/f/session-archive.md",
            "edit specs/f/session.md"
        ]
    );
    let archive = after(&plan, "specs/f/session-archive.md");
    assert_eq!(
        archive,
        "# Session Archive\n\n## 2026-03-14\n\n- **CP-002** (2026-03-02 08:00): Phase 2 complete\n- **CP-001** (2026-03-01 08:00): Phase 1 complete\n- **2026-03-14** - Resume: Resumed f.\n"
    );
    let session = after(&plan, "specs/f/session.md");
    assert!(
        session.contains("5. **CP-003** (2026-03-03 08:00): Phase 3 complete\n\n"),
        "{session}"
    );
    assert!(
        session.contains("1. **2026-03-13** - Implement Phase 1"),
        "{session}"
    );
    let short = Scene::new()
        .case(&named("f"))
        .checkpoints()
        .unwrap()
        .archive()
        .unwrap();
    assert!(short.steps.is_empty());
}
