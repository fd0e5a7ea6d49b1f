//! Tests of damaged logs and of all forms of times.

use super::scene_tests::{Scene, check, check_scene};

/// A log's lines and the codes they give, with the states that come of them.
fn check_log(lines: &[u8], states: &str, findings: &str) {
    let scene = Scene::new("docs prd plan constitution\n graph T1 T2 T3")
        .with("events/executor/20260119-1000.jsonl", lines);
    check_scene(
        &scene,
        &format!("states {{{states}}}\n findings [{findings}]"),
    );
}

fn event(kind: &str, task: &str, minute: u32) -> String {
    format!(
        r#"{{"event_type":"{kind}","task_id":"{task}","timestamp":"2026-01-19T10:{minute:02}:00Z"}}"#
    )
}

const PENDING: &str = "T1:pending,T2:pending,T3:pending";

#[test]
fn accepts_byte_order_marks_line_ends_and_blank_lines() {
    let (a, b) = (
        event("task_started", "T1", 1),
        event("task_completed", "T2", 2),
    );
    let states = "T1:in_progress,T2:done,T3:pending";
    for lines in [
        format!("\u{FEFF}{a}\n{b}\n"),
        format!("{a}\r\n{b}\r\n"),
        format!("\n  \n{a}\n\n\t\n{b}\n\n"),
        format!("{a}\n{b}"),
        format!("{a}\r\n{b}\r"),
        // Two logs that were joined have the mark in the middle.
        format!("\u{FEFF}{a}\n\u{FEFF}{b}\n"),
        format!("  {a}  \n\t{b}\n"),
    ] {
        check_log(lines.as_bytes(), states, "");
    }
    check_log(b"", PENDING, "");
    check_log(b"\xEF\xBB\xBF", PENDING, "");
    check_log(b"\n\n", PENDING, "");
}

#[test]
fn ignores_a_torn_last_line() {
    let a = event("task_started", "T1", 1);
    let b = event("task_completed", "T1", 2);
    let states = "T1:in_progress,T2:pending,T3:pending";
    for cut in [1, 10, 17, 40, b.len() - 1] {
        let lines = format!("{a}\n{}", &b[..cut]);
        check_log(lines.as_bytes(), states, "TRUNCATED_LINE");
    }
    check_log(format!("{a}\ngarbage").as_bytes(), states, "TRUNCATED_LINE");
    check_log(format!("{a}\n\0\0\0").as_bytes(), states, "TRUNCATED_LINE");
    // With a line end it is damage; without one, complete JSON counts.
    let torn = format!("{a}\n{}\n", &b[..40]);
    check_log(torn.as_bytes(), states, "CORRUPT_LINE");
    check_log(
        format!("{a}\n{b}").as_bytes(),
        "T1:done,T2:pending,T3:pending",
        "",
    );
    check_log(format!("{a}\n42").as_bytes(), states, "NON_OBJECT_LINE");
}

#[test]
fn loses_only_damaged_lines() {
    let a = event("task_started", "T1", 1);
    let b = event("task_completed", "T2", 1);
    let pretty = "{\n  \"event_type\": \"task_failed\",\n  \"task_id\": \"T3\",\n  \"timestamp\": \"2026-01-19T10:01:00Z\"\n}";
    let all = "T1:in_progress,T2:done,T3:failed";
    // The lines below a torn one are read separately.
    for torn in [
        r#"{"event_type":"task_sta"#,
        r#"{"event_type":"#,
        r#"{"event_type":"x""#,
        r#"{"event_type":"x","details":{"#,
        r#"{"event_type":"x","details":["#,
        "{",
    ] {
        let lines = format!("{torn}\n{a}{b}\n{pretty}\n");
        let findings = "CONCATENATED_JSON_RECOVERED,CORRUPT_LINE,MULTILINE_JSON_RECOVERED";
        check_log(lines.as_bytes(), all, findings);
        let lines = format!("{torn}\n{pretty}\n{a}\n{torn}\n{b}\n");
        check_log(
            lines.as_bytes(),
            all,
            "CORRUPT_LINE,MULTILINE_JSON_RECOVERED",
        );
        let lines = format!("{a}\n{b}\n{pretty}\n{torn}\n{torn}");
        let findings = "CORRUPT_LINE,MULTILINE_JSON_RECOVERED,TRUNCATED_LINE";
        check_log(lines.as_bytes(), all, findings);
    }
}

