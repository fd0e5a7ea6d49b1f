//! Tests of the graph, its damage, and the selection of tasks.

use super::scene_tests::{Scene, check, check_scene};

const READY: &str = "docs prd plan constitution\n";

#[test]
fn unknown_tasks_only_count_their_failures() {
    // An unknown task can be the last completed one.
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
fn reports_task_events_without_a_task() {
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
    // Without a graph a name is not a finding; other events need no task.
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
fn without_a_graph_the_total_is_unknown() {
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
fn reads_both_graph_shapes_and_rejects_others() {
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
fn unknown_dependencies_are_never_satisfied() {
    // Also for a dependency that events name.
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
fn cycles_block_only_members_and_dependents() {
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
fn a_done_member_breaks_a_cycle() {
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
fn contracts_belong_to_one_task() {
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
    // Only for unfinished tasks; a folder is not a contract.
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
fn unsafe_ids_lead_to_no_file() {
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
fn sorts_runnable_tasks_by_selection() {
    // In progress, quality, bootstrap, phase, graph; a missing phase is 0.
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
fn runnable_tasks_do_not_depend_on_the_phase() {
    for phase in 0..=4 {
        check(
            &format!("{READY} graph T1 T2<T1\n log a/a.jsonl\n 10:00 phase_transition 0>{phase}"),
            "runnable [T1]",
        );
    }
}
