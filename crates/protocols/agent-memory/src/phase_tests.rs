//! Tests of phases, missing documents and the next action.

use super::scene_tests::{Scene, check, check_scene};

/// Documents and events, and the phase with its source and the next action.
fn check_phase(scene: &str, phase: &str, next: &str) {
    check(
        scene,
        &format!("phase {phase}\n next_action {{kind:{next}}}"),
    );
}

const ALL: &str = "docs prd plan constitution\n graph T1 T2<T1\n";

#[test]
fn infers_the_phase_from_documents_without_transitions() {
    // `phase_source` is `artifacts`, also for phase 0.
    for (scene, phase, next) in [
        ("", 0, "create_prd"),
        ("docs plan", 0, "create_prd"),
        ("docs prd", 1, "create_plan"),
        ("docs prd plan", 1, "break_tasks"),
        ("docs prd plan\n graph T1", 1, "await_approval"),
        (
            "docs prd plan constitution\n graph T1",
            2,
            "execute_task,task:T1,attempt:1",
        ),
        (
            "docs prd plan\n graph T1\n log a/a.jsonl\n 10:00 task_ready T1",
            1,
            "await_approval",
        ),
        (
            "docs prd plan\n graph T1\n log a/a.jsonl\n 10:00 task_started T1",
            2,
            "create_constitution",
        ),
        (
            "docs prd plan\n graph T1\n log a/a.jsonl\n 10:00 task_completed T1",
            2,
            "create_constitution",
        ),
        (
            "docs prd plan constitution\n graph T1\n log a/a.jsonl\n 10:00 task_completed T1",
            3,
            "run_cleanup",
        ),
        ("docs prd plan constitution\n graph T1!", 3, "run_cleanup"),
        (
            "docs prd plan constitution pr-checklist\n graph T1",
            4,
            "run_consolidation",
        ),
        ("docs pr-checklist", 4, "create_prd"),
        ("docs constitution", 2, "execute_small_task"),
        ("log a/a.jsonl\n 10:00 run_started", 0, "create_prd"),
    ] {
        // The folder of a run may be empty.
        let scene = format!("folder tasks\n {scene}");
        check(
            &scene,
            &format!("phase {phase}\n phase_source artifacts\n next_action {{kind:{next}}}"),
        );
    }
}

#[test]
fn transitions_override_documents() {
    for (events, phase, next) in [
        ("0>0", 0, "transition_to_execution"),
        ("0>1", 1, "transition_to_execution"),
        ("1>2", 2, "execute_task,task:T1,attempt:1"),
        ("2>3", 3, "run_cleanup"),
        ("3>4", 4, "run_consolidation"),
    ] {
        check(
            &format!("{ALL} log a/a.jsonl\n 10:00 phase-transition {events}"),
            &format!(
                "phase {phase}\n phase_source events\n next_action {{kind:{next}}}\n findings []"
            ),
        );
    }
    // A document ahead of its phase is not a finding.
    check(
        &format!(
            "{ALL} docs cleanup-report pr-checklist\n log a/a.jsonl\n 10:00 phase_transition 0>1"
        ),
        "phase 1\n findings []",
    );
    // Reads numbers as text or under `details`; ignores a transition without a target.
    check_phase(
        &format!(
            "{ALL} log a/a.jsonl\n 10:00 phase_transition details={{\"from_phase\":\"1\",\"to_phase\":\"2\"}}"
        ),
        "2",
        "execute_task,task:T1,attempt:1",
    );
    check(
        "docs prd\n log a/a.jsonl\n 10:00 phase_transition to_phase=soon",
        "phase 1\n phase_source artifacts",
    );
}

#[test]
fn other_events_about_phases_never_decide() {
    check(
        "docs prd
         log a/a.jsonl
           10:00 phase_started phase=3
           10:01 phase_complete phase=3
           10:02 phase_completed phase=3
           10:03 phase_gate_passed phase=3 to_phase=3",
        "phase 1\n phase_source artifacts\n findings []",
    );
}

#[test]
fn the_latest_transition_decides_whatever_its_log() {
    check_phase(
        &format!(
            "{ALL} log z/z.jsonl
               10:00 phase_transition 0>1
               10:30 phase_transition 1>2
             log a/a.jsonl
               11:00 phase_transition 2>3
               10:45 phase_transition 3>2"
        ),
        "3",
        "run_cleanup",
    );
}

#[test]
fn simultaneous_transitions_follow_each_other() {
    // Within a log the lines decide; between logs the folder's name never does.
    for (moves, phase) in [
        (["1>2", "2>3", "3>4"], 4),
        (["1>2", "2>1", "0>0"], 0),
        (["1>2+2>3", "3>2", "2>2"], 2),
        (["?>2", "?>3", "?>1"], 1),
    ] {
        for names in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
            let mut scene = format!("{ALL} log m/m.jsonl\n 10:00 phase_transition 0>1\n");
            for (log, name) in moves.iter().zip(names) {
                scene.push_str(&format!("log {name}/x.jsonl\n"));
                for step in log.split('+') {
                    scene.push_str(&format!("10:05 phase_transition {step}\n"));
                }
            }
            check(&scene, &format!("phase {phase}"));
        }
    }
}

