//! Decisions on a tree in memory: which branch is selected, what is reported, what is never done.

use proptest::prelude::*;
use rekindle_model::{Action, Intent, State, Then};
use rekindle_world::{GitAnswer, GitHeadName, GitQuestion, MemoryWorld};

use super::{Map, questions};
use rekindle_protocol::{Ask, Protocol as _};

const STATE: &str = r#"{"current_step_id": "2.3", "current_step_phase": "ACTOR", "current_subtask_id": "ST-002",
    "subtask_index": 1, "subtask_sequence": ["ST-001", "ST-002"], "completed_steps": ["2.2"], "pending_steps": ["2.3", "2.4"]}"#;

fn world() -> MemoryWorld {
    let head = GitHeadName {
        top_level: "/p".into(),
        git_dir: Some("/p/.git".into()),
        name: Some("main".to_owned()),
    };
    MemoryWorld::new("/p", "2026-01-20T12:00:00Z".parse().unwrap()).git_says(
        "/p",
        GitQuestion::HeadName,
        GitAnswer::HeadName(head),
    )
}

fn with_workflow(state: &str) -> MemoryWorld {
    world()
        .file("/p/.map/main/step_state.json", state)
        .file("/p/.map/main/task_plan_main.md", PLAN)
}

const PLAN: &str = "# Task Plan: Books\n\n### ST-001: Entries\n- **Status:** complete\n\n### ST-002: Balance\n- **Status:** pending\n";

fn named(name: Option<&str>) -> Ask {
    Ask {
        name: name.map(str::to_owned),
        ..Ask::default()
    }
}

fn codes(world: &MemoryWorld) -> Vec<&'static str> {
    let case = Map.inspect(world, &Ask::default());
    let findings = case.assessment().findings.iter();
    findings.map(|finding| finding.code.as_str()).collect()
}

#[test]
fn a_workflow_is_selected_by_its_branch_its_folder_or_a_unique_prefix() {
    let world = with_workflow(STATE)
        .file("/p/.map/feature-a-1/step_state.json", STATE)
        .file("/p/.map/feature-b-1/step_state.json", STATE)
        .file("/p/.map/scripts/map_orchestrator.py", "");
    let selected = |name: Option<&str>| {
        let case = Map.inspect(&world, &named(name));
        case.assessment().id.as_ref().map(|id| id.name.clone())
    };
    for (name, branch) in [
        (None, Some("main")),
        (Some("main"), Some("main")),
        (Some("feature/a/1"), Some("feature-a-1")),
        (Some("feature-b-1"), Some("feature-b-1")),
        (Some("feature-b"), Some("feature-b-1")),
        (Some("feature"), None),
        (Some("scripts"), None),
        (Some("../main"), None),
        (Some(""), None),
    ] {
        assert_eq!(selected(name).as_deref(), branch, "{name:?}");
    }
    let case = Map.inspect(&world, &named(None));
    let names = case.assessment().workflows.iter();
    let names: Vec<&str> = names.map(|workflow| workflow.id.name.as_str()).collect();
    assert_eq!(names, ["main", "feature-a-1", "feature-b-1"]);
}

