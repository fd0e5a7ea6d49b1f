//! Files of the list's program, damaged files, and properties of edits and merging.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A file of the list's program, with unknown keys.
const REAL: &str = "{\n  \"id\": \"7\",\n  \"subject\": \"phase-1:exec:wave-2:task-10\",\n  \"description\": \"a \\u2014 b\",\n  \"status\": \"in_progress\",\n  \"owner\": \"worker-1\",\n  \"blocks\": [],\n  \"blockedBy\": [\n    \"3\"\n  ],\n  \"metadata\": {\n    \"kiln_phase\": \"phase-1\",\n    \"kiln_wave\": \"wave-2\",\n    \"kiln_plan_task_id\": \"P1-T04\",\n    \"kiln_worktree\": \"/tmp/kiln-abc/phase-1-exec-wave-2-task-10/\",\n    \"kiln_stage\": \"implementing\",\n    \"kiln_last_heartbeat\": \"2026-02-16T14:00:00Z\",\n    \"x\": 1.50e3\n  }\n}";

fn parsed(text: &str) -> TaskFile {
    TaskFile::parse("7.json".into(), text.as_bytes().to_vec()).unwrap()
}

fn task(value: &Value) -> TaskFile {
    parsed(&value.to_string())
}

fn with(metadata: &Value) -> TaskFile {
    task(&json!({"id": "1", "subject": "x", "status": "pending", "metadata": metadata}))
}

#[test]
fn a_real_file_is_read() {
    let task = parsed(REAL);
    assert_eq!(task.id, "7");
    assert_eq!(
        task.task_id().unwrap().to_string(),
        "phase-1:exec:wave-2:task-10"
    );
    assert_eq!(task.status, Status::InProgress);
    assert_eq!(
        (task.status.as_str(), task.bytes()),
        ("in_progress", REAL.as_bytes())
    );
    assert_eq!(task.owner.as_deref(), Some("worker-1"));
    assert_eq!(task.blocked_by, ["3"]);
    assert_eq!((task.phase, task.wave), (Some(1), Some(2)));
    assert_eq!(task.plan_task.as_deref(), Some("P1-T04"));
    assert_eq!(
        task.worktree.unwrap(),
        "/tmp/kiln-abc/phase-1-exec-wave-2-task-10"
    );
    assert_eq!(task.stage, Some(Stage::Implementing));
    assert!(task.heartbeat.at().is_some());
    assert_eq!(task.sequence, None);
    assert!(!task.is_gate);
}

#[test]
fn other_spellings_are_accepted() {
    let other = with(&json!({"kiln_phase": 1, "kiln_wave": "3", "sequence": "12"}));
    assert_eq!(
        (other.phase, other.wave, other.sequence),
        (Some(1), Some(3), Some(12))
    );
    let bare =
        task(&json!({"id": 12, "status": "odd", "owner": null, "sequence": 4, "metadata": null}));
    assert_eq!(
        (bare.id.as_str(), bare.owner, bare.sequence),
        ("12", None, Some(4))
    );
    assert_eq!(bare.status, Status::Other("odd".to_owned()));
    assert_eq!(bare.heartbeat, Heartbeat::Absent);
    assert_eq!(
        parsed("\u{feff}{\"id\":\"1\"}\r\n").status,
        Status::Other(String::new())
    );
}

#[test]
fn an_entry_that_is_not_a_task_has_a_reason() {
    for (bytes, expected) in [
        (&b"[]"[..], "it is not a JSON object"),
        (b"{}", "it has no `id`"),
        (b"{\"id\":\"\"}", "it has no `id`"),
        (b"{\"id\":\"1\xff\"}", "it is not UTF-8 text"),
    ] {
        let error = TaskFile::parse("x.json".into(), bytes.to_vec()).unwrap_err();
        assert_eq!(error, expected);
    }
    assert!(
        TaskFile::parse("x.json".into(), b"{".to_vec())
            .unwrap_err()
            .contains("EOF")
    );
}

#[test]
fn a_worktree_must_be_absolute_and_without_parent_parts() {
    for (text, expected) in [
        ("/tmp/a/b//", Some("/tmp/a/b")),
        ("/tmp/a", Some("/tmp/a")),
        ("tmp/a", None),
        ("/tmp/../etc", None),
        ("/", None),
        ("", None),
    ] {
        let found = with(&json!({"kiln_worktree": text})).worktree;
        assert_eq!(found.as_deref(), expected.map(Utf8Path::new), "{text}");
    }
}

#[test]
fn without_a_subject_the_worktree_names_the_task() {
    let task = with(&json!({"kiln_worktree": "/t/phase-1-exec-wave-1-task-2/"}));
    assert_eq!(
        task.task_id().unwrap().to_string(),
        "phase-1:exec:wave-1:task-2"
    );
    assert_eq!(with(&json!({"kiln_worktree": "/t/other"})).task_id(), None);
}