#[test]
fn reads_both_sides_of_conflict_markers() {
    let a = event("task_started", "T1", 1);
    let b = event("task_completed", "T2", 2);
    let lines = format!("<<<<<<< HEAD\n{a}\n=======\n{b}\n>>>>>>> lane\n");
    check_log(
        lines.as_bytes(),
        "T1:in_progress,T2:done,T3:pending",
        "CORRUPT_LINE",
    );
}

#[test]
fn reads_several_objects_on_a_line_in_order() {
    let a = event("task_started", "T1", 1);
    let b = event("task_completed", "T1", 1);
    for lines in [
        format!("{a}{b}\n"),
        format!("{a} {b}\n"),
        format!("{a}\t{b}"),
    ] {
        check_log(
            lines.as_bytes(),
            "T1:done,T2:pending,T3:pending",
            "CONCATENATED_JSON_RECOVERED",
        );
    }
    // A value that is not an object spoils the line, and so does a torn one.
    for odd in ["[1]", "5", ",", "{\"event_type\""] {
        let terminated = format!("{a}{odd}\n");
        check_log(terminated.as_bytes(), PENDING, "CORRUPT_LINE");
        let open = format!("{a}{odd}");
        check_log(open.as_bytes(), PENDING, "TRUNCATED_LINE");
    }
}

#[test]
fn events_on_one_line_are_ordered() {
    // The failure is below the completion, so it counts.
    check(
        r#"docs prd plan constitution
           graph T1
           log a/a.jsonl
             |{"type":"task_completed","task_id":"T1","timestamp":"2026-01-19T10:00:00Z"}{"type":"task_failed","task_id":"T1","timestamp":"2026-01-19T10:00:00Z"}"#,
        "states {T1:failed}
         failures {T1:1}",
    );
    // And a run that is opened again on the line of its end is open.
    check(
        r#"log a/a.jsonl
             |{"type":"run_completed","timestamp":"2026-01-19T10:00:00Z"}{"type":"session_resumed","timestamp":"2026-01-19T10:00:00Z"}"#,
        "complete false",
    );
}

#[test]
fn joins_an_object_over_several_lines() {
    let pretty = |task: &str| {
        format!(
            "{{\n  \"event_type\": \"task_completed\",\n\n  \"task_id\": \"{task}\",\n  \"timestamp\": \"2026-01-19T10:03:00Z\",\n  \"details\": {{\n    \"files\": [\n      {{\n        \"a\": \"}}\\\"{{\"\n      }}\n    ]\n  }}\n}}"
        )
    };
    let found = "MULTILINE_JSON_RECOVERED";
    let one = "T1:done,T2:pending,T3:pending";
    check_log(format!("{}\n", pretty("T1")).as_bytes(), one, found);
    check_log(pretty("T1").as_bytes(), one, found);
    check_log(pretty("T1").replace('\n', "\r\n").as_bytes(), one, found);
    let two = "T1:done,T2:done,T3:pending";
    check_log(
        format!("{}\n{}\n", pretty("T1"), pretty("T2")).as_bytes(),
        two,
        found,
    );
    check_log(
        format!("{}{}\n", pretty("T1"), pretty("T2")).as_bytes(),
        two,
        found,
    );
    // Without indentation too.
    let flat: Vec<String> = pretty("T1").lines().map(|l| l.trim().to_owned()).collect();
    let flat = flat.join("\n");
    check_log(flat.as_bytes(), one, found);
    // A torn one is damage from its first line to its last.
    let torn = &pretty("T1")[..60];
    check_log(torn.as_bytes(), PENDING, "CORRUPT_LINE,TRUNCATED_LINE");
    let torn = format!("{torn}\n{}\n", event("task_started", "T1", 1));
    check_log(
        torn.as_bytes(),
        "T1:in_progress,T2:pending,T3:pending",
        "CORRUPT_LINE",
    );
}

