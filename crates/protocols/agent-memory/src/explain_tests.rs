//! Why a task is in its state.

use super::AgentMemory;
use super::scene_tests::Scene;
use rekindle_protocol::Protocol;

/// Returns the verdict, the rule and the events, with a star at the deciding one.
fn explained(scene: &str, task: &str) -> Option<String> {
    let scene = Scene::new(scene);
    let explained = AgentMemory.explain(&scene.world, &scene.ask, task)?;
    let said = explained.said.iter().map(|said| {
        let star = if said.decided { "*" } else { "" };
        let log = said.place.path.file_name().unwrap_or_default();
        format!("{log}:{}{star} {}", said.place.line.unwrap_or(0), said.what)
    });
    let mut lines = vec![format!("{}: {}", explained.verdict, explained.rule)];
    lines.extend(said);
    Some(lines.join("\n"))
}

#[test]
fn marks_the_deciding_event_and_omits_other_runs() {
    let scene = "docs prd plan constitution
         graph T1 T2
         log a/a.jsonl
           10:00 task_started T1 run_id=20260119-0900-orders-api-k2l3
           10:01 task_completed T1 run_id=20260101-0900-other-aaaa
         log b/b.jsonl
           10:00 task_failed T1 error=no-disk
           09:00 task_started T2";
    assert_eq!(
        explained(scene, "T1").unwrap(),
        "failed: the latest event decides: `task_failed` means failed\n\
         a.jsonl:1 task_started\n\
         b.jsonl:1* task_failed (no-disk)"
    );
    assert_eq!(explained(scene, "T3"), None);
}

#[test]
fn explains_decisions_of_the_graph() {
    for (scene, task, expected) in [
        (
            "graph T1! T2<T1",
            "T1",
            "skipped: the graph marks it as skipped, and no event says that it was done",
        ),
        (
            "graph T1! T2<T1",
            "T2",
            "blocked: it depends on a skipped task, which will never be done",
        ),
        ("graph T1", "T1", "pending: no event sets its state"),
        (
            "graph T1\n log a/a.jsonl\n 10:00 task_failed X9",
            "X9",
            "failed: the graph does not have this task, so only its failures count\na.jsonl:1* task_failed",
        ),
    ] {
        assert_eq!(explained(scene, task).as_deref(), Some(expected));
    }
}

#[test]
fn shows_the_newest_and_the_deciding_event() {
    let mut scene = "graph T1\n log a/a.jsonl\n 12:00 task_completed T1\n".to_owned();
    for minute in 0..59 {
        scene.push_str(&format!(
            "10:{minute:02} task_started T1\n 10:{minute:02} note T1\n"
        ));
    }
    let scene = Scene::new(&scene);
    let explained = AgentMemory.explain(&scene.world, &scene.ask, "T1").unwrap();
    assert_eq!((explained.said.len(), explained.left_out), (60, 59));
    assert_eq!(explained.said.iter().filter(|said| said.decided).count(), 1);
}