#[test]
fn a_move_back_revokes_the_approval() {
    let back = "10:00 phase_transition 0>1\n 10:01 phase_transition 1>2\n";
    for (moves, phase, next) in [
        ("10:02 phase_transition 2>1", 1, "await_approval"),
        ("10:02 phase_transition 2>0", 0, "await_approval"),
        (
            "10:02 phase_transition 2>0\n 10:03 phase_transition 0>1",
            1,
            "await_approval",
        ),
        ("10:02 phase_transition 3>1", 1, "await_approval"),
        // Whatever start it names, the run was further.
        ("10:02 phase_transition 0>1", 1, "await_approval"),
        ("10:02 phase_transition ?>1", 1, "await_approval"),
        (
            "10:02 phase_transition 2>1\n 10:03 phase_transition 1>2",
            2,
            "execute_task,task:T1,attempt:1",
        ),
        // Back from a later phase to execution leaves the approval alone.
        (
            "10:02 phase_transition 2>3\n 10:03 phase_transition 3>2",
            2,
            "execute_task,task:T1,attempt:1",
        ),
    ] {
        check_phase(
            &format!("{ALL} log a/a.jsonl\n {back} {moves}"),
            &phase.to_string(),
            next,
        );
    }
    // From 1 back to 0 as well, and its notes are quoted.
    let scene = Scene::new(&format!(
        "{ALL} log a/a.jsonl
           10:00 phase_transition 0>1
           10:01 phase_transition 1>0 notes=more-tests"
    ));
    let summary = scene.assessment().workflows[0].next.summary.clone();
    assert_eq!(
        summary,
        "Wait for a new approval of the plan, which was moved back: more-tests"
    );
    // No move back: approved, and only the event is missing.
    check_phase(
        &format!("{ALL} log a/a.jsonl\n 10:00 phase_transition 0>1"),
        "1",
        "transition_to_execution",
    );
}

#[test]
fn reports_missing_documents_of_earlier_phases() {
    // Documents that the phase still has to write are not findings.
    for (phase, docs, next, missing) in [
        (0, "", "create_prd", false),
        (0, "prd", "create_plan", false),
        (1, "", "create_prd", true),
        (1, "prd", "create_plan", false),
        (1, "prd plan", "break_tasks", false),
        (1, "prd plan G", "await_approval", false),
        (2, "", "create_prd", true),
        (2, "prd plan constitution", "break_tasks", true),
        (2, "prd plan G", "create_constitution", true),
        (2, "prd constitution G", "create_plan", true),
        (2, "plan constitution G", "create_prd", true),
        (
            2,
            "prd plan constitution G",
            "execute_task,task:T1,attempt:1",
            false,
        ),
        (3, "prd plan G", "create_constitution", true),
        (3, "prd plan constitution G", "run_cleanup", false),
        (4, "prd plan constitution", "break_tasks", true),
        (4, "prd plan constitution G", "run_consolidation", false),
        // Small runs: a constitution and nothing else, in any phase.
        (0, "constitution", "transition_to_execution", false),
        (1, "constitution", "transition_to_execution", false),
        (2, "constitution", "execute_small_task", false),
        (3, "constitution", "run_cleanup", false),
        (3, "constitution cleanup-report", "run_pr_prep", false),
        (4, "constitution", "run_consolidation", false),
        (2, "constitution prd", "create_plan", true),
        (2, "constitution G", "create_prd", true),
    ] {
        let graph = if docs.contains('G') { "graph T1" } else { "" };
        let docs: Vec<&str> = docs.split(' ').filter(|doc| *doc != "G").collect();
        let docs = match docs.join(" ") {
            docs if docs.is_empty() => docs,
            docs => format!("docs {docs}\n"),
        };
        let findings = if missing { "MISSING_ARTIFACT" } else { "" };
        let scene = format!("{docs} {graph}\n log a/a.jsonl\n 10:00 phase_transition 0>{phase}");
        check(
            &scene,
            &format!("phase {phase}\n next_action {{kind:{next}}}\n findings [{findings}]"),
        );
    }
    // A small run without approval waits like any other.
    check_phase(
        "docs constitution\n log a/a.jsonl\n 10:00 phase_transition 1>2\n 10:01 phase_transition 2>1",
        "1",
        "await_approval",
    );
    // An unreadable graph is missing, but does not make a run small.
    check(
        "docs constitution\n file task-graph.json x\n log a/a.jsonl\n 10:00 phase_transition 1>2",
        "next_action {kind:create_prd}\n findings [CORRUPT_TASK_GRAPH,MISSING_ARTIFACT]",
    );
    check(
        "docs prd plan\n file task-graph.json x",
        "phase 1\n next_action {kind:break_tasks}\n findings [CORRUPT_TASK_GRAPH]",
    );
}