#[test]
fn ignores_json_that_is_not_an_object() {
    let a = event("task_started", "T1", 1);
    for odd in ["42", "null", "true", "\"text\"", "[]", &format!("[{a}]")] {
        let lines = format!("{odd}\n{a}\n");
        check_log(
            lines.as_bytes(),
            "T1:in_progress,T2:pending,T3:pending",
            "NON_OBJECT_LINE",
        );
    }
}

#[test]
fn replaces_invalid_utf8() {
    let line = b"{\"event_type\":\"task_failed\",\"task_id\":\"T1\",\"timestamp\":\"2026-01-19T10:00:00Z\",\"error\":\"caf\xE9\"}\n";
    check_log(line, "T1:failed,T2:pending,T3:pending", "INVALID_UTF8");
    check_log(b"\xFF\xFE{\0\n", PENDING, "CORRUPT_LINE,INVALID_UTF8");
    // Cut in the middle of a character.
    let cut = &line[..line.len() - 3];
    check_log(cut, PENDING, "INVALID_UTF8,TRUNCATED_LINE");
}

#[test]
fn repairs_halves_of_surrogate_pairs() {
    let line = r#"{"event_type":"task_failed","task_id":"T1","timestamp":"2026-01-19T10:00:00Z","error":"cut \ud83d"}"#;
    check_log(
        format!("{line}\n").as_bytes(),
        "T1:failed,T2:pending,T3:pending",
        "",
    );
}

#[test]
fn zero_bytes_are_damage() {
    let a = event("task_started", "T1", 1);
    let lines = format!("{a}\n\0\0\0\0\n{}\n", event("task_completed", "T2", 2));
    check_log(
        lines.as_bytes(),
        "T1:in_progress,T2:done,T3:pending",
        "CORRUPT_LINE",
    );
}

#[test]
fn reads_a_log_of_open_objects_in_linear_time() {
    let lines = "{\"a\":[\n".repeat(60_000);
    check_log(lines.as_bytes(), PENDING, "CORRUPT_LINE");
}

#[test]
fn finds_logs_at_any_depth_by_extension() {
    check(
        r#"docs prd plan constitution
           graph T1 T2 T3 T4 T5
           log top.jsonl
             10:00 task_started T1
           log executor-1/20260119-1000.jsonl
             10:00 task_started T2
           log lanes/a/b/c.jsonl
             10:00 task_started T3
           file events/executor/notes.txt no log
           file events/executor/x.json {"event_type":"task_started","task_id":"T4"}
           file events/executor/x.jsonl.bak {"event_type":"task_started","task_id":"T5"}
           folder events/empty"#,
        "states {T1:in_progress,T2:in_progress,T3:in_progress,T4:pending,T5:pending}
         findings []",
    );
}

#[test]
fn reads_types_from_any_key_in_any_spelling() {
    // `event_type` comes first; empty and other values do not count.
    check(
        r#"docs prd plan constitution
           graph T1 T2 T3 T4 T5 T6
           log a/a.jsonl
             |{"event":"Task-Started","task_id":"T1","timestamp":"2026-01-19T10:00:00Z"}
             |{"type":"TASK_BLOCKED","details":{"task_id":"T2"},"timestamp":"2026-01-19T10:00:00Z"}
             |{"type":"task_failed","event_type":"task-completed","task_id":"T3","timestamp":"2026-01-19T10:00:00Z"}
             |{"event":"task_failed","type":"task-claimed","task_id":"T4","timestamp":"2026-01-19T10:00:00Z"}
             |{"event_type":"","type":"task_verified","task_id":"T5","timestamp":"2026-01-19T10:00:00Z"}
             |{"event_type":7,"type":"task_failure","task_id":"","details":{"task_id":"T6"},"timestamp":"2026-01-19T10:00:00Z"}"#,
        "states {T1:in_progress,T2:blocked,T3:done,T4:in_progress,T5:done,T6:failed}
         findings []",
    );
}

