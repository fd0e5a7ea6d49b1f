//! `rekindle demo sessions`, which checks itself what it shows.

use anyhow::Result;
use rekindle_testkit::sandbox::Sandbox;

use crate::BINARY;

#[test]
fn the_demo_tells_six_killed_sessions_and_continues_the_safe_ones() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let shared = sandbox.root().join("shared");
    fs_err::create_dir(&shared)?;
    let typed = sandbox.typed(&["demo", "sessions"]);
    // Somebody's own sessions stay out of it.
    let typed = typed.with("CODEX_HOME", "/nowhere");
    let ran = typed
        .with("TMPDIR", shared.as_str())
        .without("REKINDLE_NOW")
        .run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let said = ran.stdout();
    for part in [
        "*** killed: six agents ***",
        "session:claude:aaaa1111   interrupted just now in `Bash: pytest -q`",
        "session:codex:bbbb2222   interrupted just now in `exec_command: make import`",
        "session:claude:cccc3333   waiting for a person just now for `AskUserQuestion: Postgres or SQLite?`",
        "session:claude:dddd4444   limited until ",
        "session:gemini:eeee5555   interrupted just now",
        "session:claude:ffff6666   interrupted just now in `Bash: pytest -q`, not safe: its folder is gone",
        "`session:codex:bbbb2222` has ended its turn",
        "`session:claude:cccc3333` was left alone: it waits for a person",
        "the transcripts of the others are as they were, byte by byte.",
    ] {
        assert!(said.contains(part), "{part}: {ran}");
    }
    assert!(!sandbox.root().join("home/.claude").exists());
    Ok(())
}
