use std::collections::BTreeMap;

use proptest::prelude::*;
use rekindle_world::MemoryWorld;

use super::*;

const STATE: &str = ".map/default/step_state.json";

/// A project in memory that carries out the effects of commands.
#[derive(Default)]
struct Project(BTreeMap<String, String>);

impl Project {
    fn with(mut self, path: &str, text: &str) -> Self {
        self.0
            .insert(format!(".map/default/{path}"), text.to_owned());
        self
    }

    fn type_in(&mut self, words: &[&str]) -> Answer {
        self.type_with(words, "")
    }

    /// Types a command, carries out its effects, and returns the answer.
    fn type_with(&mut self, words: &[&str], input: &str) -> Answer {
        let mut world = MemoryWorld::new("/p", "2026-11-15T20:00:00Z".parse().unwrap());
        for (path, text) in &self.0 {
            world = world.file(path, text.as_str());
        }
        let typed: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let request = Request::parse(&typed).expect("a valid command line");
        let answer = request.answer(&world, &request.branch(&world), input.as_bytes());
        if request.access() == Access::Read {
            assert!(answer.actions.is_empty(), "{words:?} reads only");
        }
        for action in &answer.actions {
            self.carry_out(action);
        }
        answer
    }

    fn carry_out(&mut self, action: &Action) {
        match action {
            Action::Create { path, contents } => {
                let before = self.0.insert(
                    path.to_string(),
                    String::from_utf8(contents.clone()).unwrap(),
                );
                assert_eq!(before, None, "{path} existed");
            }
            Action::Edit {
                path,
                before,
                after,
            } => {
                let after = String::from_utf8(after.clone()).unwrap();
                let found = self.0.insert(path.to_string(), after);
                assert_eq!(found.unwrap().as_bytes(), before.as_slice(), "{path}");
            }
            Action::MoveFile { from, to, contents } => {
                let text = self.0.remove(from.as_str()).expect("an existing file");
                assert_eq!(text.as_bytes(), contents.as_slice(), "{from}");
                assert_eq!(self.0.insert(to.to_string(), text), None, "{to} existed");
            }
            Action::Append { log, record } => {
                let text = self.0.entry(log.to_string()).or_default();
                text.push_str(&format!("{record}\n"));
            }
            Action::MoveFolder { .. }
            | Action::Land(_)
            | Action::EndWorker { .. }
            | Action::AskHost { .. }
            | Action::Print(_) => panic!("no command does {action:?}"),
        }
    }

    fn says(&mut self, words: &[&str]) -> serde_json::Value {
        let answer = self.type_in(words);
        serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{words:?}: {answer:?}"))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::from_str(&self.0[STATE]).expect("a state")
    }
}

/// Three subtasks, the second of which waits for the third.
fn planned() -> Project {
    let blueprint = r#"{"subtasks": [
        {"id": "ST-001", "dependencies": [], "affected_files": ["a"]},
        {"id": "ST-002", "dependencies": ["ST-003"], "affected_files": ["b"]},
        {"id": "ST-003", "dependencies": ["ST-001"], "affected_files": ["c"]}]}"#;
    let plan = "### ST-001: a\n- **Status:** pending\n### ST-002: b\n- **Status:** pending\n### ST-003: c\n- **Status:** pending\n";
    Project::default()
        .with("blueprint.json", blueprint)
        .with("task_plan_default.md", plan)
}

fn close(project: &mut Project, step: &str) -> serde_json::Value {
    project.says(&["validate_step", step, "--recommendation", "proceed"])
}

/// Saves research on every subtask.
fn researched(mut project: Project) -> Project {
    let research = r#"{"status": "OK", "confidence": 1, "search_stats": {"files_scanned": 0, "total_matches_found": 0, "results_truncated": false}, "relevant_locations": []}"#;
    for id in ["ST-001", "ST-002", "ST-003"] {
        let saved = project.type_with(&["save_research", "default", id], research);
        assert_eq!(saved.exit, 0);
    }
    project
}

