//! Tests of whole runs: the selected one, whether it is over, and its last activity.

use rekindle_model::State;

use super::scene_tests::{RUN, Scene, check, check_scene, render};

#[test]
fn selects_the_prescribed_entry() {
    const DONE: &str = "log a/a.jsonl\n 10:00 run_completed\n";
    let two = "run 20260119-0900-b-bbbb\n run 20260118-0900-a-aaaa";
    let table = [
        ("run ", "fresh_start", "null"),
        (DONE, "fresh_start", "null"),
        ("docs prd", "continue", RUN),
        (two, "ask_which_run", "null"),
        (
            "ask 20260118-0900-a-aaaa\n run 20260119-0900-b-bbbb\n run 20260118-0900-a-aaaa",
            "specified",
            "20260118-0900-a-aaaa",
        ),
        (
            "ask 20260118\n run 20260119-0900-b-bbbb\n run 20260118-0900-a-aaaa",
            "specified",
            "20260118-0900-a-aaaa",
        ),
        (
            "ask 202601\n run 20260119-0900-b-bbbb\n run 20260118-0900-a-aaaa",
            "unknown_run",
            "null",
        ),
        ("ask nope\n docs prd", "unknown_run", "null"),
        ("ask ../x\n docs prd", "unknown_run", "null"),
    ];
    for (scene, entry, selected) in table {
        check(scene, &format!("/entry {entry}\n /selected {selected}"));
    }
    check(
        two,
        "/incomplete [20260118-0900-a-aaaa,20260119-0900-b-bbbb]",
    );
    // A name that is also the start of another one selects its own run.
    check("ask r\n run r\n run r2", "/entry specified\n /selected r");
    // A complete run can be named; it is reported as complete.
    let named = Scene::new(&format!("ask {RUN}\n docs prd\n {DONE}"));
    check_scene(
        &named,
        &format!(
            "/entry specified\n /selected {RUN}\n /incomplete []\n complete true\n next_action {{kind:none_run_complete}}"
        ),
    );
    assert_eq!(named.assessment().state, State::Complete);
}

#[test]
fn facts_always_have_all_keys() {
    let scene = Scene::new("ask nope\n folder tasks");
    assert_eq!(
        render(&scene.facts()),
        format!(
            "{{entry:unknown_run,selected:null,incomplete:[{RUN}],runs:{{{RUN}:{{run_id:{RUN},complete:false,outcome:null,\
             phase:0,phase_source:artifacts,done:0,total:null,\
             counts:{{pending:0,in_progress:0,done:0,failed:0,blocked:0,skipped:0}},states:{{}},runnable:[],failures:{{}},\
             last_activity:2026-01-19T09:00:00Z,last_completed:null,unknown_tasks:[],next_action:{{kind:create_prd}},\
             stale:false,findings:[]}}}}}}"
        )
    );
}

#[test]
fn a_run_is_over_until_it_is_reopened() {
    for (events, outcome) in [
        ("10:00 run_completed", "run_completed"),
        ("10:00 run-complete", "run_complete"),
        ("10:00 run_cancelled", "run_cancelled"),
        ("10:00 run_failed", "run_failed"),
        (
            "10:00 run_failed details={\"recovery_possible\":false}",
            "run_failed",
        ),
        (
            "10:00 run_failed details={\"recovery_possible\":true}",
            "null",
        ),
        ("10:00 run_failed recovery_possible=true", "null"),
        ("10:00 stm_archived", "stm_archived"),
        ("10:00 run_started", "null"),
        ("10:00 consolidation_completed", "null"),
        // The last end counts.
        (
            "10:00 run_failed\n 10:01 run_completed\n 10:02 stm_archived",
            "stm_archived",
        ),
        // What reopens it, and what does not.
        ("10:00 run_completed\n 10:01 task_started T1", "null"),
        ("10:00 run_completed\n 10:01 task_created T9", "null"),
        ("10:00 run_completed\n 10:01 phase_transition 4>2", "null"),
        ("10:00 run_completed\n 10:01 session-resumed", "null"),
        ("10:00 run_completed\n 10:00 session_resumed", "null"),
        (
            "10:00 session_resumed\n 10:00 run_completed",
            "run_completed",
        ),
        (
            "10:00 run_completed\n 10:01 note\n 10:02 ltm_update",
            "run_completed",
        ),
        (
            "10:00 run_completed\n 10:01 checkpoint_created",
            "run_completed",
        ),
        (
            "10:00 run_completed\n 09:59 task_started T1",
            "run_completed",
        ),
        (
            "10:00 run_completed\n 10:01 task_started T1\n 10:02 run_cancelled",
            "run_cancelled",
        ),
        (
            "10:00 run_completed\n 10:01 run_failed recovery_possible=true",
            "run_completed",
        ),
    ] {
        let complete = outcome != "null";
        check(
            &format!("log a/a.jsonl\n {events}"),
            &format!("complete {complete}\n outcome {outcome}"),
        );
    }
}

