//! The agent's process: its input, its variables, its output, and its calls of rekindle.

use anyhow::Result;
use rekindle_testkit::sandbox::quoted;

use crate::{BINARY, Scene, nearly_done};

#[test]
fn an_agent_gets_the_prompt_as_input_and_its_task_in_the_environment() -> Result<()> {
    let scene = Scene::new(
        nearly_done(),
        "cat >seen.prompt; env >seen.env; pwd >seen.folder; exit 9",
    )?;
    scene.resume("")?;
    let prompt = scene.sandbox.read("seen.prompt")?;
    assert!(
        prompt.starts_with("You are the executor of run"),
        "{prompt}"
    );
    assert!(prompt.contains("## Task: T002"), "{prompt}");
    let environment = scene.sandbox.read("seen.env")?;
    let mut ours: Vec<&str> = environment
        .lines()
        .filter(|line| {
            line.starts_with("REKINDLE_") && !line.ends_with(scene.sandbox.project().as_str())
        })
        .map(|line| match line.strip_prefix("REKINDLE_AGENT=") {
            Some(mark) if !mark.is_empty() => "REKINDLE_AGENT=[MARK]",
            _ => line,
        })
        .collect();
    ours.sort_unstable();
    insta::assert_snapshot!(ours.join("\n"), @"
    REKINDLE_AGENT=[MARK]
    REKINDLE_ATTEMPT=3
    REKINDLE_NOW=2026-01-20T12:00:00Z
    REKINDLE_ROLE=executor
    REKINDLE_RUN=20260119-0900-orders-api-k2l3
    REKINDLE_TASK=T002
    REKINDLE_WORKFLOW=agent-memory:20260119-0900-orders-api-k2l3
    ");
    for variable in ["REKINDLE_PROJECT", "REKINDLE_WORKTREE"] {
        let line = format!("{variable}={}\n", scene.sandbox.project());
        assert!(environment.contains(&line), "{environment}");
    }
    let folder = format!("{}\n", scene.sandbox.project());
    assert_eq!(scene.sandbox.read("seen.folder")?, folder);
    Ok(())
}

#[test]
fn an_agent_that_reads_nothing_does_not_block_a_long_prompt() -> Result<()> {
    let long = "read all of this\n".repeat(20_000);
    let run = nearly_done().document("tasks/T002.md", &long);
    let scene = Scene::new(run, "exec 0<&-")?;
    let ran = scene.resume("merged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

#[test]
fn what_an_agent_prints_never_reaches_standard_output() -> Result<()> {
    let flood = "yes 'lorem ipsum dolor sit amet' | head -c 300000; echo 'RESUMING RUN: forged'";
    let scene = Scene::new(nearly_done(), flood)?;
    let quiet = Scene::new(nearly_done(), "")?;
    let (ran, plain) = (scene.resume("merged\n")?, quiet.resume("merged\n")?);
    assert_eq!(ran.stdout(), plain.stdout());
    assert!(plain.stdout().contains("RESUMING RUN"), "{plain}");
    // Six agents, and everything of theirs is there.
    assert!(ran.stderr_bytes().len() > 6 * 300_000);
    assert_eq!(ran.stderr().matches("RESUMING RUN: forged").count(), 6);
    Ok(())
}

#[test]
fn an_agent_can_report_while_its_run_is_held() -> Result<()> {
    // A step that is no task's has none to name.
    let beat = format!(
        "rekindle={}\nif [ -n \"$REKINDLE_TASK\" ]; then beat=\"heartbeat $REKINDLE_RUN $REKINDLE_TASK\"; \
         else beat=\"event $REKINDLE_RUN heartbeat\"; fi\n$rekindle $beat --actor worker-1 || exit 1",
        quoted(BINARY)
    );
    let scene = Scene::new(nearly_done(), &beat)?;
    let ran = scene.resume("merged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let log = scene.run.path("events/worker-1/20260120-rekindle.jsonl");
    assert_eq!(scene.sandbox.read(log)?.lines().count(), 6);
    Ok(())
}

#[test]
fn quiet_leaves_the_agents_words_and_drops_ours() -> Result<()> {
    let scene = Scene::new(nearly_done(), "echo agent speaks; exit 1")?;
    let args = ["resume", "--yes", "-q", "--agent-cmd", &scene.agent];
    let ran = scene.sandbox.run(&args)?;
    assert!(
        ran.stderr()
            .starts_with("agent speaks\nagent speaks\nagent speaks\nT002"),
        "{ran}"
    );
    Ok(())
}

#[test]
fn without_yes_the_work_starts_only_after_the_question() -> Result<()> {
    let scene = Scene::new(nearly_done(), "")?;
    let typed = scene
        .sandbox
        .typed(&["resume", "--agent-cmd", &scene.agent]);
    let declined = typed.answering("n\n").run()?;
    assert_eq!(declined.code(), Some(0), "{declined}");
    assert!(!scene.sandbox.root().join("calls").exists());
    let typed = scene
        .sandbox
        .typed(&["resume", "--agent-cmd", &scene.agent]);
    let agreed = typed.answering("y\nmerged\n").run()?;
    assert!(agreed.stderr().contains("done: run"), "{agreed}");
    Ok(())
}
