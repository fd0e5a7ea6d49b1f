//! What a yes writes, and that nothing is written where something stands against it.

use rekindle_model::{Action, Intent, Plan, StopKind, Then};

use super::super::scene_tests::{NOW, PLAN, SPEC, Scene, TASKS, back_to, named};
use super::super::words::QUESTION;
use rekindle_protocol::{Ask, ResumeOption};

fn plan(scene: &Scene, ask: &Ask, intent: &Intent) -> Plan {
    scene.case(ask).plan(&scene.world(), intent).unwrap()
}

fn open(scene: &Scene, ask: &Ask) -> Plan {
    plan(scene, ask, &Intent::Open)
}

/// Returns what each step does, one a line.
fn deeds(plan: &Plan) -> Vec<String> {
    let deed = |action: &Action| match action {
        Action::Create { path, .. } => format!("create {path}"),
        Action::Edit { path, .. } => format!("edit {path}"),
        Action::Print(_) => "print".to_owned(),
        Action::MoveFile { from, to, .. } => format!("move {from} to {to}"),
        other @ (Action::Append { .. }
        | Action::MoveFolder { .. }
        | Action::Land(_)
        | Action::EndWorker { .. }
        | Action::AskHost { .. }) => format!("{other:?}"),
    };
    plan.steps.iter().map(|step| deed(&step.action)).collect()
}

fn after(plan: &Plan, wanted: &str) -> String {
    let found = plan.steps.iter().find_map(|step| {
        if let Action::Edit { path, after, .. } = &step.action {
            return (path == wanted).then_some(after);
        }
        let Action::Create { path, contents } = &step.action else {
            return None;
        };
        (path == wanted).then_some(contents)
    });
    String::from_utf8(found.unwrap().clone()).unwrap()
}

fn printed(plan: &Plan) -> &str {
    let found = plan.steps.iter().find_map(|step| {
        let Action::Print(text) = &step.action else {
            return None;
        };
        Some(text.as_str())
    });
    found.unwrap()
}

#[test]
fn a_yes_writes_session_and_marker_and_then_says_so() {
    let scene = Scene::new().marker("specs/f:plan|spec\n");
    let plan = open(&scene, &named("f"));
    assert_eq!(
        deeds(&plan),
        [
            "edit specs/f/session.md",
            "edit .bifrost/active-workflow",
            "print"
        ]
    );
    assert_eq!(
        after(&plan, ".bifrost/active-workflow"),
        "specs/f:implement|spec,plan,tasks\n"
    );
    let session = after(&plan, "specs/f/session.md");
    assert!(session.contains("\n1. **2026-03-14** - Resume: Resumed f at implement phase from checkpoint CP-003 (2026-03-14 08:00). Next: /implement f T002.\n2. **2026-03-13**"), "{session}");
    assert_eq!(plan.confirmation().unwrap().question, QUESTION);
    assert_eq!(plan.then, Then::Again);
    assert!(printed(&plan).ends_with(
        "\n✅ **WORKFLOW RESUMED** from checkpoint CP-003\n\nLast checkpoint: 2026-03-14 08:00\nResuming phase: implement\nNext action: /implement f T002\n\nContext preserved: ~0% utilization (estimated)\nArtifacts verified: 3/3 present\n\nRun the command above to continue your workflow.\n"
    ), "{}", printed(&plan));
}

#[test]
fn a_marker_that_is_right_is_not_written_and_one_that_is_missing_is_made() {
    let plan = open(&Scene::new(), &named("f"));
    assert_eq!(deeds(&plan), ["edit specs/f/session.md", "print"]);
    let mut scene = Scene::new();
    scene.world =
        rekindle_world::MemoryWorld::new("/w/p", super::super::scene_tests::NOW.parse().unwrap())
            .file("specs/f/spec.md", "")
            .file("specs/f/plan.md", "")
            .file("specs/f/tasks.md", "");
    let plan = open(&scene, &named("f"));
    assert_eq!(
        deeds(&plan),
        [
            "edit specs/f/session.md",
            "create .bifrost/active-workflow",
            "print"
        ]
    );
}