#[test]
fn gates_are_known_by_type_or_by_subject() {
    let gate = task(&json!({"id": "4", "subject": "phase-1:exec:wave-2:gate"}));
    assert_eq!(
        gate.gate_id().unwrap().to_string(),
        "phase-1:exec:wave-2:gate"
    );
    let typed = with(&json!({"kiln_type": "wave-gate", "kiln_phase": "phase-1", "kiln_wave": 3}));
    assert_eq!(
        typed.gate_id().unwrap().to_string(),
        "phase-1:exec:wave-3:gate"
    );
    assert_eq!(
        (
            typed.task_id(),
            with(&json!({"kiln_phase": 1, "kiln_wave": 1})).gate_id()
        ),
        (None, None)
    );
}

#[test]
fn an_update_changes_only_the_keys_it_names() {
    let update = TaskUpdate {
        status: Some("pending"),
        owner: Some(None),
        stage: Some(None),
        heartbeat: Some("2026-02-16T15:00:00Z".to_owned()),
    };
    let expected = REAL
        .replace("in_progress", "pending")
        .replace("  \"owner\": \"worker-1\",\n", "")
        .replace("    \"kiln_stage\": \"implementing\",\n", "")
        .replace("T14:00", "T15:00");
    let new = parsed(REAL).updated(&update).unwrap();
    assert_eq!(String::from_utf8(new).unwrap(), expected);
    assert_eq!(
        parsed(REAL).updated(&TaskUpdate::default()).unwrap(),
        REAL.as_bytes()
    );
    let stays = "{\"id\":\"1\",\"owner\":null}";
    let no_owner = TaskUpdate {
        owner: Some(None),
        ..TaskUpdate::default()
    };
    assert_eq!(parsed(stays).updated(&no_owner).unwrap(), stays.as_bytes());
    let claimed = TaskUpdate {
        owner: Some(Some("w".to_owned())),
        stage: Some(Some("claimed")),
        ..TaskUpdate::default()
    };
    assert_eq!(
        parsed(stays).updated(&claimed).unwrap(),
        b"{\"id\":\"1\",\"owner\":\"w\",\"metadata\":{\"kiln_stage\":\"claimed\"}}"
    );
}

#[test]
fn a_task_of_a_list_is_not_updated() {
    let list = parse_list("t.json".into(), b"[{\"id\":1}]");
    let update = list[0].as_ref().unwrap().updated(&TaskUpdate::default());
    assert_eq!(update, Err(UpdateError::Listed));
    let broken = parsed("{\"id\":1,\"metadata\":[]}").updated(&TaskUpdate {
        stage: Some(Some("x")),
        ..TaskUpdate::default()
    });
    assert!(matches!(broken, Err(UpdateError::Edit(_))));
}

#[test]
fn lists_come_in_three_forms() {
    for (bytes, expected) in [
        (&b"[{\"id\":\"1\"},{\"id\":2}]"[..], "1 2"),
        (
            b"\xEF\xBB\xBF{\"tasks\":[{\"id\":\"1\"},7]}",
            "1 !entry 2: it is not a JSON object",
        ),
        (b"{\"id\":\"1\"}\r\n\r\n{\"id\":\"2\"}\n", "1 2"),
        (b"{\"id\":\"1\"}\n", "1"),
        (b"{\"tasks\":1}", "!`tasks` is not a list"),
        (b"3", "!it has no list of tasks"),
        (b"[]", ""),
        (b"", ""),
    ] {
        let shown: Vec<String> = parse_list("t.json".into(), bytes)
            .into_iter()
            .map(|entry| entry.map_or_else(|reason| format!("!{reason}"), |task| task.id))
            .collect();
        assert_eq!(shown.join(" "), expected);
    }
    let torn = parse_list("t.json".into(), b"{\"id\":\"1\"}\n{\"id\":");
    assert!(torn[0].is_ok() && torn[1].as_ref().unwrap_err().starts_with("entry 2: EOF"));
}

/// Writes a merged list as `task=id`, and repeated tasks after a `-`.
fn shown(files: Vec<TaskFile>) -> String {
    let (tasks, gates, duplicates) = merge(files);
    let mut shown: Vec<String> = tasks
        .iter()
        .map(|(id, file)| format!("{}={}", id.number, file.id))
        .collect();
    shown.extend(gates.iter().map(|gate| format!("gate={}", gate.id)));
    shown.extend(duplicates.iter().map(|id| format!("-{}", id.number)));
    shown.join(" ")
}