#[test]
fn a_summary_completes_a_run() {
    for (scene, outcome) in [
        ("docs summary", "summary.md"),
        (
            "docs summary\n log a/a.jsonl\n 10:00 task_started T1",
            "summary.md",
        ),
        (
            "docs summary\n log a/a.jsonl\n 10:00 run_failed recovery_possible=true",
            "summary.md",
        ),
        (
            "docs summary\n log a/a.jsonl\n 10:00 run_complete",
            "run_complete",
        ),
        (
            "docs summary\n log a/a.jsonl\n 10:00 run_complete\n 10:01 session_resumed",
            "null",
        ),
    ] {
        check(scene, &format!("outcome {outcome}"));
    }
}

#[test]
fn empty_documents_do_not_count() {
    let working = "docs prd plan constitution\n graph T1\n log a/a.jsonl\n 09:00 phase_transition 1>2\n 10:00 task_started T1";
    for blank in ["", "\n", " \t\r\n\n", "\u{feff}\n", "\0\0\0"] {
        let scene = Scene::new(working).with("summary.md", blank);
        check_scene(&scene, "complete false\n outcome null\n findings []");
        let findings = scene.assessment().findings;
        let codes: Vec<&str> = findings.iter().map(|f| f.code.as_str()).collect();
        assert_eq!(codes, ["EMPTY_DOCUMENT"], "{blank:?}");

        let planned = Scene::new("docs prd plan\n graph T1").with("constitution.md", blank);
        check_scene(&planned, "phase 1\n next_action.kind await_approval");
        let working = Scene::new(working).with("constitution.md", blank);
        check_scene(
            &working,
            "next_action.kind create_constitution\n findings [MISSING_ARTIFACT]",
        );
    }
    let scene = Scene::new(working).with("summary.md", "x");
    check_scene(&scene, "complete true\n outcome summary.md\n findings []");
}

#[test]
fn reports_open_tasks_of_a_complete_run() {
    let codes = |scene: &str| -> Vec<&str> {
        let findings = Scene::new(scene).assessment().findings;
        findings.iter().map(|f| f.code.as_str()).collect()
    };
    let done = "graph T1 T2!\n log a/a.jsonl\n 10:00 task_completed T1";
    for (scene, wanted) in [
        ("docs summary\n graph T1 T2".to_owned(), vec!["OPEN_TASKS"]),
        (format!("docs summary\n {done}"), vec![]),
        // An event that ends the run was written for it.
        (
            "docs summary\n graph T1\n log a/a.jsonl\n 10:00 run_cancelled".to_owned(),
            vec![],
        ),
    ] {
        assert_eq!(codes(&scene), wanted, "{scene}");
        check(&scene, "complete true\n findings []");
    }
}

#[test]
fn complete_runs_are_not_stale_or_incomplete() {
    // Damaged files are still reported.
    check(
        "now 2027-01-01T00:00:00Z
         bare T1 T1 T2<X
         log a/a.jsonl
           09:00 phase_transition 1>2
           10:00 run_completed",
        "complete true
         stale false
         findings [DUPLICATE_TASK,UNKNOWN_DEPENDENCY]",
    );
}

#[test]
fn a_run_is_stale_after_seven_days() {
    for (now, stale) in [
        ("2026-01-26T09:59:59Z", false),
        ("2026-01-26T10:00:00Z", true),
        ("2026-03-01T00:00:00Z", true),
        ("2026-01-19T10:00:00Z", false),
        ("2026-01-01T00:00:00Z", false),
    ] {
        let findings = if stale { "STALE_RUN" } else { "" };
        check(
            &format!("now {now}\n log a/a.jsonl\n 10:00 note"),
            &format!("stale {stale}\n findings [{findings}]"),
        );
    }
    // A run without any time is of no age.
    let scene = Scene::new("now 2030-01-01T00:00:00Z\n run thing");
    assert!(render(&scene.fact("/runs.thing")).contains(
        "last_activity:null,last_completed:null,unknown_tasks:[],next_action:{kind:create_prd},stale:false,findings:[RUN_ID_NONCONFORMING]"
    ));
}

