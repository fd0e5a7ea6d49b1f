//! Failures as objects.

use anyhow::{Context as _, Result};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;

use crate::schemas::Schemas;
use crate::{BILLING, BINARY, ORDERS, interrupted};

#[test]
fn every_failure_is_an_object_with_its_exit_code() -> Result<()> {
    let schemas = Schemas::new()?;
    let (sandbox, _) = interrupted()?;
    Run::awaiting_approval(BILLING)
        .task("T001", "x", &[])
        .lay_out(&sandbox)?;
    sandbox.write("not-a-recording", "x")?;
    let agent = sandbox.script("idle.sh", "exit 0")?;
    Run::new("20260117-0900-idle-e5f6").lay_out(&sandbox)?;
    for (args, code) in [
        (&["inspect", "nonsense"][..], 1),
        (&["plan", "nonsense"], 1),
        (&["plan"], 3),
        (&["checkpoint"], 3),
        (&["checkpoints"], 3),
        (&["resume"], 3),
        (&["resume", "nonsense"], 1),
        (&["explain", "NO_SUCH_CODE"], 1),
        (&["explain", ORDERS, "T999"], 1),
        (&["event", "nonsense", "x"], 1),
        (&["heartbeat", "nonsense", "T001"], 1),
        (&["inspect", "--from", "not-a-recording"], 1),
        (&["inspect", "--from", "not-there"], 1),
        (&["inspect", ORDERS, "--capture", "not-a-recording/x"], 1),
        (&["resume", "20260117", "--yes", "--agent-cmd", &agent], 1),
        (&["-C", "not-there"], 2),
        (&["resurrect"], 2),
        (&["event", ORDERS, "x", "--details", "["], 2),
        (&["inspect", "--no-such-option"], 2),
        (&["-C"], 2),
    ] {
        let ran = sandbox.run(&[args, &["--json"]].concat())?;
        let object = schemas
            .check(&ran, "rekindle.error/1")
            .with_context(|| format!("{args:?}"))?;
        assert_eq!(ran.code(), Some(code), "{args:?}: {ran}");
        assert_eq!(object["error"]["exit"], code, "{args:?}");
        assert_ne!(object["error"]["message"], "", "{args:?}");
    }
    let late = sandbox.typed(&["--json"]).at("yesterday").run()?;
    schemas.check(&late, "rekindle.error/1")?;
    assert_eq!(late.code(), Some(2));
    Ok(())
}

#[test]
fn a_failure_in_json_says_the_same_as_in_text() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let failure = sandbox.run(&["inspect", "nonsense", "--json"])?;
    insta::assert_snapshot!(format!("{:#}", failure.json()?), @r#"
    {
      "error": {
        "causes": [],
        "code": "UNKNOWN_WORKFLOW",
        "exit": 1,
        "findings": [],
        "hints": [
          "`agent-memory:20260119-0900-orders-api-k2l3` can be resumed",
          "`rekindle` lists the workflows of this project"
        ],
        "message": "no workflow `nonsense` in this project"
      },
      "schema": "rekindle.error/1"
    }
    "#);
    assert_eq!(failure.stderr(), "");
    Ok(())
}

#[test]
fn help_and_version_stay_text_with_json() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for args in [["--json", "--help"], ["--json", "--version"]] {
        let ran = sandbox.run(&args)?;
        assert_eq!(ran.code(), Some(0));
        assert!(
            ran.stdout().contains("rekindle") && ran.json().is_err(),
            "{ran}"
        );
    }
    Ok(())
}
