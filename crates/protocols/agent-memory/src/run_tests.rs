//! Runs as a whole: which one, whether it is over, when something last happened: rulings 19 to 23,
//! 31, 43 and 44, the facts paragraph, and what can not be read.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::State;
use rekindle_world::{
    DatabaseQuestion, DatabaseRow, Entry, GitAnswer, GitQuestion, Meta, Ownership, ReadError, World,
};

use super::AgentMemory;
use super::scene_tests::{RUN, Scene, check, check_scene, in_run, render};
use rekindle_protocol::{Ask, Protocol};

#[test]
fn the_entry_is_as_the_seed_names_it() {
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
    // A name that is also the beginning of another is meant as it stands.
    check("ask r\n run r\n run r2", "/entry specified\n /selected r");
    // Ruling 20: a complete run can be named; it is reported as complete.
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
fn all_keys_of_a_run_are_always_there() {
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
fn an_end_is_an_end_until_work_goes_on() {
    // Rulings 19 and 44.
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
        // What opens it again, and what does not.
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
fn a_summary_alone_tells_of_an_end() {
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
fn a_document_in_which_nothing_stands_proves_nothing() {
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
fn a_summary_above_open_tasks_is_told_of() {
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
fn a_complete_run_is_neither_stale_nor_lacking() {
    // Ruling 43; what is wrong with its files is told nevertheless.
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
fn a_run_is_stale_from_the_seventh_day_on() {
    // Ruling 21.
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
    // Ruling 22: any type, any log, to the second; foreign events do not count.
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
    // Ruling 23.
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
fn events_of_another_run_are_ignored_unless_all_are_of_it() {
    // Ruling 31.
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
    // A renamed folder: events that name no run do not stand against it.
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

#[test]
fn names_of_runs_are_read_leniently_and_judged_by_the_regex() {
    for (name, conforming) in [
        ("20260115-1030-add-validation-a1b2", true),
        ("20260115-1030-feature-abc123", false),
        ("20260124-1234-feature-x", false),
        ("2026-01-24-abcdefgh", false),
        ("My Run", false),
    ] {
        let scene = Scene::new(&format!("run {name}"));
        let facts = render(&scene.fact("/runs"));
        let findings = if conforming {
            ""
        } else {
            "RUN_ID_NONCONFORMING"
        };
        assert!(facts.contains(&format!("findings:[{findings}]")), "{facts}");
    }
}

#[test]
fn files_and_hidden_folders_beside_the_runs_are_no_runs() {
    let mut scene = Scene::new("docs prd");
    let runs = Utf8Path::new(".agent-memory/runs");
    scene.world = scene
        .world
        .file(runs.join("README.md"), "x")
        .folder(runs.join(".trash"))
        .file(runs.join("20260101-0900-file-aaaa"), "x");
    check_scene(&scene, &format!("/entry continue\n /incomplete [{RUN}]"));
    assert!(AgentMemory.is_here(&scene.world));
    assert!(!AgentMemory.is_here(&Scene::new("run ").world));
}

#[test]
fn a_linked_run_counts_if_it_stays_inside_the_project() {
    let linked = |target: &str| {
        let mut scene = Scene::new("run ");
        scene.world = scene
            .world
            .file(format!("{target}/prd.md"), "x")
            .link(in_run(RUN, ""), target);
        scene
    };
    check_scene(
        &linked("/project/elsewhere/run"),
        &format!("/incomplete [{RUN}]\n phase 1\n findings []"),
    );
    let outside = linked("/outside/run");
    check_scene(&outside, "/entry fresh_start\n /incomplete []\n /runs {}");
    let codes: Vec<&str> = outside
        .assessment()
        .findings
        .iter()
        .map(|f| f.code.as_str())
        .collect();
    assert_eq!(codes, ["OUTSIDE_PROJECT"]);
}

#[test]
fn links_below_a_run_are_followed_only_inside_the_project() {
    let mut scene = Scene::new(
        "docs prd plan constitution
         graph T1 T2
         link events/a/in.jsonl /project/logs/in.jsonl
         link events/a/out.jsonl /outside/out.jsonl
         link events/a/gone.jsonl /project/nothing.jsonl
         link events/loop /project/.agent-memory",
    );
    let event = |task: &str| {
        format!(
            "{{\"type\":\"task_completed\",\"task_id\":\"{task}\",\"timestamp\":\"2026-01-19T10:00:00Z\"}}\n"
        )
    };
    scene.world = scene
        .world
        .file("logs/in.jsonl", event("T1"))
        .file("/outside/out.jsonl", event("T2"));
    check_scene(&scene, "states {T1:done,T2:pending}\n findings []");
}

#[test]
fn what_can_not_be_read_keeps_the_run_from_going_on() {
    for scene in [
        "docs prd\n denied events/a/a.jsonl",
        "docs prd\n denied task-graph.json",
    ] {
        let scene = Scene::new(scene);
        let assessment = scene.assessment();
        let blockers: Vec<&str> = assessment.blockers().map(|f| f.code.as_str()).collect();
        assert_eq!(blockers, ["UNREADABLE_FILE"]);
        // It is no code of the run's closed set.
        check_scene(&scene, "findings []");
    }
}

/// A world in which a log is gone as soon as one wants to read it.
struct Vanishing(Scene);

impl World for Vanishing {
    fn project(&self) -> &Utf8Path {
        self.0.world.project()
    }
    fn now(&self) -> Timestamp {
        self.0.world.now()
    }
    fn zone(&self) -> jiff::tz::TimeZone {
        self.0.world.zone()
    }
    fn modified(&self, path: &Utf8Path) -> Option<Timestamp> {
        self.0.world.modified(path)
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.0.world.variable(name)
    }
    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError> {
        self.0.world.stat(path)
    }
    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        self.0.world.list(folder)
    }
    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        self.0.world.resolve(path)
    }
    fn read(&self, path: &Utf8Path, _: u64) -> Result<Vec<u8>, ReadError> {
        // Documents are looked into where they are so short that they may be empty.
        let is_read = path.ends_with("task-graph.json") || path.extension() == Some("md");
        assert!(is_read, "{path} is not read");
        Err(ReadError::NotFound)
    }
    fn stream(&self, _: &Utf8Path, _: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        Err(ReadError::NotFound)
    }
    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        self.0.world.ownership(path)
    }
    fn git(&self, _: &Utf8Path, _: &GitQuestion) -> Result<GitAnswer, ReadError> {
        Err(ReadError::NotFound)
    }
    fn database(&self, _: &Utf8Path, _: &DatabaseQuestion) -> Result<Vec<DatabaseRow>, ReadError> {
        Err(ReadError::NotFound)
    }
}

#[test]
fn what_vanishes_while_it_is_read_is_not_there() {
    let world = Vanishing(Scene::new(
        "docs prd plan\n graph T1\n log a/a.jsonl\n 10:00 task_started T1",
    ));
    let case = AgentMemory.inspect(&world, &Ask::default());
    let codes: Vec<&str> = case
        .assessment()
        .findings
        .iter()
        .map(|f| f.code.as_str())
        .collect();
    assert_eq!(codes, ["VANISHED_FILE"]);
    let facts = render(&case.assessment().facts);
    assert!(
        facts.contains("next_action:{kind:break_tasks},stale:false,findings:[]"),
        "{facts}"
    );
}
