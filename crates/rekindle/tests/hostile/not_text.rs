//! Files, names, arguments and answers that are not UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::Result;

use crate::{NOTHING, codes, done, interrupted, look_at_everything};

#[test]
fn bytes_that_are_not_text_are_noticed_and_the_rest_counts() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let event = br#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z","details":{"note":""#;
    let bytes = [event.as_slice(), b"\xff\xfe\x80", b"\"}}\n\xff\xff\n"].concat();
    sandbox.write(run.path("events/executor/x.jsonl"), bytes)?;
    for name in ["prd.md", "plan.md", "constitution.md", "tasks/T003.md"] {
        sandbox.write(run.path(name), b"\xff\xfe\x00 \xc3\x28")?;
    }
    look_at_everything(&sandbox, "T003")?;
    assert_eq!(codes(&sandbox)?, ["CORRUPT_LINE", "INVALID_UTF8"]);
    assert_eq!(done(&sandbox)?, 2);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent", "--json"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

#[test]
fn a_graph_that_is_not_text_is_a_corrupt_graph() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    sandbox.write(run.path("task-graph.json"), b"\xff\xfe{\"tasks\":[]}")?;
    look_at_everything(&sandbox, "T001")?;
    assert_eq!(codes(&sandbox)?, ["CORRUPT_TASK_GRAPH", "MISSING_ARTIFACT"]);
    Ok(())
}

/// Wrong as it is: what stands in such a log should count, or at least stop the resume. Its name is
/// made into text on listing and the file is then not found, which is a note that few will read.
#[test]
fn a_log_whose_name_is_not_text_does_not_count_and_is_noted() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let events = sandbox.path(run.path("events"));
    let odd = events
        .as_std_path()
        .join(OsStr::from_bytes(b"odd-\xff.jsonl"));
    let event =
        r#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    fs_err::write(odd, format!("{event}\n"))?;
    look_at_everything(&sandbox, "T002")?;
    assert_eq!(codes(&sandbox)?, ["VANISHED_FILE"]);
    assert_eq!(done(&sandbox)?, 1);
    Ok(())
}

/// Wrong as it is: the run shows under a name that is not its own, and a resume would make a folder
/// of that name beside it.
#[test]
fn a_run_whose_name_is_not_text_shows_under_another_and_does_no_harm_to_the_rest() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let odd = OsStr::from_bytes(b"20260101\xff");
    let runs = sandbox.path(".agent-memory/runs");
    fs_err::create_dir(runs.as_std_path().join(odd))?;
    let tasks = sandbox.path(run.path("tasks"));
    fs_err::write(tasks.as_std_path().join(odd), "")?;
    let seen = look_at_everything(&sandbox, "T001")?;
    assert!(seen[0].stdout().contains("20260101\u{fffd}"));
    assert_eq!(done(&sandbox)?, 1);
    Ok(())
}

#[test]
fn arguments_and_folders_that_are_not_text_are_wrong_usage() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let odd = sandbox
        .project()
        .as_std_path()
        .join(OsStr::from_bytes(b"odd-\xff"));
    fs_err::create_dir(&odd)?;
    for script in [
        r#"exec "$1" inspect "$(printf '\377')""#,
        r#"exec "$1" -C "$(printf 'odd-\377')""#,
        r#"cd "$(printf 'odd-\377')" && exec "$1""#,
        r#"exec "$1" "$(printf '\377')""#,
    ] {
        let ran = sandbox
            .typed(&[])
            .through(&["sh", "-c", script, "sh"])
            .run()?;
        assert_eq!(ran.code(), Some(2), "{script}: {ran}");
        assert!(ran.stderr().starts_with("error: "), "{script}: {ran}");
    }
    Ok(())
}

#[test]
fn an_answer_that_is_not_text_counts_as_none() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    let script = r#"printf 'y\377\n' | "$1" resume --no-agent"#;
    let ran = sandbox
        .typed(&[])
        .through(&["sh", "-c", script, "sh"])
        .run()?;
    assert_eq!((ran.code(), ran.stdout().as_ref()), (Some(3), ""), "{ran}");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    Ok(())
}