#[test]
fn reads_times_in_every_iso_8601_form() {
    // The last one decides only if each is read as its instant.
    for (earlier, later) in [
        ("2026-01-19T10:00:00Z", "2026-01-19T10:00:01Z"),
        ("2026-01-19T10:00:00", "2026-01-19T10:00:01"),
        (
            "2026-01-19T10:00:00.123456788Z",
            "2026-01-19T10:00:00.123456789Z",
        ),
        ("2026-01-19T10:00:00.1234567891Z", "2026-01-19T10:00:00.2Z"),
        ("2026-01-19T11:59:00+02:00", "2026-01-19T10:00Z"),
        ("2026-01-19T10:00", "2026-01-19T05:01-05:00"),
        ("2026-01-19 10:00:00", "2026-01-19t10:00:01z"),
    ] {
        for (first, second) in [(earlier, later), (later, earlier)] {
            let last = if first == later { "done" } else { "failed" };
            let findings = if first == later {
                "NONMONOTONIC_FILE"
            } else {
                ""
            };
            let lines = format!(
                "{{\"type\":\"task_completed\",\"task_id\":\"T1\",\"timestamp\":\"{first}\"}}\n\
                 {{\"type\":\"task_failed\",\"task_id\":\"T1\",\"timestamp\":\"{second}\"}}\n"
            );
            let states = format!("T1:{last},T2:pending,T3:pending");
            check_log(lines.as_bytes(), &states, findings);
        }
    }
}

#[test]
fn inherits_missing_times_from_the_line_above_or_the_file() {
    // Of the line above: 10:30, after the other log's 10:20.
    check(
        "docs prd plan constitution
         graph T1
         log a/20260119-0800.jsonl
           10:30 note
           - task_completed T1
         log b/b.jsonl
           10:20 task_failed T1",
        "states {T1:done}
         last_activity 2026-01-19T10:30:00Z
         findings [MISSING_TIMESTAMP]",
    );
    // Of the file's name, in each of its forms.
    for name in [
        "20260119-1030",
        "20260119-103000",
        "2026-01-19T10-30-00Z",
        "20260119-1030-T1",
    ] {
        check(
            &format!(
                "docs prd plan constitution
                 graph T1
                 log a/{name}.jsonl
                   - task_completed T1
                 log b/b.jsonl
                   10:20 task_failed T1"
            ),
            "states {T1:done}
             last_activity 2026-01-19T10:30:00Z
             findings [MISSING_TIMESTAMP]",
        );
    }
    // The earliest of all.
    check(
        "docs prd plan constitution
         graph T1
         log a/a.jsonl
           - task_completed T1
         log b/b.jsonl
           00:00 task_failed T1",
        "states {T1:failed}
         last_activity 2026-01-19T00:00:00Z
         findings [MISSING_TIMESTAMP]",
    );
    // Null is missing; any other value is a bad time, with the same effect.
    for (time, code) in [
        ("null", "MISSING_TIMESTAMP"),
        ("\"yesterday\"", "BAD_TIMESTAMP"),
        ("\"2026-02-30T10:00:00Z\"", "BAD_TIMESTAMP"),
        ("\"\"", "BAD_TIMESTAMP"),
        ("1768816800", "BAD_TIMESTAMP"),
    ] {
        let lines =
            format!("{{\"type\":\"task_started\",\"task_id\":\"T1\",\"timestamp\":{time}}}\n");
        check_log(
            lines.as_bytes(),
            "T1:in_progress,T2:pending,T3:pending",
            code,
        );
    }
}

#[test]
fn reports_logs_that_go_back_in_time() {
    // The time decides, not the line.
    check(
        "docs prd plan constitution
         graph T1
         log a/a.jsonl
           10:30 task_completed T1
           10:20 task_started T1",
        "states {T1:done}
         findings [NONMONOTONIC_FILE]",
    );
    check(
        "docs prd plan constitution
         graph T1
         log a/a.jsonl
           10:30 task_started T1
           10:20 task_completed T1 run_id=other
           10:40 task_started T1 run_id=20260119-0900-orders-api-k2l3",
        "states {T1:in_progress}
         findings [NONMONOTONIC_FILE,RUN_ID_MISMATCH]",
    );
    // Equal and missing times do not go back.
    check(
        "log a/a.jsonl
           10:30 note
           - note
           10:30 note",
        "findings [MISSING_TIMESTAMP]",
    );
}
