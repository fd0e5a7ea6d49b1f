//! The team's task list in the home: one JSON file a task, and a gate behind every wave.

use std::collections::BTreeSet;

use camino::Utf8Path;
use serde_json::{Map, Value, json};

use super::super::clock;
use super::super::error::Error;
use super::super::scene::Scene;
use super::layout::TEAM;
use super::spec::{Spec, Task};

/// Writes the list; `root` is the folder of the worktrees, `now` the case's clock.
pub(super) fn write(scene: &Scene, spec: &Spec, root: &Utf8Path, now: &str) -> Result<(), Error> {
    let folder = scene.home().join(".claude/tasks").join(TEAM);
    fs_err::create_dir_all(&folder)?;
    for entry in entries(spec, root, now)? {
        let id = entry["id"].as_str().unwrap_or_default();
        fs_err::write(folder.join(format!("{id}.json")), format!("{entry:#}"))?;
    }
    Ok(())
}

fn entries(spec: &Spec, root: &Utf8Path, now: &str) -> Result<Vec<Value>, Error> {
    let waves: BTreeSet<&str> = spec.tasks.iter().map(Task::wave).collect();
    let mut entries: Vec<Value> = Vec::new();
    let mut gate_before: Option<String> = None;
    for wave in waves {
        let mut members: Vec<String> = Vec::new();
        for task in spec.tasks.iter().filter(|task| task.wave() == wave) {
            let id = (entries.len() + 1).to_string();
            entries.push(json!({
                "id": id,
                "subject": task.subject,
                "description": task.subject,
                "status": task.status,
                "owner": task.owner,
                "blocks": [],
                "blockedBy": Vec::from_iter(&gate_before),
                "metadata": metadata(task, root, now)?,
            }));
            members.push(id);
        }
        let id = (entries.len() + 1).to_string();
        let open = spec.open_gates.iter().any(|gate| gate == wave);
        entries.push(json!({
            "id": id,
            "subject": format!("phase-1:exec:{wave}:gate"),
            "description": "gate",
            "status": if open { "completed" } else { "pending" },
            "owner": null,
            "blocks": [],
            "blockedBy": members,
            "metadata": {"kiln_phase": "phase-1", "kiln_wave": wave, "kiln_type": "wave-gate"},
        }));
        gate_before = Some(id);
    }
    Ok(entries)
}

fn metadata(task: &Task, root: &Utf8Path, now: &str) -> Result<Map<String, Value>, Error> {
    let mut fields = Map::new();
    fields.insert("kiln_phase".into(), "phase-1".into());
    fields.insert("kiln_wave".into(), task.wave().into());
    fields.insert("kiln_plan_task_id".into(), task.plan.as_str().into());
    fields.insert(
        "kiln_worktree".into(),
        format!("{root}/{}/", task.slug()).into(),
    );
    if let Some(stage) = task.stage.as_deref().filter(|stage| !stage.is_empty()) {
        fields.insert("kiln_stage".into(), stage.into());
    }
    if let Some(written) = &task.heartbeat {
        fields.insert("kiln_last_heartbeat".into(), written.clone());
    } else if let Some(age) = task.heartbeat_age {
        fields.insert("kiln_last_heartbeat".into(), clock::ago(now, age)?.into());
    }
    if let Some(sequence) = &task.sequence {
        fields.insert("sequence".into(), sequence.clone());
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_waits_for_the_gate_before_it_and_a_gate_for_its_wave() {
        let spec: Spec = serde_json::from_value(json!({
            "plan": [],
            "tasks": [
                {"task": "phase-1:exec:wave-1:task-1", "plan": "A", "status": "in_progress",
                 "heartbeat_age": 5},
                {"task": "phase-1:exec:wave-2:task-1", "plan": "B"},
            ],
            "open_gates": ["wave-1"],
        }))
        .unwrap();
        let made = entries(&spec, Utf8Path::new("/w"), "2026-02-16T15:00:00Z").unwrap();
        let of = |key: &str| {
            made.iter()
                .map(|entry| entry[key].to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(of("id"), [r#""1""#, r#""2""#, r#""3""#, r#""4""#]);
        assert_eq!(of("blockedBy"), ["[]", r#"["1"]"#, r#"["2"]"#, r#"["3"]"#]);
        assert_eq!(
            of("status"),
            [
                r#""in_progress""#,
                r#""completed""#,
                r#""pending""#,
                r#""pending""#
            ]
        );
        assert_eq!(
            made[0]["metadata"]["kiln_last_heartbeat"],
            "2026-02-16T14:55:00Z"
        );
        assert_eq!(
            made[0]["metadata"]["kiln_worktree"],
            "/w/phase-1-exec-wave-1-task-1/"
        );
        assert_eq!(made[2]["metadata"].get("kiln_last_heartbeat"), None);
    }
}
