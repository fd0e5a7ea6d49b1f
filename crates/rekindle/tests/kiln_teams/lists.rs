//! The task list: which entries count, and how malformed ones are handled.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::scenes::{alive, codes, id, idle, landed, of_tasks, ready, scene, stage, wave, with};

#[test]
fn a_wave_without_a_gate_opens_when_its_tasks_have_landed() -> Result<()> {
    for (first, class) in [
        (landed(1, 1, json!({"a": "a\n"})), "pending"),
        (alive(1, 1), "gated"),
    ] {
        let stage = wave(&[first, idle(2, 1)])?;
        fs_err::remove_file(stage.task_list().join("2.json"))?;
        stage.change_task(3, |task| task["blockedBy"] = json!([]))?;
        let classes = stage.facts()?["classification"].take();
        ensure!(classes[id(2, 1)] == class, "{classes}");
        ensure!(
            classes.as_object().is_some_and(|all| all.len() == 2),
            "{classes}"
        );
    }
    Ok(())
}

#[test]
fn both_spellings_of_ids_are_read_and_sorted_by_number() -> Result<()> {
    let tasks: Vec<Value> = (1..=11)
        .map(|n| ready(1, n, json!({format!("src/{n}.js"): "x\n"})))
        .collect();
    let stage = wave(&tasks)?;
    for number in 1..=11 {
        stage.change_task(number, |task| task["metadata"]["kiln_wave"] = json!(1))?;
    }
    // Without a subject the worktree names the task.
    stage.change_task(3, |task| task["subject"] = json!("Third thing"))?;
    let order: Vec<String> = (1..=11).map(|n| id(1, n)).collect();
    assert_eq!(stage.facts()?["integration_order"], json!(order));
    Ok(())
}

#[test]
fn of_two_entries_of_a_task_the_newest_counts() -> Result<()> {
    let older = alive(1, 1);
    let rows = [
        (
            "sequence before heartbeat",
            json!({"sequence": 7}),
            json!({"sequence": 9, "kiln_last_heartbeat": "2026-02-16T10:00:00Z"}),
        ),
        (
            "a sequence before none",
            json!({}),
            json!({"sequence": 1, "kiln_last_heartbeat": "2026-02-16T10:00:00Z"}),
        ),
        (
            "later heartbeat",
            json!({}),
            json!({"kiln_last_heartbeat": "2026-02-16T14:59:00Z"}),
        ),
        ("later in the list", json!({}), json!({})),
    ];
    for (about, first, second) in rows {
        for is_swapped in [false, true] {
            let stage = wave(std::slice::from_ref(&older))?;
            let mut one = stage.task(1)?;
            let mut two = one.clone();
            one["metadata"] = with(one["metadata"].take(), first.clone());
            two["metadata"] = with(two["metadata"].take(), second.clone());
            two["metadata"]["kiln_stage"] = json!("failed");
            let (low, high) = if is_swapped { ("7", "1") } else { ("1", "7") };
            one["id"] = json!(low);
            two["id"] = json!(high);
            stage.write_task(low, &one)?;
            stage.write_task(high, &two)?;
            let class = stage.facts()?["classification"][id(1, 1)].take();
            let wanted = match about {
                "later in the list" if is_swapped => "in_progress",
                _ => "rerun_required",
            };
            ensure!(class == wanted, "{about}, {is_swapped}: {class}");
        }
    }
    Ok(())
}

#[test]
fn unlisted_tasks_do_not_count_and_damaged_entries_are_reported() -> Result<()> {
    let mut scene = scene(&[landed(1, 1, json!({"a": "a\n"}))]);
    if let Some(plan) = scene["plan"].as_array_mut() {
        plan.push(json!({"id": "P1-T99", "title": "Forgotten", "wave": 1}));
    }
    let stage = stage(&scene)?;
    fs_err::write(stage.task_list().join("8.json"), "{\"id\": \"8\", \"subj")?;
    fs_err::write(stage.task_list().join("9.json"), "[]")?;
    stage.write_task(
        "10",
        &json!({"id": "10", "subject": "phase-1:plan:codex", "status": "pending"}),
    )?;
    stage.write_task(
        "11",
        &json!({"id": "11", "subject": "phase-2:exec:wave-1:task-1", "status": "pending"}),
    )?;
    let answer = stage.inspected()?;
    assert_eq!(
        answer["facts"]["classification"],
        of_tasks(&[(1, 1, "done")])
    );
    assert_eq!(
        codes(&answer),
        ["UNLISTED_TASK", "UNREADABLE_TASK", "UNREADABLE_TASK"]
    );
    Ok(())
}

#[test]
fn a_worktree_that_contradicts_its_worker_proves_nothing() -> Result<()> {
    let operations = [
        ("nothing", "[]"),
        (
            "too much",
            r#"[{"op":"add","path":"src/a.js"},{"op":"add","path":"src/b.js"}]"#,
        ),
        ("another", r#"[{"op":"add","path":"src/b.js"}]"#),
        ("no list", r#"{"op":"add","path":"src/a.js"}"#),
        ("no path", r#"[{"op":"add"}]"#),
        ("outside", r#"[{"op":"add","path":"../src/a.js"}]"#),
        ("absolute", r#"[{"op":"add","path":"/src/a.js"}]"#),
        ("torn", r#"[{"op":"add","pa"#),
    ];
    for (about, text) in operations {
        let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
        let path = stage
            .worktree(1, 1)
            .join(".kiln-artifacts/P1-T11/changed_ops.json");
        fs_err::write(path, text)?;
        let class = &stage.facts()?["classification"][id(1, 1)];
        ensure!(*class == "rerun_required", "{about}: {class}");
    }
    let spelled = r#"[{"op":"untracked","path":"./src//x/../a.js"},{"op":"add","path":".kiln-artifacts/P1-T11/x"}]"#;
    let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
    let path = stage
        .worktree(1, 1)
        .join(".kiln-artifacts/P1-T11/changed_ops.json");
    fs_err::write(path, spelled)?;
    let class = &stage.facts()?["classification"][id(1, 1)];
    ensure!(*class == "ready_for_integration", "other spelling: {class}");
    Ok(())
}
