//! A session is told once: the whole at first, a pointer when something has changed, else nothing.

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::json;

use crate::{BINARY, context, interrupted, told};

fn start(sandbox: &Sandbox, session: &str, source: &str) -> Result<Ran> {
    let more = json!({"session_id": session, "source": source});
    let typed = sandbox.typed(&["hook", "session-start", "--agent", "claude"]);
    Ok(typed.answering(&told(sandbox, &more)).run()?)
}

#[test]
fn a_session_is_briefed_once_and_again_only_when_something_has_changed() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let whole = context(&start(&sandbox, "a", "startup")?)?;
    assert!(
        whole.starts_with("rekindle: 1 workflow is interrupted"),
        "{whole}"
    );
    for source in ["resume", "compact", "startup", "fork"] {
        assert_eq!(start(&sandbox, "a", source)?.stdout(), "", "{source}");
    }
    // Nothing is left of what a cleared conversation was told, and another session knows nothing.
    assert_eq!(context(&start(&sandbox, "a", "clear")?)?, whole);
    assert_eq!(context(&start(&sandbox, "b", "startup")?)?, whole);
    let event = json!({"event_type": "task_completed", "task_id": "T002", "timestamp": "2026-01-19T11:10:00Z"});
    sandbox.write(run.path("events/executor/z.jsonl"), format!("{event}\n"))?;
    let pointer = context(&start(&sandbox, "a", "resume")?)?;
    assert!(
        pointer.contains("has changed") && pointer.contains("T003"),
        "{pointer}"
    );
    assert!(pointer.len() * 2 < whole.len(), "{pointer}");
    assert_eq!(start(&sandbox, "a", "compact")?.stdout(), "");
    Ok(())
}

/// A plugin and settings can both have the hooks, and agents run hooks side by side.
#[test]
fn of_hooks_that_run_at_the_same_time_one_briefs() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let more = told(&sandbox, &json!({"source": "startup"}));
    let typed = sandbox.typed(&["hook", "session-start", "--agent", "claude"]);
    let typed = typed.answering(&more);
    let started = (0..4)
        .map(|_| typed.start())
        .collect::<Result<Vec<_>, _>>()?;
    let mut n_briefings = 0;
    for running in started {
        let ran = typed.ran(running.finish()?);
        n_briefings += usize::from(!ran.stdout().is_empty());
    }
    assert_eq!(n_briefings, 1);
    Ok(())
}

#[test]
fn the_person_gets_one_line() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let answer = start(&sandbox, "a", "startup")?.json()?;
    let line = answer["systemMessage"].as_str().unwrap_or_default();
    insta::assert_snapshot!(line, @r#"rekindle: 20260119-0900-orders-api-k2l3 stopped (1 of 3 done), next: Resume T002 - Add endpoint (attempt 1). Say "resume" to continue."#);
    Ok(())
}

#[test]
fn of_thirty_workflows_the_newest_three_are_told_in_fewer_than_300_tokens() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for n in 0..30 {
        Run::interrupted(&format!("202601{:02}-0900-orders-api-{n:04}", n % 18 + 1))
            .lay_out(&sandbox)?;
    }
    let text = context(&start(&sandbox, "a", "startup")?)?;
    assert!(text.contains("\nand 27 more: "), "{text}");
    assert!(text.len().div_ceil(4) < 300, "{}: {text}", text.len());
    Ok(())
}

#[test]
fn a_muted_workflow_is_told_to_nobody_until_that_is_undone() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let muted = sandbox.run(&["mute", "20260119"])?;
    assert_eq!(muted.code(), Some(0), "{muted}");
    assert_eq!(start(&sandbox, "a", "startup")?.stdout(), "");
    // It is listed all the same.
    let status = sandbox.run(&["status", "--json"])?;
    assert!(status.stdout().contains(run.id()), "{status}");
    sandbox.run(&["mute", "20260119", "--undo"])?;
    assert!(context(&start(&sandbox, "a", "startup")?).is_ok());
    assert_eq!(sandbox.run(&["mute", "nonsense"])?.code(), Some(1));
    Ok(())
}
