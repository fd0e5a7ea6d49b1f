//! Captures of `inspect --capture`, and reading them again.

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;

use crate::{BILLING, ORDERS, interrupted};

#[test]
fn a_capture_plays_back_to_the_same_bytes_even_without_the_project() -> Result<()> {
    for damage in ["", "torn", "\u{feff}{}\nnot json\n"] {
        let (sandbox, run) = interrupted()?;
        Run::awaiting_approval(BILLING)
            .task("T001", "x", &[])
            .lay_out(&sandbox)?;
        if !damage.is_empty() {
            sandbox.write(run.path("events/x.jsonl"), damage)?;
        }
        let bytes = [b"\xff\xfe".as_slice(), damage.as_bytes()].concat();
        sandbox.write(run.path("events/not-utf8.jsonl"), bytes)?;
        for name in [None, Some(ORDERS), Some("2026"), Some("20260118")] {
            let args: Vec<&str> = ["inspect", "--json"].into_iter().chain(name).collect();
            let live = sandbox.run(&args)?;
            let capture = sandbox
                .root()
                .join(format!("capture-{}", name.unwrap_or("none")));
            let made = sandbox.run(&[&args[..], &["--capture", capture.as_str()]].concat())?;
            assert_eq!(made.to_string(), live.to_string());
            if live.code() == Some(0) {
                let played = [&args[..], &["--from", capture.as_str()]].concat();
                let elsewhere = sandbox.typed(&played).from("/").at("2030-01-01T00:00:00Z");
                assert_eq!(elsewhere.run()?.stdout_bytes(), live.stdout_bytes());
            }
        }
        let live = sandbox.run(&["inspect", "--json", ORDERS])?;
        fs_err::remove_dir_all(sandbox.project())?;
        let capture = sandbox.root().join(format!("capture-{ORDERS}"));
        let played = sandbox.typed(&["inspect", "--json", ORDERS, "--from", capture.as_str()]);
        let played = played.from("/").run()?;
        assert_eq!(played.stdout_bytes(), live.stdout_bytes());
        assert_eq!(played.code(), Some(0));
    }
    Ok(())
}

#[test]
fn a_capture_never_overwrites_a_file() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    sandbox.write("mine", "precious")?;
    insta::assert_snapshot!(sandbox.run(&["inspect", "--capture", "mine"])?, @"
    exit 1
    --- stderr
    error: `[PROJECT]/mine` already exists

    hint: choose the name of a file that does not exist yet
    ");
    assert_eq!(sandbox.read("mine")?, "precious");
    Ok(())
}

#[test]
fn a_capture_says_that_it_holds_what_was_read() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let ran = sandbox.run(&["inspect", "--capture", "capture"])?;
    insta::assert_snapshot!(ran.stderr(), @"note: `capture` holds the contents of the files that were read; check it before you share it");
    assert!(
        sandbox
            .read("capture")?
            .starts_with(r#"{"schema":"rekindle.capture/1","#)
    );
    Ok(())
}