fn of_task(id: &str, number: u32, metadata: &Value) -> TaskFile {
    task(
        &json!({"id": id, "subject": format!("phase-1:exec:wave-1:task-{number}"), "metadata": metadata}),
    )
}

#[test]
fn the_newest_entry_of_a_task_counts() {
    let none = json!({});
    let beat =
        |minute: u32| json!({"kiln_last_heartbeat": format!("2026-02-16T14:{minute:02}:00Z")});
    for (files, expected) in [
        (
            vec![
                of_task("2", 1, &json!({"sequence": 9})),
                of_task("10", 1, &json!({"sequence": 8})),
            ],
            "1=2 -1",
        ),
        (
            vec![
                of_task("2", 1, &json!({"sequence": 1})),
                of_task("10", 1, &beat(5)),
            ],
            "1=2 -1",
        ),
        (
            vec![of_task("2", 1, &beat(7)), of_task("10", 1, &beat(5))],
            "1=2 -1",
        ),
        (
            vec![of_task("2", 1, &beat(5)), of_task("10", 1, &none)],
            "1=2 -1",
        ),
        (
            vec![of_task("10", 1, &none), of_task("2", 1, &none)],
            "1=10 -1",
        ),
        (
            vec![of_task("1", 10, &none), of_task("2", 2, &none)],
            "2=2 10=1",
        ),
    ] {
        assert_eq!(shown(files.clone()), expected);
        assert_eq!(shown(files.into_iter().rev().collect()), expected);
    }
}

#[test]
fn of_equal_entries_in_one_list_the_later_counts() {
    let list = br#"[{"id":"1","subject":"phase-1:exec:wave-1:task-1","status":"pending"},
                    {"id":"1","subject":"phase-1:exec:wave-1:task-1","status":"completed"}]"#;
    let files = parse_list("t.json".into(), list)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        merge(files).0.into_values().next().unwrap().status,
        Status::Completed
    );
}

#[test]
fn gates_and_tasks_of_other_steps_are_separate() {
    let gate = |id: &str, wave: u32| {
        task(&json!({"id": id, "subject": format!("phase-1:exec:wave-{wave}:gate")}))
    };
    let files = vec![
        gate("9", 10),
        task(&json!({"id": "8", "subject": "odd:gate"})),
        gate("3", 2),
        task(&json!({"id": "4", "subject": "phase-1:review:all"})),
        gate("2", 2),
    ];
    assert_eq!(shown(files), "gate=3 gate=9 gate=8");
}

proptest! {
    #[test]
    fn no_bytes_make_a_panic(bytes: Vec<u8>, like in "[{}\\[\\]\":,idtasks0-9\n ]{0,40}") {
        for bytes in [bytes, like.into_bytes()] {
            drop(TaskFile::parse("x".into(), bytes.clone()));
            drop(merge(parse_list("x".into(), &bytes).into_iter().flatten().collect()));
        }
    }

    #[test]
    fn an_update_is_read_back(status in "[a-z_]{1,8}", owner in proptest::option::of("[a-z]{1,5}"), stage in proptest::option::of("[a-z_]{1,9}"), is_crlf: bool) {
        let source = if is_crlf { REAL.replace('\n', "\r\n") } else { REAL.to_owned() };
        let old = parsed(&source);
        let update = TaskUpdate { status: Some(&status), owner: Some(owner.clone()), stage: Some(stage.as_deref()), heartbeat: None };
        let bytes = old.updated(&update).unwrap();
        let new = TaskFile::parse(old.path.clone(), bytes.clone()).unwrap();
        prop_assert_eq!(&new, &TaskFile {
            source: Some(String::from_utf8(bytes).unwrap()),
            status: Status::parse(&status),
            owner,
            stage: stage.as_deref().map(Stage::parse),
            ..old
        });
        prop_assert_eq!(new.updated(&update).unwrap(), new.source.unwrap().into_bytes());
    }

    #[test]
    fn merging_does_not_depend_on_the_order(
        mut entries in proptest::collection::vec((1_u32..4, proptest::option::of(0_i64..3), proptest::option::of(0_u32..3)), 0..8),
        seed in any::<prop::sample::Index>(),
    ) {
        entries.truncate(7);
        let mut files: Vec<TaskFile> = (1..).zip(&entries).map(|(id, (number, sequence, minute)): (u32, _)| {
            let heartbeat = minute.map(|minute| format!("2026-02-16T14:0{minute}:00Z"));
            of_task(&id.to_string(), *number, &json!({"sequence": sequence, "kiln_last_heartbeat": heartbeat}))
        }).collect();
        let expected = merge(files.clone());
        if !files.is_empty() {
            let by = seed.index(files.len());
            files.rotate_left(by);
            files.reverse();
        }
        prop_assert_eq!(merge(files), expected);
    }
}
