//! The graph, its damage, and which task comes first: rulings 24 to 30, 34 and 41.

use super::scene_tests::{Scene, check, check_scene};

const READY: &str = "docs prd plan constitution\n";

#[test]
fn tasks_that_the_graph_lacks_count_for_nothing_but_their_failures() {
    // Ruling 24, and 23: an unknown task can be the last completed.
    check(
        &format!(
            "{READY}
             graph T1
             file tasks/Q9-mend.md ---\\ntask_id: Q9\\n---\\n## Task: Q9 - Mend it\\n\\n### Description\\nNot this\\n
             log a/a.jsonl
               10:00 task_completed T1
               10:01 task_failed Q9
               10:02 task_verified Q9
               10:03 task_failed X1
               10:04 note Z1"
        ),
        "states {T1:done}
         counts {pending:0,in_progress:0,done:1,failed:0,blocked:0,skipped:0}
         done 1
         total 1
         runnable []
         unknown_tasks [Q9,X1,Z1]
         failures {X1:1}
         last_completed {task:Q9,title:Mend it}
         last_activity 2026-01-19T10:04:00Z
         findings [UNKNOWN_TASK]",
    );
}

#[test]
fn a_task_event_without_a_task_is_activity_and_is_told_of() {
    for nameless in [
        "10:05 task_completed",
        "10:05 task_completed task_id=null",
        "10:05 task_completed task_id=[1]",
        "10:05 task_blocked details={\"blocking\":false}",
    ] {
        check(
            &format!("{READY} graph T1\n log a/a.jsonl\n {nameless}"),
            "states {T1:pending}
             unknown_tasks []
             last_activity 2026-01-19T10:05:00Z
             findings [UNKNOWN_TASK]",
        );
    }
    // Also without a graph, where a name alone is no finding; other events need name none.
    check(
        "log a/a.jsonl\n 10:00 task_started",
        "findings [UNKNOWN_TASK]",
    );
    check(
        "log a/a.jsonl\n 10:00 task_failed T1\n 10:00 task_graph_created\n 10:01 note",
        "findings [MISSING_ARTIFACT]
         failures {T1:1}
         unknown_tasks []",
    );
}

#[test]
fn without_a_readable_graph_the_total_is_not_known() {
    // Ruling 28.
    for graph in ["", "file task-graph.json {\"tasks\":["] {
        let corrupt = if graph.is_empty() {
            ""
        } else {
            "CORRUPT_TASK_GRAPH,"
        };
        check(
            &format!(
                "{READY} {graph}
                 file tasks/T1.md x
                 log a/a.jsonl
                   10:00 phase_transition 1>2
                   10:01 task_completed T1
                   10:02 task_failed T2
                   10:03 task_started T3"
            ),
            &format!(
                "done 1
                 total null
                 states {{}}
                 counts {{pending:0,in_progress:0,done:0,failed:0,blocked:0,skipped:0}}
                 runnable []
                 unknown_tasks []
                 failures {{T2:1}}
                 last_completed {{task:T1,title:}}
                 next_action {{kind:break_tasks}}
                 findings [{corrupt}MISSING_ARTIFACT]"
            ),
        );
    }
}

#[test]
fn a_graph_is_read_in_both_shapes_and_anything_else_is_corrupt() {
    for graph in [
        r#"{"tasks":[{"id":"T1","dependencies":[]},{"id":"T2","dependencies":["T1"]}]}"#,
        r#"{"task_graph":{"metadata":{},"tasks":[{"id":"T1"},{"id":"T2","dependencies":["T1"]}]}}"#,
        r#"{"metadata":{},"tasks":[{"id":"T1"},{"id":"T2","dependencies":["T1"]}],"execution_order":["T2",["T1"]]}"#,
        "\u{FEFF}{\"tasks\":[{\"id\":\"T1\"},{\"id\":\"T2\",\"dependencies\":\"T1\"}]}\r\n",
    ] {
        check_scene(
            &Scene::new("docs prd plan constitution").with("task-graph.json", graph),
            "states {T1:pending,T2:pending}
             runnable [T1]
             findings [MISSING_CONTRACT]",
        );
    }
    for graph in [
        "",
        "x",
        "[]",
        "null",
        "{}",
        r#"{"tasks":{}}"#,
        r#"{"tasks":[{"title":"no id"}]}"#,
        r#"{"tasks":["T1"]}"#,
        r#"{"task_graph":[]}"#,
    ] {
        check_scene(
            &Scene::new("docs prd plan constitution").with("task-graph.json", graph),
            "states {}
             next_action {kind:break_tasks}
             findings [CORRUPT_TASK_GRAPH,MISSING_ARTIFACT]",
        );
    }
}

