//! Check boxes of any Markdown file.

use rekindle_testkit::repository::WRITE;

use crate::stage::{assert_ended, project, said, write};
use crate::{committed, json};

const TODO: &str = "# Shop\r\n\r\n- [ ] Add login\r\n  - [ ] with a form\r\n- [x] Choose a name\r\n- [ ] Add logout (depends: 1)\r\n  - Verify: `test -e 1.txt`\r\n";

fn run<'a>(name: &'a str, agent: &'a str) -> [&'a str; 7] {
    [
        "run",
        name,
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
        agent,
    ]
}

#[test]
fn the_boxes_of_a_file_that_git_has_are_ticked_in_the_commits_of_the_work() {
    let project = project();
    committed(&project, "docs/todo.md", TODO);
    let ran = project.rekindle(&run("docs/todo.md", WRITE));
    assert_ended(
        &ran,
        0,
        &["check: `test -e 1.txt`", "done: 2 of 2 tasks landed"],
    );
    let ticked = TODO
        .replace("[ ] Add login", "[x] Add login")
        .replace("[ ] Add logout", "[x] Add logout");
    assert_eq!(project.git(&["show", "result:docs/todo.md"]), ticked);
    let first = project.git(&["show", "--format=", "--name-only", "result~1"]);
    assert_eq!(
        first, "1.txt\ndocs/todo.md\n",
        "work and mark are one commit"
    );
    assert_eq!(
        fs_err::read_to_string(project.path().join("docs/todo.md")).unwrap(),
        TODO
    );
    let facts = &json(&project, &["inspect", "checklist:docs/todo.md", "--json"])["facts"];
    assert_eq!((&facts["done"], &facts["total"]), (&3.into(), &3.into()));
}

#[test]
fn nothing_is_written_into_a_plan_that_git_does_not_have_or_that_has_no_boxes() {
    for (is_committed, plan) in [
        (false, TODO),
        (true, "## T1: a\n\n- [ ] T2 b\n"),
        (true, "1. Do one thing\n2. Do another\n"),
    ] {
        let project = project();
        write(&project, "plan.md", plan);
        if is_committed {
            committed(&project, "plan.md", plan);
        }
        let ran = project.rekindle(&run("plan.md", WRITE));
        assert_ended(&ran, 0, &["done: "]);
        let touching = project.git(&["log", "--format=%H", "main..result", "--", "plan.md"]);
        assert_eq!(touching, "", "{plan}");
        let trailers = project.git(&["log", "--format=%(trailers:key=Rekindle-List)", "result"]);
        assert_eq!(trailers.trim(), "", "{plan}");
    }
}

#[test]
fn check_boxes_are_shown_only_when_somebody_asks() {
    let project = project();
    committed(&project, "TODO.md", TODO);
    committed(&project, "notes/plan.md", TODO);
    let plain = json(&project, &["status", "--json"]);
    assert_eq!(plain["workflows"], serde_json::json!([]));
    let hook = r#"{"hook_event_name":"SessionStart","cwd":"."}"#;
    let told = crate::stage::typed(&project, &["hook", "session-start"], hook);
    assert!(!said(&told, 0).contains("TODO"), "hooks are silent");
    let all = json(&project, &["status", "--all", "--json"]);
    let ids = all["workflows"].as_array().unwrap().iter();
    let ids: Vec<&str> = ids.map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["checklist:TODO.md"]);
    let plan = project.rekindle(&["plan", "TODO.md"]);
    assert!(said(&plan, 0).contains("Add login"));
    let why = project.rekindle(&["explain", "checklist:TODO.md", "3"]);
    assert_ended(&why, 0, &["needs `1`, which is pending"]);
}

#[test]
fn a_task_that_took_the_place_of_a_landed_one_is_open() {
    let project = project();
    committed(&project, "TODO.md", "- [ ] first\n- [ ] second\n");
    let agent = "[ $REKINDLE_TASK = 1 ] && echo x > one.txt";
    let ran = project.rekindle(&[&run("TODO.md", agent)[..], &["--retries", "0"]].concat());
    said(&ran, 1);
    project.git(&["merge", "-q", "result"]);
    committed(
        &project,
        "TODO.md",
        "- [ ] a new one\n- [x] first\n- [ ] second\n",
    );
    let facts = &json(&project, &["inspect", "checklist:TODO.md", "--json"])["facts"];
    let expected = serde_json::json!({"1": "pending", "2": "done", "3": "pending"});
    assert_eq!(facts["states"], expected);
}

#[test]
fn in_place_the_file_is_ticked_where_it_is_and_nothing_is_committed() {
    let project = project();
    committed(&project, "TODO.md", TODO);
    let words = [
        "resume",
        "checklist:TODO.md",
        "--in-place",
        "--yes",
        "--agent-cmd",
        "true",
    ];
    assert_ended(&project.rekindle(&words), 0, &[]);
    let left = fs_err::read_to_string(project.path().join("TODO.md")).unwrap();
    let ticked = TODO.replace("[ ] Add", "[x] Add");
    assert_eq!(left, ticked, "only marks change, line ends stay");
    assert_eq!(project.git(&["log", "--format=%s"]), "more\nstart\n");
}