#[test]
fn a_workflow_completes_in_the_order_of_dependencies() {
    let mut project = researched(planned());
    let started = project.says(&["initialize", "x"]);
    assert_eq!(started["status"], "initialized");
    for step in ["1.0", "1.5"] {
        assert_eq!(project.says(&["get_next_step"])["step_id"], step);
        assert_eq!(close(&mut project, step)["valid"], true);
    }
    assert_eq!(project.type_in(&["validate_step", "1.55"]).exit, 1);
    project.says(&["set_plan_approved", "yes"]);
    assert_eq!(close(&mut project, "1.55")["next_step"], "1.56");
    assert_eq!(project.says(&["get_next_step"])["step_id"], "1.6");
    assert_eq!(close(&mut project, "1.6")["next_step"], "2.2");
    let sequence = &project.state()["subtask_sequence"];
    assert_eq!(*sequence, serde_json::json!(["ST-001", "ST-003", "ST-002"]));
    close(&mut project, "2.2");
    assert_eq!(close(&mut project, "2.3")["next_step"], "2.4");
    assert_eq!(close(&mut project, "2.4")["subtask_advanced_to"], "ST-003");
    close(&mut project, "2.2");
    // The monitor's approval closes the actor's step too.
    assert_eq!(close(&mut project, "2.4")["subtask_advanced_to"], "ST-002");
    close(&mut project, "2.2");
    assert_eq!(close(&mut project, "2.4")["next_step"], "COMPLETE");
    assert_eq!(project.state()["workflow_status"], "WORKFLOW_COMPLETE");
    assert_eq!(project.says(&["archive"])["status"], "archived");
    assert_eq!(project.says(&["archive"])["status"], "noop");
}

#[test]
fn a_waiting_subtask_is_skipped_and_comes_later() {
    let mut project = planned();
    project.says(&["resume_from_plan"]);
    // As the blueprint lists them: the second waits for the third.
    close(&mut project, "1.6");
    let mut project = researched(project);
    close(&mut project, "2.2");
    let passed = close(&mut project, "2.4");
    assert_eq!(passed["subtask_advanced_to"], "ST-003");
    assert_eq!(passed["skipped_for_deps"], serde_json::json!(["ST-002"]));
    assert_eq!(
        project.state()["subtask_phases"]["ST-002"],
        "deferred_for_deps"
    );
    project.says(&["mark_subtask_complete", "ST-003"]);
    assert_eq!(project.state()["workflow_status"], "WORKFLOW_COMPLETE");
}