#[test]
fn folders_are_not_documents() {
    check("folder prd.md", "phase 0\n next_action {kind:create_prd}");
}

#[test]
fn execution_ends_with_a_verification() {
    check_phase(
        &format!(
            "{ALL} log a/a.jsonl
               10:00 phase_transition 1>2
               10:01 task_completed T1
               10:02 task_verified T2"
        ),
        "2",
        "verify_phase_and_transition",
    );
    // A task that is new after that is executed first.
    check_phase(
        "docs prd plan constitution
         graph T1 Q1
         log a/a.jsonl
           10:00 phase_transition 1>2
           10:01 task_completed T1",
        "2",
        "execute_task,task:Q1,attempt:1",
    );
}

#[test]
fn cleanup_precedes_the_pull_request() {
    for (extra, next) in [
        ("", "run_cleanup"),
        ("docs pr-checklist", "run_cleanup"),
        ("docs cleanup-report", "run_pr_prep"),
        ("10:01 cleanup_completed", "run_pr_prep"),
        ("10:01 cleanup_started", "run_cleanup"),
        ("docs cleanup-report pr-checklist", "present_pr"),
        (
            "docs pr-checklist\n log b/b.jsonl\n 10:01 cleanup-completed",
            "present_pr",
        ),
    ] {
        check_phase(
            &format!("{ALL} log a/a.jsonl\n 10:00 phase_transition 2>3\n {extra}"),
            "3",
            next,
        );
    }
}

#[test]
fn reads_phase_numbers_of_later_protocols() {
    // Any of the signs is enough, and the number stays as it was logged.
    for sign in [
        "file workflow-state.json {\"workflow\":{\"current_phase\":11}}",
        "docs bootstrap-plan",
        "graph T1 T2 B1",
        "graph T1 T2 D1",
    ] {
        for (phase, next) in [
            (0, "transition_to_execution"),
            (1, "transition_to_execution"),
            (2, "transition_to_execution"),
            (3, "transition_to_execution"),
            (5, "run_cleanup"),
            (6, "run_consolidation"),
            (7, "transition_to_execution"),
            (8, "transition_to_execution"),
            (10, "run_cleanup"),
            (11, "run_consolidation"),
        ] {
            check(
                &format!("{ALL} {sign}\n log a/a.jsonl\n 10:00 phase_transition 0>{phase}"),
                &format!("phase {phase}\n next_action {{kind:{next}}}\n findings []"),
            );
        }
        for phase in [4, 9] {
            check(
                &format!("{ALL} {sign}\n log a/a.jsonl\n 10:00 phase_transition 0>{phase}"),
                &format!("phase {phase}\n next_action.kind execute_task\n findings []"),
            );
        }
    }
    // A move back from execution revokes the approval here too.
    check_phase(
        &format!(
            "{ALL} docs bootstrap-plan
             log a/a.jsonl
               10:00 phase_transition 3>4
               10:01 phase_transition 4>2"
        ),
        "2",
        "await_approval",
    );
}

#[test]
fn reports_unknown_phases() {
    for (phase, next) in [
        (5, "run_consolidation"),
        (9, "run_consolidation"),
        (-1, "transition_to_execution"),
    ] {
        check(
            &format!("{ALL} log a/a.jsonl\n 10:00 phase_transition 2>{phase}"),
            &format!("phase {phase}\n findings [PHASE_OUT_OF_RANGE]"),
        );
        // The nearest base phase decides the next action; a move back below 0 revokes the approval
        // too.
        let next = if phase < 0 { "await_approval" } else { next };
        check_phase(
            &format!("{ALL} log a/a.jsonl\n 10:00 phase_transition 2>{phase}"),
            &phase.to_string(),
            next,
        );
    }
    // Only the latest counts.
    check(
        &format!("{ALL} log a/a.jsonl\n 10:00 phase_transition 2>9\n 10:01 phase_transition 9>2"),
        "phase 2\n findings []",
    );
}

#[test]
fn ignores_the_state_file_of_later_protocols() {
    check(
        "docs prd
         file workflow-state.json {\"workflow\":{\"current_phase\":9,\"status\":\"completed\"}}",
        "phase 1\n complete false\n findings []",
    );
}

#[test]
fn an_empty_graph_is_finished() {
    check_scene(
        &Scene::new("docs prd plan constitution\n log a/a.jsonl\n 10:00 phase_transition 1>2")
            .with("task-graph.json", r#"{"tasks":[]}"#),
        "total 0\n next_action {kind:verify_phase_and_transition}\n findings []",
    );
}
