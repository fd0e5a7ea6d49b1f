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
        ("resume", json!({})),
        ("next_step", json!({})),
        ("checkpoints", json!({})),
        ("explain", json!({"task": "ST-003"})),
    ] {
        let meant = client.object(tool, &arguments)?;
        let mut named = arguments.clone();
        named["id"] = json!(ID);
        assert_eq!(meant, client.object(tool, &named)?, "{tool}");
    }
    let step = client.object("next_step", &json!({}))?;
    assert_eq!(
        (&step["id"], &step["then"]["kind"]),
        (&json!(ID), &json!("agent"))
    );
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
    let step = client.object("next_step", &json!({}))?;
    let brief = client.object("brief", &json!({}))?;
    for (object, then) in [(&plan, &plan["then"]), (&step, &step["then"])] {
        assert_eq!(object["id"], "map:other");
        assert_eq!(then["reason"], "there is no checkpoint for `other`");
        ensure!(then["hints"].to_string().contains(where_it_is), "{object}");
    }
    ensure!(step["hints"].to_string().contains(where_it_is), "{step}");
    let text = brief["text"].as_str().context("no text")?;
    ensure!(text.contains(&format!("hint: {where_it_is}")), "{text}");
    // By its id it is there all the same.
    let named: Value = client.object("next_step", &json!({"id": ID}))?;
    assert_eq!(named["then"]["kind"], "agent", "{named}");
    client.end()
}
