//! Control characters and odd paths: what reaches the terminal.

use anyhow::Result;
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::json;

use crate::{BINARY, ORDERS, beside};

#[test]
fn a_project_with_an_odd_path_is_resumed_to_its_end() -> Result<()> {
    let sandbox = Sandbox::named(BINARY, "a 'b' \"c\"\n$d `e` \\f -g é")?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    let agent = sandbox.script("agent.sh", DILIGENT_AGENT)?;
    let project = sandbox.project().as_str();
    let typed = sandbox.typed(&["-C", project, "resume", "--yes", "--agent-cmd", &agent]);
    let ran = typed.from("/").answering("merged\n").run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert!(run.told(&sandbox)?.ends_with("run_completed\n"));
    assert_eq!(sandbox.read("work/T003.txt")?, "work of T003\n");
    assert_eq!(
        beside(&sandbox)?.len(),
        3,
        "home, the project and the agent"
    );
    let shown = sandbox.run(&["doctor"])?;
    let begins = ["ok  ", "note  ", "    hint: "];
    assert!(
        shown
            .stdout()
            .lines()
            .all(|line| begins.iter().any(|begin| line.starts_with(begin))),
        "a line break in a path breaks no line: {shown}"
    );
    Ok(())
}

/// Sets the window's title, clears the screen, turns the text around: none of it may reach a terminal.
const EVIL: &str = "\u{1b}]0;evil\u{7}\u{1b}[2Jevil\u{9b}31m\u{202e}\r";

#[test]
fn control_characters_from_files_never_reach_the_terminal() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let name = format!("20260119-0900-{EVIL}-a1b2");
    let other = format!("20260118-0900-{EVIL}-a1b2");
    let task = format!("T{EVIL}");
    let run = Run::in_execution(&name)
        .event("09:40", "checkpoint_created", &json!({"message": EVIL}))
        .event("09:41", &format!("note{EVIL}"), &json!({"error": EVIL}))
        .task_event("09:42", "task_started", &task)
        .task_event("09:43", "task_failed", &format!("unknown{EVIL}"));
    run.lay_out(&sandbox)?;
    let tasks = json!([
        {"id": task, "title": EVIL, "description": EVIL, "dependencies": [EVIL]},
        {"id": task, "title": EVIL},
        {"id": "T2", "title": EVIL, "acceptance_criteria": [EVIL], "verification_commands": ["false"]},
        {"id": "T3", "title": EVIL},
    ]);
    let blocked = json!({"event_type": "task_blocked", "task_id": "T3",
        "timestamp": "2026-01-19T10:00:00Z", "details": {"reason": EVIL}});
    sandbox.write(
        run.path("task-graph.json"),
        json!({"tasks": tasks}).to_string(),
    )?;
    sandbox.write(
        run.path(&format!("events/{EVIL}.jsonl")),
        format!("{blocked}\n\u{1b}\n"),
    )?;
    Run::complete(&other).lay_out(&sandbox)?;
    let waiting =
        Run::awaiting_approval(&format!("20260117-0900-{EVIL}-a1b2")).task("T1", EVIL, &[]);
    waiting.lay_out(&sandbox)?;
    let below = sandbox.path(format!("below {EVIL}/deep"));
    fs_err::create_dir_all(&below)?;
    for color in ["never", "always"] {
        for args in [
            &["status", "-v"][..],
            &["status", "--json"],
            &["inspect", "-v"],
            &["inspect", "-v", "20260119"],
            &["inspect", "--json"],
            &["inspect", EVIL],
            &["plan", "20260119"],
            &["plan", "--json", "20260119"],
            &["plan"],
            &["explain", "20260119", &task],
            &["explain", "20260119", EVIL],
            &["explain", EVIL],
            &["checkpoints", "20260119"],
            &["checkpoint", "20260119", "-m", EVIL],
            &["checkpoints", "20260119"],
            &["event", "20260119", "note", "--task", EVIL],
            &["doctor"],
            &["resume"],
            &["resume", "20260119"],
            &["resume", "20260118", "--yes"],
            &["resume", "20260117", "--yes"],
            &["resume", "nonsense"],
            &["resume", "20260119", "--yes", "--no-agent"],
            &["resume", "20260119", "--yes", "--agent-cmd", "exit 1"],
            &["resume", "20260119", "--yes", "--agent-cmd", "exit 0"],
            &["-C", EVIL],
            &["inspect", "--from", EVIL],
            &["inspect", "--capture", EVIL],
        ] {
            let args = [&["--color", color], args].concat();
            harmless(&sandbox.run(&args)?, &args);
        }
        let args = ["--color", color, "status"];
        harmless(&sandbox.typed(&args).from(&below).run()?, &args);
        fs_err::remove_file(sandbox.path(EVIL))?;
    }
    Ok(())
}

/// Checks that nothing but our own colors could move a terminal.
#[track_caller]
fn harmless(ran: &Ran, args: &[&str]) {
    for text in [ran.stdout(), ran.stderr()] {
        let mut rest = text.into_owned();
        for code in ["0", "1", "2", "31", "32", "33", "36"] {
            rest = rest.replace(&format!("\u{1b}[{code}m"), "");
        }
        let is_json = args.contains(&"--json");
        let bad = rest.chars().find(|&c| {
            // JSON is for programs; of what it must not hold, ESC is what a terminal minds.
            let unsafe_char = (c.is_control() && c != '\n') || c == '\u{202e}';
            if is_json { c == '\u{1b}' } else { unsafe_char }
        });
        assert_eq!(bad, None, "{args:?}: {rest:?}");
    }
}