#[test]
fn ids_are_opaque_and_may_be_numbers() {
    check_scene(
        &Scene::new(
            "docs prd plan constitution
             log a/a.jsonl
               10:00 task_completed task_id=1
               10:01 task_started T002-validate-input",
        )
        .with(
            "task-graph.json",
            r#"{"tasks":[{"id":1},{"id":"T002-validate-input","dependencies":[1]},{"id":"Ü x"}]}"#,
        ),
        "states {1:done,T002-validate-input:in_progress,Ü x:pending}
         runnable [T002-validate-input,Ü x]
         unknown_tasks []",
    );
}

#[test]
fn a_dependency_that_is_not_there_is_never_satisfied() {
    // Ruling 25, also for a dependency that events know.
    check(
        &format!(
            "{READY} graph T1<X9 T2<T1 T3
             log a/a.jsonl
               10:00 task_completed X9"
        ),
        "runnable [T3]
         findings [UNKNOWN_DEPENDENCY,UNKNOWN_TASK]",
    );
    check(
        &format!("{READY} graph T1<X9 T2<T1"),
        "runnable []
         next_action {kind:fix_task_graph}
         findings [UNKNOWN_DEPENDENCY]",
    );
}

#[test]
fn a_cycle_stops_its_members_and_what_needs_them_and_nothing_else() {
    // Ruling 26.
    check(
        &format!("{READY} graph T1<T3 T2<T1 T3<T2 T4<T3 T5"),
        "runnable [T5]
         next_action {kind:execute_task,task:T5,attempt:1}
         findings [DEPENDENCY_CYCLE]",
    );
    check(
        &format!("{READY} graph T1<T1 T2<T1"),
        "runnable []
         next_action {kind:fix_task_graph}
         findings [DEPENDENCY_CYCLE]",
    );
    // Something blocked comes before the graph.
    check(
        &format!(
            "{READY} graph T1<T1 T2 T3\n log a/a.jsonl\n 10:00 task_blocked T3\n 10:00 task_blocked T2"
        ),
        "next_action {kind:resolve_blockers,tasks:[T2,T3]}",
    );
}

#[test]
fn a_done_member_stands_and_lets_the_others_run() {
    // Ruling 27.
    check(
        &format!("{READY} graph T1<T3 T2<T1 T3<T2\n log a/a.jsonl\n 10:00 task_completed T2"),
        "states {T1:pending,T2:done,T3:pending}
         runnable [T3]
         findings []",
    );
    check(
        &format!("{READY} graph T1<T1\n log a/a.jsonl\n 10:00 task_completed T1"),
        "states {T1:done}\n findings []",
    );
    // Two others still depend on each other.
    check(
        &format!("{READY} graph T1<T2,T3 T2<T1 T3<T1\n log a/a.jsonl\n 10:00 task_completed T3"),
        "runnable []
         next_action {kind:fix_task_graph}
         findings [DEPENDENCY_CYCLE]",
    );
}

#[test]
fn the_first_of_two_equal_ids_counts() {
    // Ruling 30.
    check_scene(
        &Scene::new("docs prd plan constitution\n file tasks/T1.md x\n file tasks/T2.md x").with(
            "task-graph.json",
            r#"{"tasks":[{"id":"T1","title":"first"},{"id":"T2"},{"id":"T1","title":"second","dependencies":["T2"],"status":"skipped"}]}"#,
        ),
        "states {T1:pending,T2:pending}
         total 2
         runnable [T1,T2]
         findings [DUPLICATE_TASK]",
    );
}

