//! Tests of the changes of a resume, and that a blocked one changes nothing.

use rekindle_model::{Action, Intent, Plan, StopKind, Then};

use super::super::messages::QUESTION;
use super::super::scene_tests::{NOW, PLAN, SPEC, Scene, TASKS, back_to, named};
use rekindle_protocol::{Ask, ResumeOption};

pub(super) fn plan(scene: &Scene, ask: &Ask, intent: &Intent) -> Plan {
    scene.case(ask).plan(&scene.world(), intent).unwrap()
}

pub(super) fn open(scene: &Scene, ask: &Ask) -> Plan {
    plan(scene, ask, &Intent::Open)
}

/// Returns the steps, one a line.
pub(super) fn deeds(plan: &Plan) -> Vec<String> {
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

pub(super) fn after(plan: &Plan, wanted: &str) -> String {
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

pub(super) fn printed(plan: &Plan) -> &str {
    let found = plan.steps.iter().find_map(|step| {
        let Action::Print(text) = &step.action else {
            return None;
        };
        Some(text.as_str())
    });
    found.unwrap()
}

#[test]
fn a_resume_writes_session_and_marker_and_prints_the_block() {
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
fn keeps_a_correct_marker_and_creates_a_missing_one() {
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
fn a_rollback_starts_with_a_backup() {
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
    // The newer checkpoint stays in the list with all its fields.
    let history = "1. **CP-003** (2026-03-14 08:00): Work\n  - **Phase**: implement\n  - **Status**: Complete\n  - **Artifacts**: spec.md\n  - **Dependencies**: None\n  - **Next**: `/implement f T002`\n2. **CP-002** (2026-03-13 10:00): Plan validated, ready for tasks\n3. ";
    assert!(session.contains(&format!("{latest}{history}")), "{session}");
    assert!(
        plan.before_asking
            .contains("Later work: no file was written after CP-002")
    );
}

#[test]
fn a_blocked_resume_writes_nothing() {
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
fn an_unwritable_marker_blocks_before_the_question() {
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
        (folder, "it is not a file"),
        (link, "leads out of the project"),
        (own_file, "it is not a folder"),
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
fn a_rollback_without_a_backup_is_blocked() {
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
fn the_agent_gets_the_command() {
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
fn fresh_shortens_the_summary() {
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
fn messages_contain_no_control_characters() {
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
fn details_show_whole_fields_and_all_later_work() {
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
fn a_rollback_within_a_day_hides_entries_of_that_day() {
    let told = |latest: &str| {
        let scene = Scene::new().edit("(2026-03-14 08:00)", latest);
        open(&scene, &back_to("CP-002")).before_asking
    };
    let later = "Completed T001";
    assert!(!told("(2026-03-13 15:00)").contains(later));
    assert!(told("(2026-03-14 08:00)").contains(later));
}