#[test]
fn a_state_is_interrupted_waiting_blocked_complete_or_corrupt() {
    let change = |from: &str, to: &str| STATE.replace(from, to);
    for (state, expected) in [
        (STATE.to_owned(), State::Interrupted),
        (change("ACTOR", "COMPLETE"), State::Complete),
        (
            change(
                "\"2.3\", \"current_step_phase\"",
                "\"COMPLETE\", \"current_step_phase\"",
            ),
            State::Complete,
        ),
        (
            change(
                "{\"current",
                "{\"workflow_status\": \"WORKFLOW_COMPLETE\", \"current",
            ),
            State::Complete,
        ),
        // A result of the last subtask does not end its steps.
        (
            change(
                "{\"current",
                "{\"subtask_results\": {\"ST-002\": {\"status\": \"valid\"}}, \"current",
            ),
            State::Interrupted,
        ),
        (change("ACTOR", "BLOCKED_ON_DEPS"), State::Blocked),
        (
            change(
                "\"2.3\", \"current_step_phase\"",
                "\"1.55\", \"current_step_phase\"",
            ),
            State::Waiting,
        ),
        (
            change("\"subtask_index\": 1", "\"subtask_index\": null"),
            State::Corrupt,
        ),
        // MAP's other script writes an object, whose keys count.
        (change("[\"2.2\"]", "{\"2.2\": 1}"), State::Interrupted),
        (change("[\"2.2\"]", "\"2.2\""), State::Corrupt),
        (change("[\"2.2\"]", "[2]"), State::Corrupt),
        ("{}".to_owned(), State::Corrupt),
        ("[]".to_owned(), State::Corrupt),
        (String::new(), State::Corrupt),
    ] {
        let case = Map.inspect(&with_workflow(&state), &Ask::default());
        assert_eq!(case.assessment().state, expected, "{state}");
    }
    assert_eq!(
        Map.inspect(&world(), &Ask::default()).assessment().state,
        State::Nothing
    );
}

#[test]
fn every_problem_is_a_finding_with_its_code() {
    assert_eq!(codes(&with_workflow(STATE)), Vec::<&str>::new());
    assert_eq!(codes(&with_workflow("[]")), ["STATE_CORRUPT"]);
    assert_eq!(codes(&with_workflow("{}")), ["NOT_A_MAP_STATE"]);
    let without_plan = world().file("/p/.map/main/step_state.json", STATE);
    assert_eq!(codes(&without_plan), ["PLAN_MISSING"]);
    let early = r#"{"current_step_id": "1.5", "current_step_phase": "INIT_PLAN"}"#;
    let early = world().file("/p/.map/main/step_state.json", early);
    assert_eq!(codes(&early), Vec::<&str>::new());
    let plan = PLAN.replace("complete", "pending");
    let drifted = with_workflow(STATE).file("/p/.map/main/task_plan_main.md", &plan);
    assert_eq!(codes(&drifted), ["PLAN_DRIFT"]);
    let plan = PLAN.replace("- **Status:** complete\n", "");
    let hidden = with_workflow(STATE).file("/p/.map/main/task_plan_main.md", &plan);
    assert!(codes(&hidden).contains(&"HIDDEN_SUBTASK"));
}

#[test]
fn a_subtask_is_explained_by_what_state_and_plan_say() {
    let world = with_workflow(STATE);
    let explain = |task: &str| Map.explain(&world, &Ask::default(), task);
    assert_eq!(explain("ST-001").unwrap().verdict, "complete");
    assert_eq!(explain("ST-002").unwrap().verdict, "at phase ACTOR");
    assert_eq!(explain("ST-003"), None);
}

/// Every intent that can reach the protocol.
fn intents() -> Vec<Intent> {
    let log = || camino::Utf8PathBuf::from(".rekindle/logs/map/main/x.jsonl");
    let answer = |question, answer: &str| Intent::Answer {
        log: log(),
        question,
        answer: answer.to_owned(),
        is_about_a_blocker: false,
    };
    vec![
        Intent::Open,
        Intent::GoOn { log: log() },
        answer(questions::RESUME_WORKFLOW, questions::RESUME),
        answer(questions::RESUME_WORKFLOW, questions::FRESH),
        answer(questions::CORRUPT_STATE, questions::RAW),
        answer(questions::MISSING_PLAN, questions::CREATE),
        answer("approval", "approve"),
        answer(questions::CIRCUIT_BREAKER, questions::CONTINUE),
    ]
}

