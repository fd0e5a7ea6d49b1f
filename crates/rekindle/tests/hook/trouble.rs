//! Whatever is wrong, the agent sees exit code 0 and nothing on standard output.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use anyhow::Result;
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::json;

use crate::{BINARY, call, interrupted, told};

const MOMENTS: [&str; 6] = [
    "session-start",
    "pre-compact",
    "session-end",
    "stop",
    "stop-failure",
    "post-tool-use",
];

fn silent(ran: &Ran) {
    assert_eq!((ran.code(), ran.stdout().as_ref()), (Some(0), ""), "{ran}");
}

#[test]
fn input_that_cannot_be_understood_is_logged_and_not_reported() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    for told in ["{", "[]", "nonsense", "{\"a\":1}{}"] {
        silent(
            &sandbox
                .typed(&["hook", "session-start"])
                .answering(told)
                .run()?,
        );
    }
    silent(&sandbox.run(&["hook", "no-such-event"])?);
    silent(&sandbox.run(&["hook", "stop", "--agent", "nobody"])?);
    insta::assert_snapshot!(sandbox.read(".rekindle/hook.log")?, @r"
    2026-01-20T12:00:00Z session-start: the hook input is not JSON: EOF while parsing an object at line 1 column 1
    2026-01-20T12:00:00Z session-start: the hook input is not a JSON object
    2026-01-20T12:00:00Z session-start: the hook input is not JSON: expected ident at line 1 column 2
    2026-01-20T12:00:00Z session-start: the hook input is not JSON: trailing characters at line 1 column 8
    2026-01-20T12:00:00Z no-such-event: unknown hook event `no-such-event`
    2026-01-20T12:00:00Z stop: unknown agent `nobody`
    ");
    Ok(())
}

#[test]
fn where_no_protocol_has_anything_not_even_a_log_is_made() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for moment in MOMENTS {
        silent(&sandbox.typed(&["hook", moment]).answering("{").run()?);
    }
    assert_eq!(fs_err::read_dir(sandbox.project())?.count(), 0);
    Ok(())
}

#[test]
fn words_of_a_newer_release_do_not_veto() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    for args in [
        &["hook"][..],
        &["hook", "stop", "--new-option"],
        &["hook", "stop", "more"],
        &["hook", "--json", "--x"],
        &["--color", "pink", "hook", "stop"],
        &["--new-option", "hook", "pre-compact"],
    ] {
        assert_eq!(sandbox.run(args)?.code(), Some(0), "{args:?}");
    }
    for args in [&["status", "--new-option"][..], &["explain", "hook", "--x"]] {
        assert_eq!(sandbox.run(args)?.code(), Some(2), "{args:?}");
    }
    Ok(())
}

#[test]
fn more_than_a_hook_needs_is_read_to_its_end_and_refused() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let long = told(&sandbox, &json!({"tool_response": "x".repeat(2 << 20)}));
    silent(
        &sandbox
            .typed(&["hook", "session-start"])
            .answering(&long)
            .run()?,
    );
    assert!(
        sandbox
            .read(".rekindle/hook.log")?
            .contains("larger than 1048576 bytes")
    );
    // What a tool has read may be of any length.
    let before = sandbox.files()?;
    silent(
        &sandbox
            .typed(&["hook", "post-tool-use"])
            .answering(&long)
            .run()?,
    );
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}

#[test]
fn a_project_that_cannot_be_written_to_fails_no_agent() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    symlink("/", sandbox.path(".rekindle"))?;
    for moment in MOMENTS {
        assert_eq!(
            call(&sandbox, moment, &json!({"error": "x"}))?.code(),
            Some(0)
        );
    }
    fs_err::remove_file(sandbox.path(".rekindle"))?;
    fs_err::write(sandbox.path(".rekindle"), "a file")?;
    for moment in MOMENTS {
        assert_eq!(
            call(&sandbox, moment, &json!({"error": "x"}))?.code(),
            Some(0)
        );
    }
    Ok(())
}

#[test]
fn a_link_that_came_with_a_clone_leads_no_hook_to_another_file() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let outside = sandbox.root().join("outside");
    fs_err::write(&outside, "mine\n")?;
    sandbox.write("README.md", "mine\n")?;
    fs_err::create_dir(sandbox.path(".rekindle"))?;
    for target in [outside.as_str(), "../README.md"] {
        for name in ["stopped.json", "hook.log"] {
            symlink(target, sandbox.path(".rekindle").join(name))?;
        }
        call(&sandbox, "stop", &json!({}))?;
        silent(&sandbox.typed(&["hook", "stop"]).answering("{").run()?);
        assert_eq!(fs_err::read_to_string(&outside)?, "mine\n");
        assert_eq!(sandbox.read("README.md")?, "mine\n");
        for name in ["stopped.json", "hook.log"] {
            let link = sandbox.path(".rekindle").join(name);
            assert_eq!(link.read_link_utf8()?, target);
            fs_err::remove_file(link)?;
        }
    }
    // Where only the note can not be written, the log says so.
    symlink("../README.md", sandbox.path(".rekindle/stopped.json"))?;
    call(&sandbox, "stop", &json!({}))?;
    let log = sandbox.read(".rekindle/hook.log")?;
    assert!(log.contains("stopped.json` is a symbolic link"), "{log}");
    Ok(())
}

#[test]
fn an_input_that_is_never_closed_is_not_waited_for() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let typed = sandbox.typed(&["hook", "session-start"]);
    // Nothing, a part, and all of it is told; the pipe stays open in each case.
    for (told, is_answered) in [("", true), ("{\"cwd\":", false), ("{\"a\":{}}\n", true)] {
        let mut running = typed.start()?;
        running.answer(told)?;
        let ran = typed.ran(running.ended()?);
        assert_eq!(ran.code(), Some(0), "{ran}");
        assert_eq!(!ran.stdout().is_empty(), is_answered, "{ran}");
    }
    let log = sandbox.read(".rekindle/hook.log")?;
    assert!(log.contains("is not JSON: EOF"), "{log}");
    Ok(())
}

#[test]
fn a_clock_or_a_folder_that_is_wrong_fails_no_agent() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let input = told(&sandbox, &json!({}));
    silent(
        &sandbox
            .typed(&["hook", "session-start"])
            .answering(&input)
            .at("never")
            .run()?,
    );
    let args = ["-C", "/no/such/folder", "hook", "stop"];
    silent(&sandbox.typed(&args).answering(&input).run()?);
    let runs = sandbox.path(".agent-memory/runs");
    fs_err::set_permissions(&runs, std::fs::Permissions::from_mode(0o000))?;
    for moment in MOMENTS {
        call(&sandbox, moment, &json!({}))?;
    }
    fs_err::set_permissions(&runs, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[test]
fn an_agent_in_a_hurry_loses_no_note() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let typed = sandbox.typed(&["hook", "stop-failure", "--agent", "claude"]);
    let mut running = typed.start()?;
    // It has its handlers when it reads: a pipe takes no more than 64 KiB before somebody reads.
    running.answer(&" ".repeat(256 * 1024))?;
    running.ask_to_end()?;
    running.answer(&told(&sandbox, &json!({"error": "rate_limit"})))?;
    silent(&typed.ran(running.finish()?));
    assert!(sandbox.read(".rekindle/stopped.json")?.contains("limit"));
    Ok(())
}
