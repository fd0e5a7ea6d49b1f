//! Tests of what counts as a run: names, links, and files that cannot be read.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{
    DatabaseQuestion, DatabaseRow, Entry, GitAnswer, GitQuestion, Meta, Ownership, ProcessAnswer,
    ProcessQuestion, ReadError, World,
};

use super::AgentMemory;
use super::read::heading_title;
use super::scene_tests::{RUN, Scene, check_scene, in_run, render};
use rekindle_protocol::{Ask, Protocol};

#[test]
fn reports_nonconforming_run_names() {
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
fn ignores_files_and_hidden_folders_next_to_runs() {
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
fn follows_linked_runs_inside_the_project() {
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
fn unreadable_files_block_the_run() {
    for scene in [
        "docs prd\n denied events/a/a.jsonl",
        "docs prd\n denied task-graph.json",
    ] {
        let scene = Scene::new(scene);
        let assessment = scene.assessment();
        let blockers: Vec<&str> = assessment.blockers().map(|f| f.code.as_str()).collect();
        assert_eq!(blockers, ["UNREADABLE_FILE"]);
        // Its code is not one of the run's warnings.
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
        // Only short documents are read, because they may be empty.
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

    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError> {
        self.0.world.processes(question)
    }
}

#[test]
fn files_that_vanish_during_the_read_are_missing() {
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

#[test]
fn reads_titles_from_contract_headings() {
    assert_eq!(
        heading_title("## Task: T003 - Add thing\n", "T003").as_deref(),
        Some("Add thing")
    );
    assert_eq!(
        heading_title("## Task: T003: Add\n", "T003").as_deref(),
        Some("Add")
    );
    assert_eq!(heading_title("## Task: T003\n", "T003"), None);
    assert_eq!(heading_title("## Task: T0031 x\n", "T003"), None);
    assert_eq!(heading_title("## Task: T003-TEST x\n", "T003"), None);
    assert_eq!(
        heading_title("## Task: T003-TEST - x\n## Task: T003 – y\n", "T003").as_deref(),
        Some("y")
    );
    assert_eq!(heading_title("```\n## Task: T003 x\n```\n", "T003"), None);
}