#[test]
fn a_rollback_keeps_what_it_replaces_first() {
    let scene = Scene::new().file(
        ".bifrost/rollback-backup/20260314-090000/session.md",
        "earlier",
    );
    let plan = open(&scene, &back_to("CP-002"));
    let folder = ".bifrost/rollback-backup/20260314-090000-2";
    assert_eq!(
        deeds(&plan),
        [
            &format!("create {folder}/session.md"),
            &format!("create {folder}/active-workflow"),
            "edit specs/f/session.md",
            "edit .bifrost/active-workflow",
            "print",
        ]
    );
    assert_eq!(after(&plan, &format!("{folder}/session.md")), scene.session);
    let session = after(&plan, "specs/f/session.md");
    assert!(
        session.contains("- **Phase**: plan\n- **Status**: Resuming\n"),
        "{session}"
    );
    assert!(
        session.contains(
            "from checkpoint CP-002 (2026-03-13 10:00). Rolled back from CP-003. Next: /tasks f."
        ),
        "{session}"
    );
    let latest = "#### Latest Checkpoint\n\n**CP-002** (2026-03-13 10:00): Plan validated, ready for tasks\n  - **Restored**: 2026-03-14 09:00, rolled back from CP-003 (2026-03-14 08:00)\n\n#### Checkpoint History\n\n";
    // The newer checkpoint stays in the list, with all that it said.
    let history = "1. **CP-003** (2026-03-14 08:00): Work\n  - **Phase**: implement\n  - **Status**: Complete\n  - **Artifacts**: spec.md\n  - **Dependencies**: None\n  - **Next**: `/implement f T002`\n2. **CP-002** (2026-03-13 10:00): Plan validated, ready for tasks\n3. ";
    assert!(session.contains(&format!("{latest}{history}")), "{session}");
    assert!(
        plan.before_asking
            .contains("Later work: no file was written after CP-002")
    );
}

#[test]
fn what_stands_against_a_resume_writes_nothing() {
    let spec = Scene::new().edit("- **Status**: Idle", "- **Status**: Error Recovery");
    let unknown = back_to("CP-099");
    let validate = Ask {
        options: vec![(ResumeOption::VALIDATE, String::new())],
        ..named("f")
    };
    for (scene, ask, said) in [
        (spec, named("f"), "1. Continue the recovery"),
        (Scene::new(), unknown, "There is no such checkpoint"),
        (
            Scene::new().edit("**CP-003** (2026-03-14", "**CP-003** (2026"),
            named("f"),
            "--checkpoint CP-003",
        ),
        (
            Scene::new().file("specs/f/spec.md", "React"),
            validate,
            "Specification validation FAILED",
        ),
        (
            Scene::with("# Session\n"),
            named("f"),
            "❌ ERROR: No valid checkpoint found in session memory. Start workflow with `/spec f`.\n",
        ),
    ] {
        let plan = open(&scene, &ask);
        assert!(plan.steps.is_empty() && plan.confirmation().is_none());
        assert!(matches!(&plan.then, Then::Stop(stop) if stop.kind == StopKind::Blocked));
        assert!(plan.before_asking.contains(said), "{}", plan.before_asking);
    }
}

#[test]
fn a_marker_that_can_not_be_written_is_told_before_anybody_is_asked() {
    let mut folder = Scene::new();
    folder.world = folder.world.folder(".bifrost/active-workflow");
    let mut link = Scene::new();
    link.world = link.world.file("/elsewhere", "specs/f:plan|\n");
    link.world = link.world.link(".bifrost/active-workflow", "/elsewhere");
    let bare = |world: rekindle_world::MemoryWorld| {
        let mut scene = Scene::new();
        scene.world = world;
        for (path, text) in [("spec", SPEC), ("plan", PLAN), ("tasks", TASKS)] {
            scene = scene.file(&format!("specs/f/{path}.md"), text);
        }
        scene
    };
    let world = || rekindle_world::MemoryWorld::new("/w/p", NOW.parse().unwrap());
    let own_file = bare(world().file(".bifrost", ""));
    let own_link = world().folder("/elsewhere").link(".bifrost", "/elsewhere");
    for (scene, reason) in [
        (folder, "it is no file"),
        (link, "leads out of the project"),
        (own_file, "it is no folder"),
        (bare(own_link), "leads out of the project"),
    ] {
        let plan = open(&scene, &named("f"));
        assert!(plan.steps.is_empty());
        assert!(
            plan.before_asking.contains(reason),
            "{}",
            plan.before_asking
        );
        // Going back would meet the same marker.
        assert!(
            !plan.before_asking.contains("Roll back"),
            "{}",
            plan.before_asking
        );
    }
}

#[test]
fn nothing_is_gone_back_to_where_nothing_can_be_kept() {
    let scene = Scene::new().file(".bifrost/rollback-backup", "");
    let plan = open(&scene, &back_to("CP-002"));
    assert!(plan.steps.is_empty());
    let said = &plan.before_asking;
    assert!(
        said.contains("Put .bifrost/rollback-backup out of the way"),
        "{said}"
    );
    assert_eq!(scene.codes(&named("f")), "");
}

#[test]
fn an_agent_gets_the_command_and_nobody_else_does_anything() {
    let go_on = Intent::GoOn { log: "".into() };
    let plan = plan(&Scene::new(), &named("f"), &go_on);
    let Then::Agent(task) = &plan.then else {
        panic!("{:?}", plan.then);
    };
    assert_eq!(task.prompt, "/implement f T002");
    assert!(plan.steps.is_empty());
    assert_eq!(plan.without_agent.unwrap().kind, StopKind::Said);
}