#[test]
fn five_retries_are_allowed_and_the_second_is_clean() {
    let mut project = planned();
    project.says(&["resume_single_subtask", "ST-001"]);
    assert_eq!(project.says(&["monitor_failed"])["status"], "error");
    let mut project = researched(project);
    close(&mut project, "2.2");
    for count in 1..=5 {
        let answer = project.says(&["monitor_failed", "--feedback", "BLOCKER: x"]);
        assert_eq!(answer["status"], "retrying", "{count}");
        let isolation = if count == 1 {
            "normal_retry"
        } else {
            "clean_retry_required"
        };
        assert_eq!(answer["retry_isolation"], isolation, "{count}");
    }
    let quarantine: serde_json::Value =
        serde_json::from_str(&project.0[".map/default/retry_quarantine.json"]).unwrap();
    let counts: Vec<i64> = quarantine["quarantines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["retry_count"].as_i64().unwrap())
        .collect();
    assert_eq!(counts, [2, 3, 4, 5]);
    assert_eq!(project.says(&["validate_retry_quarantine"])["valid"], true);
    let answer = project.says(&["monitor_failed"]);
    assert_eq!(
        (&answer["status"], &answer["retry_count"]),
        (&"max_retries".into(), &6.into())
    );
    let instruction = project.says(&["get_next_step"])["instruction"].clone();
    assert!(
        instruction
            .as_str()
            .unwrap()
            .contains("retry_quarantine.json")
    );
}

#[test]
fn test_first_steps_are_added_and_removed_from_the_current_step_on() {
    let mut project = planned();
    project.says(&["resume_single_subtask", "ST-001"]);
    let pending = |project: &Project| project.state()["pending_steps"].to_string();
    project.says(&["set_tdd_mode", "true"]);
    assert_eq!(pending(&project), r#"["2.2","2.25","2.26","2.3","2.4"]"#);
    project.says(&["set_tdd_mode", "n"]);
    assert_eq!(pending(&project), r#"["2.2","2.3","2.4"]"#);
    let mut project = researched(project);
    close(&mut project, "2.2");
    project.says(&["set_tdd_mode", "1"]);
    assert_eq!(pending(&project), r#"["2.25","2.26","2.3","2.4"]"#);
    project.says(&["get_next_step"]);
    assert_eq!(project.says(&["skip_step", "2.25"])["next_step"], "2.26");
    assert_eq!(project.says(&["skip_step", "2.3"])["status"], "error");
}

#[test]
fn waves_advance_independently_of_the_cursor() {
    let mut project = planned();
    let waves = project.says(&["set_waves"])["execution_waves"].clone();
    assert_eq!(
        waves,
        serde_json::json!([["ST-001"], ["ST-003"], ["ST-002"]])
    );
    let step = project.says(&["get_wave_step"]);
    assert_eq!(
        (&step["mode"], &step["reason"]),
        (&"sequential".into(), &"gate_not_parallelizable".into())
    );
    assert_eq!(
        project.says(&["validate_wave_step", "ST-001", "2.4"])["next_phase"],
        "COMPLETE"
    );
    assert_eq!(project.says(&["advance_wave"])["current_wave_index"], 1);
    assert_eq!(project.state()["current_subtask_id"], "ST-003");
    project.says(&["advance_wave"]);
    assert_eq!(project.says(&["advance_wave"])["is_complete"], true);
    assert_eq!(project.says(&["get_wave_step"])["reason"], "wave_complete");
}

#[test]
fn a_parked_item_becomes_a_subtask_in_blueprint_plan_and_state() {
    let mut project = planned();
    let blueprint = r#"{"subtasks": [{"id": "ST-007"}], "deferred_yagni": [{"id": "YG-001", "title": "Cache"}]}"#;
    project = project.with("blueprint.json", blueprint);
    project.says(&["set_plan_approved", "true"]);
    let answer = project.says(&["restore_deferred_yagni", "YG-001"]);
    assert_eq!(
        (&answer["subtask_id"], &answer["plan_approved_reset"]),
        (&"ST-008".into(), &true.into())
    );
    assert!(
        project.0[".map/default/task_plan_default.md"]
            .contains("### ST-008: Cache\n- **Status:** pending\n")
    );
    assert!(project.0[".map/default/blueprint.json"].contains("\"deferred_yagni\": []"));
    assert_eq!(project.state()["plan_approved"], false);
    assert_eq!(
        project.type_in(&["restore_deferred_yagni", "YG-001"]).exit,
        1
    );
}

#[test]
fn a_step_stays_open_without_a_verdict_of_the_monitor() {
    let mut project = researched(planned());
    project.says(&["resume_single_subtask", "ST-001"]);
    close(&mut project, "2.2");
    close(&mut project, "2.3");
    let mut refused = |words: &[&str], key: &str| {
        let answer = project.type_in(words);
        let said: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
        assert!(
            answer.exit == 1 && said.get(key).is_some(),
            "{words:?}: {said}"
        );
    };
    refused(&["validate_step", "2.4"], "recommendation_required");
    refused(
        &["validate_step", "2.4", "--recommendation", " Block "],
        "recommendation",
    );
    refused(
        &[
            "validate_step",
            "2.4",
            "--monitor-envelope",
            "-",
            "--rec",
            "proceed",
        ],
        "envelope_error",
    );
    let answer = close(&mut project, "2.4");
    assert_eq!(answer["next_step"], "COMPLETE");
}

#[test]
fn a_replaced_state_is_saved_under_its_status() {
    let over = r#"{"workflow_status": "WORKFLOW_COMPLETE", "current_step_id": "COMPLETE", "current_step_phase": "COMPLETE", "subtask_results": {"ST-001": {}}}"#;
    let midway = r#"{"subtask_results": {"ST-001": {}}}"#;
    for words in [
        &["resume_from_plan"][..],
        &["resume_single_subtask", "ST-001"],
    ] {
        for (state, how) in [(over, "completed"), (midway, "abandoned")] {
            let mut project = planned().with("step_state.json", state);
            project.says(words);
            let kept = format!(".map/default/step_state.{how}-20261115T200000Z.json");
            assert_eq!(project.0[&kept], state, "{words:?}");
        }
    }
}

#[test]
fn a_deferral_without_a_summary_gets_the_summary_of_map() {
    let triage = serde_json::json!({
        "schema_version": "1.0", "branch": "default",
        "triages": [{
            "check_id": "c1", "command": "make", "reason": "both",
            "run_count": 2, "pass_count": 1, "fail_count": 1,
            "outcome_sequence": ["passed", "failed"], "disposition": "deferred_nondeterministic",
            "recommended_next_action": "x", "monitor_verdict_policy": "not_valid_without_explicit_triage",
            "operator_requirements": [],
            "evidence": [
                {"run": 1, "status": "passed", "exit_code": 0, "summary": "s"},
                {"run": 2, "status": "failed", "exit_code": 1, "summary": "s"},
            ],
        }],
    });
    let mut project = researched(planned());
    project.says(&["resume_single_subtask", "ST-001"]);
    close(&mut project, "2.2");
    close(&mut project, "2.3");
    project = project.with("flaky_test_triage.json", &triage.to_string());
    project.says(&["defer_flaky_subtask", "ST-001", "--check-id", "c1"]);
    assert_eq!(
        project.state()["subtask_results"]["ST-001"]["summary"],
        "Deferred nondeterministic check c1: both (1 pass / 1 fail over 2 runs)."
    );
}

#[test]
fn a_project_without_git_is_the_nearest_folder_with_map_files() {
    let world = |project: &str| {
        let now = "2026-11-15T20:00:00Z".parse().unwrap();
        MemoryWorld::new(project, now).file("/p/.map/default/step_state.json", "{}")
    };
    for (typed_in, expected) in [
        ("/p", "/p"),
        ("/p/a/b", "/p"),
        ("/p/.git", "/p"),
        ("/q", "/q"),
    ] {
        let root = crate::root(&world(typed_in));
        assert_eq!(root.folder, expected, "{typed_in}");
    }
}

/// A command during a workflow.
#[derive(Debug, Clone, Copy)]
enum Typed {
    Next,
    /// Closes the current step.
    Close,
    /// The monitor accepts, at its own step or the actor's.
    Accept,
    /// The monitor rejects.
    Reject,
}

/// A model of MAP's loop: each subtask is researched, implemented and judged; a rejection goes back to
/// the actor, five times at most, from the second time on without the failed context.
struct Loop {
    left: Vec<&'static str>,
    due: &'static str,
    n_retries: u32,
}

impl Loop {
    fn passed(&mut self) {
        self.left.remove(0);
        self.due = if self.left.is_empty() {
            "COMPLETE"
        } else {
            "2.2"
        };
        self.n_retries = 0;
    }

    /// Returns what the command must answer: a key and its value.
    fn type_in(&mut self, typed: Typed) -> (&'static str, &'static str) {
        match (typed, self.due) {
            (Typed::Next, due) => ("step_id", due),
            (Typed::Close | Typed::Accept, "2.4") | (Typed::Accept, "2.3") => {
                self.passed();
                ("next_step", self.due)
            }
            (Typed::Close, "2.2") => {
                self.due = "2.3";
                ("next_step", "2.3")
            }
            (Typed::Close, _) => {
                self.due = "2.4";
                ("next_step", "2.4")
            }
            (Typed::Reject, "2.2") | (Typed::Accept, _) => ("status", "error"),
            (Typed::Reject, _) => {
                self.n_retries += 1;
                if self.n_retries > 5 {
                    return ("status", "max_retries");
                }
                self.due = "2.3";
                let is_first = self.n_retries == 1;
                let isolation = if is_first {
                    "normal_retry"
                } else {
                    "clean_retry_required"
                };
                ("retry_isolation", isolation)
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_commands_follows_the_loop_of_map(
        walk in prop::collection::vec(
            prop::sample::select(&[Typed::Next, Typed::Close, Typed::Accept, Typed::Reject, Typed::Reject][..]),
            1..30,
        ),
    ) {
        let mut project = researched(planned());
        project.says(&["initialize", "x"]);
        for step in ["1.0", "1.5"] {
            close(&mut project, step);
        }
        project.says(&["set_plan_approved", "yes"]);
        close(&mut project, "1.55");
        project.says(&["get_next_step"]);
        close(&mut project, "1.6");
        let left = vec!["ST-001", "ST-003", "ST-002"];
        let mut oracle = Loop { left, due: "2.2", n_retries: 0 };
        for typed in walk {
            // There is nothing to accept yet.
            if matches!(typed, Typed::Accept) && oracle.due == "2.2" {
                continue;
            }
            let due = oracle.due;
            let (key, value) = oracle.type_in(typed);
            let answer = match typed {
                Typed::Next => project.says(&["get_next_step"]),
                Typed::Close => close(&mut project, due),
                Typed::Accept => close(&mut project, "2.4"),
                Typed::Reject => project.says(&["monitor_failed", "--feedback", "BLOCKER: x"]),
            };
            prop_assert_eq!(&answer[key], value, "{:?} at {}: {}", typed, due, answer);
            if matches!(typed, Typed::Next) {
                // Asking again changes nothing.
                prop_assert!(project.type_in(&["get_next_step"]).actions.is_empty());
            }
            if oracle.due == "COMPLETE" {
                // A complete workflow stays complete.
                prop_assert_eq!(&project.says(&["get_next_step"])["is_complete"], true);
                prop_assert_eq!(&project.state()["workflow_status"], "WORKFLOW_COMPLETE");
                return Ok(());
            }
            let state = project.state();
            prop_assert_eq!(&state["current_subtask_id"], oracle.left[0]);
            prop_assert_eq!(&state["retry_count"], oracle.n_retries);
        }
    }
}