#[test]
fn a_contract_is_the_tasks_own() {
    // Ruling 29.
    for (names, missing) in [
        ("T003.md T003-TEST.md", false),
        ("T003-add-thing.md T003-TEST-x.md", false),
        ("T003-TEST.md", true),
        ("T003-work.md T003-TEST.md", true),
        ("T003-add-work.md T003-TEST.md", true),
        ("T0031.md T003-TEST.md", true),
        ("T003-checkpoint.yaml T003.txt T003-TEST.md", true),
        ("t003.md T003-TEST.md", true),
    ] {
        let files = format!("file tasks/{} x", names.replace(' ', " x\n file tasks/"));
        let findings = if missing { "MISSING_CONTRACT" } else { "" };
        check(
            &format!("{READY} bare T003 T003-TEST<T003\n {files}"),
            &format!("findings [{findings}]"),
        );
    }
    // Only of tasks that are not finished, and a folder is no contract.
    check(
        &format!("{READY} bare T1 T2!\n log a/a.jsonl\n 10:00 task_completed T1"),
        "findings []",
    );
    check(
        &format!("{READY} bare T1\n folder tasks/T1.md"),
        "findings [MISSING_CONTRACT]",
    );
}

#[test]
fn an_id_that_leads_elsewhere_is_only_a_name() {
    let scene = Scene::new("docs prd plan constitution\n graph ../../x T2<../../x");
    check_scene(
        &scene,
        "states {../../x:pending,T2:pending}
         runnable [../../x]
         findings [MISSING_CONTRACT]",
    );
    let codes: Vec<&str> = scene
        .assessment()
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(codes, ["MISSING_CONTRACT", "UNSAFE_NAME"]);
}

#[test]
fn runnable_tasks_stand_in_the_order_of_selection() {
    // Ruling 34: in progress, quality, bootstrap, phase, graph; no phase is phase 0.
    check(
        &format!(
            "{READY} graph T1@2 T2@1 T3 Q1@9 H2@8 T4@3 T5@1
             log a/a.jsonl
               10:00 task_started T4
               10:01 task_failed T5"
        ),
        "runnable [T4,H2,Q1,T3,T2,T5,T1]
         next_action {kind:execute_task,task:T4,attempt:1}",
    );
    check_scene(
        &Scene::new("docs prd plan constitution").with(
            "task-graph.json",
            r#"{"tasks":[{"id":"T1","phase":1},{"id":"x","type":"Quality","phase":5},{"id":"T2","phase":"0"}]}"#,
        ),
        "runnable [x,T2,T1]",
    );
    // Letters alone make no kind.
    check(
        &format!("{READY} graph Tidy Quick Help Build Docs"),
        "runnable [Tidy,Quick,Help,Build,Docs]",
    );
    check(
        &format!(
            "{READY} graph D1 D2 B1@7 Q1\n log a/a.jsonl\n 10:00 task_implemented Q1\n 10:01 task_completed B1"
        ),
        "runnable [Q1,D1,D2]
         next_action {kind:verify_task,task:Q1,attempt:1}",
    );
}

#[test]
fn development_waits_for_all_of_the_bootstrap() {
    // Ruling 41.
    let graph = "graph D1 B1 B2<B1 D2<D1 T9";
    for (events, runnable) in [
        ("", "[B1,T9]"),
        ("10:00 task_completed B1", "[B2,T9]"),
        (
            "10:00 task_completed B1\n 10:01 task_completed B2",
            "[D1,T9]",
        ),
        ("10:00 task_completed B1\n 10:01 task_skipped B2", "[D1,T9]"),
        ("10:00 task_completed B1\n 10:01 task_blocked B2", "[T9]"),
        ("10:00 task_started D1", "[B1,T9]"),
    ] {
        check(
            &format!("{READY} {graph}\n log a/a.jsonl\n {events}"),
            &format!("runnable {runnable}"),
        );
    }
    // A bootstrap that waits for development is a knot of its own.
    check(
        &format!("{READY} graph B1<D1 D1\n log a/a.jsonl\n 10:00 phase_transition 3>4"),
        "runnable []
         next_action {kind:fix_task_graph}
         findings []",
    );
}

#[test]
fn what_can_run_does_not_depend_on_the_phase() {
    // Ruling 45.
    for phase in 0..=4 {
        check(
            &format!("{READY} graph T1 T2<T1\n log a/a.jsonl\n 10:00 phase_transition 0>{phase}"),
            "runnable [T1]",
        );
    }
}
