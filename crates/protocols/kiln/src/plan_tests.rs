//! What a resume prints, writes and asks for in every stage.

use camino::Utf8PathBuf;
use rekindle_model::{AgentTask, Ended};

use super::super::scene_tests::{DIR, Scene, fact, said, written};
use super::*;

pub(super) fn open(scene: &Scene) -> Plan {
    scene.plan(&Intent::Open)
}

pub(super) fn go_on(scene: &Scene) -> Plan {
    scene.plan(&Intent::GoOn {
        log: Utf8PathBuf::new(),
    })
}

pub(super) fn settle(scene: &Scene, task: &AgentTask, ended: Ended) -> Plan {
    scene.plan(&Intent::Settle {
        log: Utf8PathBuf::new(),
        task: task.clone(),
        ended,
    })
}

pub(super) fn answer(scene: &Scene, question: &'static str, answer: &str) -> Plan {
    scene.plan(&Intent::Answer {
        log: Utf8PathBuf::new(),
        question,
        answer: answer.to_owned(),
        is_about_a_blocker: false,
    })
}

pub(super) fn agent(plan: &Plan) -> &AgentTask {
    let Then::Agent(task) = &plan.then else {
        panic!("no agent: {:?}", plan.then);
    };
    task
}

pub(super) fn stopped(plan: &Plan) -> (StopKind, &str) {
    let Then::Stop(stop) = &plan.then else {
        panic!("no stop: {:?}", plan.then);
    };
    (stop.kind, stop.reason.as_str())
}

pub(super) fn failed() -> Ended {
    Ended::Failed {
        reason: "it ended with exit code 1".to_owned(),
    }
}

/// Returns the lines of a memory that differ from those of the scene, the new ones alone.
pub(super) fn changed(scene: &Scene, plan: &Plan) -> Vec<String> {
    let (old, new) = (scene.text(), written(plan).unwrap());
    let old: Vec<&str> = old.lines().collect();
    new.lines()
        .filter(|line| !old.contains(line))
        .map(str::to_owned)
        .collect()
}

pub(super) const STEP_7: [&str; 2] = [
    "last_updated: 2026-02-20T12:00:00Z",
    "- Resumed: 2026-02-20T12:00:00Z",
];

#[test]
fn the_banner_has_a_line_for_each_known_field() {
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
fn a_stage_that_waits_for_a_person_prints_its_text_and_stops() {
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
fn execution_opens_with_one_edit_and_starts_maestro() {
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
fn the_executors_prompt_has_every_part() {
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
        "You are Maestro (kiln-phase-executor). Resume phase 2 and complete it.",
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
fn the_status_of_the_state_file_is_shown_and_in_the_prompt() {
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
fn a_started_or_failed_phase_keeps_its_note() {
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

#[test]
fn a_complete_project_is_not_edited_and_its_menu_works() {
    let scene = Scene::new("complete", "complete")
        .memory_file("decisions.md", "# Key Decisions\n## Cents\n");
    let plan = open(&scene);
    assert_eq!(plan.steps, []);
    assert!(plan.before_asking.ends_with(
        "\nThis project is marked complete.\n\nWhat would you like to do next?\n  1. Start a new project in this directory (/kiln:start)\n  \
         2. Review the decisions log\n  3. Review the pitfalls log\n  4. Archive this project's memory\n"
    ));
    assert!(matches!(plan.then, Then::Ask(_)));
    let kind = super::messages::COMPLETE;
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
fn operator_review_and_missing_phases_stop_after_step_7() {
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
    // Every hint works.
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
