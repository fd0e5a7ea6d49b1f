//! A workflow of MAP belongs to a branch: without an id, that of the branch that is checked out is meant.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::conformance::{Case, Scene};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::client::{BINARY, Client};

const ID: &str = "map:main";

/// A workflow of `main` that was interrupted, in a repository.
fn interrupted() -> Result<Sandbox> {
    let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let case = Case::load(&top.join("map/20-monitor-failed-once"))?;
    Ok(Scene::lay_out_in_memory(&case)?.into_sandbox(BINARY))
}

#[test]
fn without_an_id_the_branch_that_is_checked_out_is_meant() -> Result<()> {
    let sandbox = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    for (tool, arguments) in [
        ("brief", json!({})),
        ("inspect", json!({})),
        ("plan", json!({})),
        ("checkpoints", json!({})),
        ("explain", json!({"task": "ST-003"})),
    ] {
        let meant = client.object(tool, &arguments)?;
        let mut named = arguments.clone();
        named["id"] = json!(ID);
        assert_eq!(meant, client.object(tool, &named)?, "{tool}");
    }
    let plan = client.object("plan", &json!({}))?;
    assert_eq!(plan["question"]["header"], "Resume", "{plan}");
    let turn = client.object("resume", &json!({"digest": plan["digest"]}))?;
    assert_eq!((&turn["id"], &turn["state"]), (&json!(ID), &json!("step")));
    // A step of MAP closes without a shell.
    assert_eq!(turn["step"]["who"], "actor", "{turn}");
    let next = client.object("next_step", &json!({"result": "done"}))?;
    assert_eq!(next["step"]["who"], "monitor", "{next}");
    client.end()
}

#[test]
fn on_a_branch_without_a_workflow_every_tool_says_where_there_is_one() -> Result<()> {
    let sandbox = interrupted()?;
    let ran = sandbox
        .typed(&[])
        .through(&["sh", "-c", "git checkout -q -b other"])
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let mut client = Client::open(&sandbox)?;
    let where_it_is = "`.map/main` has a workflow";
    let plan = client.object("plan", &json!({}))?;
    let brief = client.object("brief", &json!({}))?;
    assert_eq!(plan["id"], "map:other");
    assert_eq!(plan["next"], "there is no checkpoint for `other`");
    ensure!(plan["hints"].to_string().contains(where_it_is), "{plan}");
    let text = brief["text"].as_str().context("no text")?;
    ensure!(text.contains(&format!("hint: {where_it_is}")), "{text}");
    // By its id it is there all the same.
    let named: Value = client.object("plan", &json!({"id": ID}))?;
    assert_eq!(named["id"], ID, "{named}");
    client.end()
}
