//! Agents that rekindle itself has started: told nothing, and heard when they use tools.

use anyhow::{Context as _, Result};
use rekindle_testkit::repository::{Project, WRITE, text};
use rekindle_testkit::sandbox::quoted;
use serde_json::{Value, json};

use crate::{BINARY, call, interrupted, told};

#[test]
fn an_agent_of_ours_gets_no_briefing_and_no_note() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    call(&sandbox, "session-start", &json!({}))?;
    let before = sandbox.files()?;
    for moment in [
        "session-start",
        "pre-compact",
        "session-end",
        "stop",
        "stop-failure",
        "post-tool-use",
    ] {
        for variable in ["REKINDLE_RUN", "REKINDLE_WORKFLOW"] {
            let ran = sandbox
                .typed(&["hook", moment])
                .answering(&told(&sandbox, &json!({"error": "rate_limit"})))
                .with(variable, "agent-memory:x")
                .with("REKINDLE_PROJECT", sandbox.project().as_str())
                .run()?;
            assert_eq!(
                (ran.code(), ran.stdout().as_ref()),
                (Some(0), ""),
                "{moment}: {ran}"
            );
        }
    }
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}

/// Runs one task whose agent calls the hook of a tool, and returns the heartbeats of the run.
fn beats(before: &str) -> Result<Vec<Value>> {
    let project = Project::new(BINARY);
    project.plan("A");
    let hook = format!("{} hook post-tool-use --agent claude", quoted(BINARY));
    let agent = format!("{WRITE}; {before} echo '{{}}' | {hook}; echo '{{}}' | {hook}");
    let ran = project.run(&agent, &[]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let lines = project.shell("cat .agent-memory/runs/*/events/*/*.jsonl");
    let lines = text(&lines.stdout);
    let events = lines.lines().map(serde_json::from_str::<Value>);
    let events: Vec<Value> = events.collect::<Result<_, _>>().context(lines.clone())?;
    let is_beat = |event: &Value| event["event_type"] == "heartbeat";
    Ok(events.into_iter().filter(is_beat).collect())
}

#[test]
fn the_use_of_a_tool_is_a_sign_of_life_of_the_task() -> Result<()> {
    // As if the worker had last been heard of long ago.
    let long_ago =
        r#"touch -d "2 hours ago" "$REKINDLE_PROJECT"/.agent-memory/runs/*/events/executor-1/*;"#;
    let beats_seen = beats(long_ago)?;
    assert_eq!(beats_seen.len(), 1, "{beats_seen:?}");
    assert_eq!(beats_seen[0]["task_id"], "A");
    Ok(())
}

#[test]
fn a_sign_of_life_is_not_repeated_and_a_stranger_gives_none() -> Result<()> {
    assert_eq!(beats("")?, [] as [Value; 0]);
    let long_ago =
        r#"touch -d "2 hours ago" "$REKINDLE_PROJECT"/.agent-memory/runs/*/events/executor-1/*;"#;
    for stranger in [
        "export REKINDLE_TOKEN=other;",
        "export REKINDLE_ATTEMPT=2;",
        "export REKINDLE_TASK=../x;",
        "export REKINDLE_PROJECT=/nowhere;",
        "export REKINDLE_WORKFLOW=agent-memory:other;",
    ] {
        assert_eq!(
            beats(&format!("{long_ago}{stranger}"))?,
            [] as [Value; 0],
            "{stranger}"
        );
    }
    Ok(())
}
