//! Any file content: never a panic, and always the same answer.

use proptest::prelude::*;
use rekindle_model::Intent;

use super::AgentMemory;
use super::scene_tests::{RUN, Scene, in_run, render};
use rekindle_protocol::capability::CheckpointList;
use rekindle_protocol::{Case, Protocol};

/// Pieces of which damaged logs are made.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\0",
    "\u{FEFF}",
    "{\n",
    "}\n",
    "\\ud83d",
    "\"type\":\"task_started\"",
    "\"event_type\":\"task_completed\",",
    "\"task_id\":\"T1\",",
    "\"timestamp\":\"2026-01-19T10:00:00Z\"",
    "\"timestamp\":\"2026-01-19T10:00:00.5+01:00\",",
    "\"run_id\":\"x\",",
    "\"details\":{",
    "\"to_phase\":2,",
    "\"id\":\"T1\",",
    "{\"tasks\":[",
    "\"dependencies\":[\"T1\"]",
    "{\"type\":\"task_failed\",\"task_id\":\"T1\"}\n",
    "## Task: T1 - é\n",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40);
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..300),
        3 => pieces.prop_map(|pieces| pieces.concat().into_bytes()),
        1 => (prop::collection::vec(prop::sample::select(&PIECES[..]), 0..20), any::<u8>()).prop_map(
            |(pieces, byte)| {
                let mut bytes = pieces.concat().into_bytes();
                bytes.push(byte);
                bytes
            }
        ),
    ]
}

/// Inspects a project twice in every way, and returns the differences.
fn look(scene: &Scene) -> Result<(), TestCaseError> {
    let (one, other) = (scene.case(), scene.case());
    prop_assert_eq!(one.assessment(), other.assessment());
    let list = |case: &dyn Case| case.checkpoints().map(CheckpointList::list);
    prop_assert_eq!(list(&*one), list(&*other));
    let log = in_run(RUN, "events/orchestrator/x.jsonl");
    for intent in [Intent::Open, Intent::GoOn { log }] {
        let plan = |case: &dyn Case| case.plan(&scene.world, &intent);
        prop_assert_eq!(plan(&*one), plan(&*one));
        prop_assert_eq!(plan(&*one), plan(&*other));
    }
    let explain = || AgentMemory.explain(&scene.world, &scene.ask, "T1");
    prop_assert_eq!(explain(), explain());
    Ok(())
}

/// Lines between the events of a damaged log; none can end an object.
const DAMAGE: [&str; 10] = [
    "",
    "garbage",
    "{",
    "{\"type\":\"task_sta",
    "{\"type\":\"x\",",
    "{\"type\":\"x\",\"details\":",
    "{\"type\":\"x\",\"details\":[",
    "<<<<<<< HEAD",
    "42",
    "\0\0",
];

/// Returns an event about a task in one of the forms that are read.
fn written(task: usize, form: u8) -> String {
    let fields = format!("\"type\":\"task_started\",\"task_id\":\"T{task}\"");
    match form {
        0 => format!("{{{fields}}}\n"),
        1 => format!("{{{fields}}}"),
        2 => format!("{{\n  {}\n}}\n", fields.replace(',', ",\n  ")),
        _ => format!("{{\r\n\t{fields},\r\n\t\"details\": {{\r\n\t\t\"a\": []\r\n\t}}\r\n}}\r\n"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_log(first in bytes(), second in bytes()) {
        let scene = Scene::new("docs prd plan constitution\n graph T1 T2<T1")
            .with("events/a/20260119-1000.jsonl", first)
            .with("events/b.jsonl", second);
        look(&scene)?;
    }

    #[test]
    fn damage_costs_no_event_beside_it(
        parts in prop::collection::vec((prop::sample::select(&DAMAGE[..]), 0_u8..4), 1..10),
    ) {
        let mut log = String::new();
        let mut graph = "docs prd\n graph".to_owned();
        for (task, (damage, form)) in parts.iter().enumerate() {
            // Damage on the line of an event costs that event too, and so does a printed object.
            let is_alone = log.is_empty() || log.ends_with('\n');
            if !is_alone && (!damage.is_empty() || *form > 1) {
                log.push('\n');
            }
            if !damage.is_empty() {
                log.push_str(&format!("{damage}\n"));
            }
            log.push_str(&written(task, *form));
            graph.push_str(&format!(" T{task}"));
        }
        let scene = Scene::new(&graph).with("events/a/a.jsonl", log);
        let states = render(&scene.fact("states"));
        prop_assert_eq!(states.matches("in_progress").count(), parts.len(), "{}", states);
    }

    #[test]
    fn any_bytes_are_a_graph_and_a_contract(graph in bytes(), contract in bytes()) {
        let scene = Scene::new(
            "docs prd plan constitution
             log a/a.jsonl
               10:00 phase_transition 1>2
               10:01 task_completed T1
               10:02 task_failed T2",
        )
        .with("task-graph.json", graph)
        .with("tasks/T1-x.md", &contract)
        .with("tasks/T2.md", &contract)
        .with("verifications/T2-v2.md", &contract);
        look(&scene)?;
    }

    #[test]
    fn any_names_are_names(
        run in "[^/\0]{1,40}",
        log in "[^/\0]{1,30}",
        task in "\\PC{0,30}",
    ) {
        prop_assume!(run != "." && run != ".." && log != "." && log != "..");
        let mut scene = Scene::new("run ");
        let event = serde_json::json!({"type": "task_completed", "task_id": task});
        let graph = serde_json::json!({"tasks": [{"id": task}, {"id": "T2", "dependencies": [task]}]});
        scene.world = scene
            .world
            .file(in_run(&run, "events").join(format!("{log}.jsonl")), event.to_string())
            .file(in_run(&run, "task-graph.json"), graph.to_string());
        look(&scene)?;
        scene.ask.name = Some(run);
        look(&scene)?;
    }
}