#[test]
fn a_resume_without_work_leaves_a_run_stale() {
    check(
        "now 2026-01-26T12:00:00Z
         log a/a.jsonl
           10:00 note
           23:00 session_resumed",
        "stale true
         findings [STALE_RUN]
         last_activity 2026-01-19T23:00:00Z",
    );
}

#[test]
fn the_last_activity_is_the_latest_event_or_the_time_of_the_name() {
    // Any type, any log, to the second; events of other runs do not count.
    check(
        "log a/a.jsonl
           10:00 task_started T1
         log b/b.jsonl
           |{\"type\":\"whatever\",\"timestamp\":\"2026-01-19T12:30:15.999+02:00\"}
           11:00 note run_id=other
           09:00 note run_id=20260119-0900-orders-api-k2l3",
        "last_activity 2026-01-19T10:30:15Z",
    );
    check("docs prd", "last_activity 2026-01-19T09:00:00Z");
    check(
        "log a/a.jsonl\n - note",
        "last_activity 2026-01-19T09:00:00Z\n findings [MISSING_TIMESTAMP]",
    );
}

#[test]
fn the_last_completed_task_has_its_title_from_graph_or_contract() {
    let events = "log a/a.jsonl\n 10:00 task_completed T1\n 10:01 task_verified T2\n 10:02 task_completed T3\n 10:03 task_failed T3";
    let graph =
        |title: &str| format!(r#"{{"tasks":[{{"id":"T1"}},{{"id":"T2"{title}}},{{"id":"T3"}}]}}"#);
    for (title, contract, expected) in [
        (
            r#","title":"From graph""#,
            "## Task: T2 - From contract\n",
            "From graph",
        ),
        ("", "## Task: T2 - From contract\n", "From contract"),
        (
            r#","title":"""#,
            "---\ntask_id: T2\n---\n\n## Task: T2: From contract\n",
            "From contract",
        ),
        ("", "## Task: T2 From contract ##\n", "From contract"),
        ("", "## Task: T2\n\n### Description\nNo title\n", ""),
        ("", "## Task: T2-TEST - Another's\n", ""),
        ("", "## Task: T21 - Another's\n", ""),
        ("", "Task: T2 - no heading\n", ""),
        ("", "", ""),
    ] {
        let scene = Scene::new(events)
            .with("task-graph.json", graph(title))
            .with("tasks/T2-some-slug.md", contract);
        check_scene(
            &scene,
            &format!("last_completed {{task:T2,title:{expected}}}"),
        );
    }
    check(
        "log a/a.jsonl\n 10:00 task_completed T1\n 10:01 task_started T1",
        "last_completed null",
    );
    check(
        "log a/a.jsonl\n 10:01 task_completed T1\n 10:00 task_completed T2",
        "last_completed {task:T1,title:}",
    );
}

#[test]
fn ignores_events_of_other_runs_unless_the_folder_was_renamed() {
    check(
        "docs prd plan constitution
         graph T1 T2
         log a/a.jsonl
           10:00 task_started T1 run_id=20260119-0900-orders-api-k2l3
           10:01 task_completed T2 run_id=20260101-0900-other-aaaa
           10:02 phase_transition 1>3 run_id=20260101-0900-other-aaaa
           10:03 run_completed run_id=20260101-0900-third-bbbb
           10:04 task_completed Z9 run_id=20260101-0900-third-bbbb",
        "states {T1:in_progress,T2:pending}
         phase 2
         phase_source artifacts
         complete false
         unknown_tasks []
         last_activity 2026-01-19T10:00:00Z
         findings [RUN_ID_MISMATCH]",
    );
    // A renamed folder: events without a run id do not prevent it.
    for nameless in ["10:02 note", "10:02 note run_id=", "10:02 note run_id=null"] {
        check(
            &format!(
                "docs prd plan constitution
                 graph T1
                 log a/a.jsonl
                   10:00 phase_transition 1>2 run_id=20260101-0900-old-aaaa
                   10:01 task_started T1 run_id=20260101-0900-old-aaaa
                   {nameless}"
            ),
            "states {T1:in_progress}
             phase_source events
             last_activity 2026-01-19T10:02:00Z
             findings [RUN_ID_MISMATCH]",
        );
    }
    // Two other names agree on nothing.
    check(
        "docs prd plan constitution
         graph T1
         log a/a.jsonl
           10:00 task_started T1 run_id=x
           10:01 task_started T1 run_id=y",
        "states {T1:pending}\n findings [RUN_ID_MISMATCH]",
    );
}
