//! Answers that are the same each time, also beside files that are too large to be read.

use anyhow::Result;
use serde_json::json;

use crate::{ORDERS, interrupted};

/// Elsewhere a model was asked what can be resumed, and gave another answer each time.
#[test]
fn claude_code_45423_the_same_files_give_the_same_answer() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    for args in [
        &["status"][..],
        &["inspect", "--json"],
        &["plan", "--json"],
        &["explain", ORDERS, "T002"],
    ] {
        let (first, second) = (sandbox.run(args)?, sandbox.run(args)?);
        assert_eq!(first.stdout_bytes(), second.stdout_bytes(), "{args:?}");
        assert_ne!(first.stdout_bytes(), b"", "{args:?}: {first}");
    }
    Ok(())
}

/// Elsewhere a resume started over, or skipped a task, and nothing said why.
#[test]
fn nextflow_1629_every_task_can_be_asked_why() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    for (task, state) in [
        ("T001", "done"),
        ("T002", "in_progress"),
        ("T003", "pending"),
    ] {
        let ran = sandbox.run(&["explain", ORDERS, task])?;
        assert_eq!(ran.code(), Some(0), "{ran}");
        assert!(ran.stdout().contains(state), "{task}: {ran}");
    }
    let log = run.path("events/executor/20260119-0900.jsonl");
    let ran = sandbox.run(&["explain", ORDERS, "T001"])?;
    assert!(ran.stdout().contains(log.as_str()), "{ran}");
    Ok(())
}

/// Elsewhere a transcript of twelve megabytes kept a processor busy for twenty minutes, and larger
/// ones could not be resumed at all.
#[test]
fn claude_code_24457_a_transcript_of_a_gigabyte_is_read_from_its_end() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let name: String = sandbox
        .project()
        .as_str()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let folder = sandbox.root().join("home/.claude/projects").join(name);
    fs_err::create_dir_all(&folder)?;
    let transcript = folder.join("9134cf00-e3ef-419a-a946-a1369cd9cee5.jsonl");
    // Sparse, so that it takes no room on the disk.
    fs_err::File::create(&transcript)?.file().set_len(1 << 30)?;
    let last = json!({"type": "user", "cwd": sandbox.project(), "timestamp": "2026-01-20T11:00:00Z",
        "message": {"role": "user", "content": "go on"}});
    let mut file = fs_err::OpenOptions::new().append(true).open(&transcript)?;
    std::io::Write::write_all(&mut file, format!("\n{last}\n").as_bytes())?;
    let little = ["sh", "-c", r#"ulimit -v 153600 && exec "$@""#, "sh"];
    for args in [
        &["status"][..],
        &["hook", "session-start", "--agent", "claude"],
    ] {
        let ran = sandbox.typed(args).through(&little).run()?;
        assert_eq!(ran.code(), Some(0), "{ran}");
        assert!(ran.stdout().contains(ORDERS), "{ran}");
        let told = format!("{}{}", ran.stdout(), ran.stderr());
        assert!(told.contains("died in the middle of its turn"), "{ran}");
    }
    Ok(())
}