proptest! {
    #[test]
    fn any_state_is_planned_without_a_panic_and_a_damaged_one_is_never_overwritten(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "null", "true", "1e999", "-1", "9223372036854775807",
            "\"current_step_id\"", "\"current_step_phase\"", "\"current_subtask_id\"", "\"subtask_index\"",
            "\"subtask_sequence\"", "\"pending_steps\"", "\"completed_steps\"", "\"execution_waves\"",
            "\"subtask_phases\"", "\"2.3\"", "\"2.4\"", "\"ACTOR\"", "\"ST-001\"", "\\u0000", "\u{1b}", "\u{feff}",
        ]), 0..24),
        plan in "(### ST-[0-9]{0,3}:? ?\\PC{0,6}\n|- \\*\\*Status:\\*\\* \\PC{0,8}\n|## Goal\n|\\PC{0,12}\n){0,8}",
    ) {
        holds(&pieces.concat(), &plan)?;
    }

    #[test]
    fn any_values_of_a_state_are_planned_without_a_panic(
        step in "(1\\.0|1\\.5|1\\.55|1\\.6|2\\.2|2\\.25|2\\.26|2\\.3|2\\.4|COMPLETE|CONTRACT_READY|BLOCKED_ON_DEPS|9\\.9)",
        pending in "(\\[\\]|\\[\"2\\.3\",\"2\\.4\"\\]|\\[\"2\\.2\"\\]|\\[\"1\\.55\"\\]|\\[\"9\\.9\"\\])",
        index in -2_i64..4,
        waves in "(\\[\\]|\\[\\[\"ST-001\"\\],\\[\"ST-002\"\\]\\]|\\[1\\])",
        wave in -2_i64..4,
        subtask in "(null|\"ST-001\"|\"ST-002\"|\"\"|7)",
        retries in -1_i64..8,
        tdd in any::<bool>(),
    ) {
        let state = format!(
            r#"{{"current_step_id": "{step}", "current_step_phase": "X", "pending_steps": {pending}, "subtask_index": {index},
            "execution_waves": {waves}, "current_wave_index": {wave}, "current_subtask_id": {subtask}, "retry_count": {retries},
            "subtask_sequence": ["ST-001", "ST-002"], "tdd_mode": {tdd}}}"#
        );
        holds(&state, PLAN)?;
    }
}

fn holds(state: &str, plan: &str) -> Result<(), TestCaseError> {
    let world = with_workflow(state).file("/p/.map/main/task_plan_main.md", plan);
    let case = Map.inspect(&world, &Ask::default());
    let is_corrupt = case.assessment().state == State::Corrupt;
    for intent in intents() {
        let plan = case.plan(&world, &intent);
        prop_assert_eq!(
            &plan,
            &case.plan(&world, &intent),
            "plans are deterministic"
        );
        let Some(plan) = plan else { continue };
        if intent == Intent::Open {
            prop_assert!(plan.steps.is_empty());
            prop_assert!(!matches!(plan.then, Then::Again | Then::Agent(_)));
        }
        for step in &plan.steps {
            let writes = match &step.action {
                Action::Edit { path, .. } | Action::Create { path, .. } => path.as_str(),
                Action::Append { log, .. } => log.as_str(),
                Action::MoveFolder { .. }
                | Action::MoveFile { .. }
                | Action::Land(_)
                | Action::EndWorker { .. }
                | Action::AskHost { .. }
                | Action::Print(_) => "",
            };
            prop_assert!(
                !is_corrupt || writes.is_empty(),
                "{writes} overwrites a damaged state"
            );
        }
    }
    Ok(())
}

#[test]
fn the_background_has_the_goal_and_the_last_rejection() {
    let state = STATE.replacen('{', "{\"retry_count\": 2, ", 1);
    let world = with_workflow(&state).file(
        "/p/.map/main/monitor_feedback_retry2.md",
        "# Monitor Feedback\n\nThe sum is off by one.\n",
    );
    let background = Map.inspect(&world, &Ask::default()).background(&world);
    assert_eq!(background.intent.as_deref(), Some("Books"));
    assert_eq!(
        background.failures,
        ["ST-002 rejected (2): The sum is off by one."]
    );
}