#[test]
fn the_summary_tells_what_fresh_leaves_out() {
    let whole = open(&Scene::new(), &named("f")).before_asking;
    assert!(
        whole.contains("- Tasks: Created 3 tasks.\n") && whole.contains("keep cents"),
        "{whole}"
    );
    let fresh = Ask {
        options: vec![(ResumeOption::FRESH, String::new())],
        ..named("f")
    };
    let short = open(&Scene::new(), &fresh).before_asking;
    assert!(
        !short.contains("Created 3 tasks") && !short.contains("keep cents"),
        "{short}"
    );
    for said in [
        "Feature: f\n",
        "Resuming at: implement phase\n",
        "- Artifacts: 3/3 verified\n",
        "Next action: /implement f T002\n",
    ] {
        assert!(short.contains(said), "{short}");
    }
}

#[test]
fn foreign_text_can_not_steer_a_terminal() {
    let scene = Scene::new()
        .edit("): Work\n  -", "): \u{1b}[2JWork\n  -")
        .edit("- keep cents", "- \u{1b}]0;x\u{7}\u{202e}");
    let plan = open(&scene, &named("f"));
    let details = plan.confirmation().unwrap().details.as_str();
    for text in [plan.before_asking.as_str(), printed(&plan), details] {
        assert!(
            !text
                .chars()
                .any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{text:?}"
        );
    }
}

#[test]
fn a_checkpoint_is_made_of_where_the_work_stands() {
    let make = |scene: &Scene, note: &str| {
        let intent = Intent::Checkpoint {
            note: note.to_owned(),
        };
        after(&plan(scene, &named("f"), &intent), "specs/f/session.md")
    };
    let session = make(&Scene::new(), "Half\nway");
    assert!(session.contains("**CP-004** (2026-03-14 09:00): Half way\n  - **Phase**: implement\n  - **Status**: In Progress\n  - **Context**: ~0% utilization\n  - **Artifacts**: plan.md, spec.md, tasks.md\n  - **Dependencies**: 1/3 tasks complete\n  - **Next**: `/implement f T002`\n"), "{session}");
    assert!(session.contains("**Last Updated**: 2026-03-14"));
    // The marker runs ahead when a command has begun its phase.
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
fn a_checkpoint_names_what_can_be_read_again() {
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

#[test]
fn details_show_a_field_whole_and_all_later_work() {
    let long = "word ".repeat(300);
    let mut scene = Scene::new().edit(
        "**Dependencies**: None",
        &format!("**Dependencies**: {long}end"),
    );
    let details =
        |scene: &Scene, ask: &Ask| open(scene, ask).confirmation().unwrap().details.clone();
    assert!(details(&scene, &named("f")).contains("word end\n"));
    for n in 0..600 {
        let path = format!("src/{n:03}.rs");
        scene = scene
            .file(&path, "")
            .written_at(&path, "2026-03-14T08:30:00Z");
    }
    let shown = details(&scene, &back_to("CP-002"));
    assert!(
        shown.contains("- src/499.rs\n- … and 100 more\n"),
        "{shown}"
    );
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
fn a_new_checkpoint_leaves_five_in_the_history_and_drops_none() {
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
fn a_new_checkpoint_of_a_plain_list_is_where_the_work_stood() {
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
fn the_newest_stay_whatever_the_order_of_the_list_is() {
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
fn the_tip_names_the_task_of_the_command() {
    let tip = |said: &str| {
        let scene = Scene::new().edit("`/implement f T002`", said);
        let plan = open(&scene, &named("f"));
        let text = printed(&plan);
        let tip = text.lines().find(|line| line.starts_with("💡"));
        tip.unwrap_or_default().to_owned()
    };
    for (said, wanted) in [
        ("`/implement f T002`", "complete; next is T002 (B)."),
        ("`/implement f T003`", "complete; next is T003 (C)."),
        ("`/implement f T001`", "complete; next is T002 (B)."),
        ("`/implement f phase 2`", "complete; next is T002 (B)."),
        ("`/implement f T042`", "tasks are complete."),
        ("`/polish-docs`", "tasks are complete."),
    ] {
        assert!(tip(said).ends_with(wanted), "{said}: {}", tip(said));
    }
}

#[test]
fn going_back_within_a_day_tells_nothing_that_may_be_of_later() {
    let told = |latest: &str| {
        let scene = Scene::new().edit("(2026-03-14 08:00)", latest);
        open(&scene, &back_to("CP-002")).before_asking
    };
    let later = "Completed T001";
    assert!(!told("(2026-03-13 15:00)").contains(later));
    assert!(told("(2026-03-14 08:00)").contains(later));
}

#[test]
fn archiving_moves_and_never_drops() {
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
