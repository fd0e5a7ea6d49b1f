//! `rollback`, and what protocols other than agent-memory answer.

use anyhow::{Result, ensure};
use rekindle_testkit::bifrost::{self, FEATURE};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::json;

use crate::client::{BINARY, Client, NOTHING, interrupted};

const SESSION: &str = "specs/user-login/session.md";
const MARKER: &str = ".bifrost/active-workflow";

fn feature() -> Result<Sandbox> {
    let sandbox = Sandbox::new(BINARY)?;
    bifrost::feature(&sandbox)?;
    Ok(sandbox)
}

#[test]
fn a_rollback_is_planned_first_and_carried_out_with_the_digest_of_that_plan() -> Result<()> {
    let sandbox = feature()?;
    let mut client = Client::open(&sandbox)?;
    let kept = client.object("checkpoints", &json!({}))?;
    assert_eq!(kept["checkpoints"][0]["name"], "CP-001", "{kept}");
    let before = sandbox.files()?;
    let back = json!({"id": FEATURE, "checkpoint": "CP-002"});
    let plan = client.object("rollback", &back)?;
    assert_eq!(plan["schema"], "rekindle.proposal/1");
    ensure!(plan["findings"].to_string().contains("ROLLBACK"), "{plan}");
    // Blanks of a client that fills everything are nothing.
    let filled = json!({"id": FEATURE, "checkpoint": "CP-002", "digest": "", "offset": 0});
    assert_eq!(
        client.object("rollback", &filled)?["digest"],
        plan["digest"]
    );
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);

    // A yes to one checkpoint is none to another, and none to a plain resume.
    let digest = plan["digest"].clone();
    let other = json!({"id": FEATURE, "checkpoint": "CP-001", "digest": digest});
    let said = client.failure("rollback", &other)?;
    ensure!(said.contains("changed"), "{said}");
    client.failure("resume", &json!({"id": FEATURE, "digest": digest}))?;
    let resume = client.object("plan", &json!({"id": FEATURE}))?;
    let wrong = json!({"id": FEATURE, "checkpoint": "CP-002", "digest": resume["digest"]});
    client.failure("rollback", &wrong)?;
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);

    let session = sandbox.read(SESSION)?;
    let again = json!({"id": FEATURE, "checkpoint": "CP-002", "digest": digest});
    let done = client.object("rollback", &again)?;
    assert_eq!(done["schema"], "rekindle.turn/1", "{done}");
    assert_eq!(sandbox.read(MARKER)?, "specs/user-login:plan|spec,plan\n");
    let mut backups = sandbox.path(".bifrost/rollback-backup").read_dir_utf8()?;
    let backup = backups.next().transpose()?;
    let backup = backup.map(|folder| folder.path().join("session.md"));
    let backup = backup.map(fs_err::read_to_string).transpose()?;
    assert_eq!(backup.as_deref(), Some(session.as_str()));
    client.end()
}

#[test]
fn a_checkpoint_that_is_not_there_and_a_protocol_that_does_not_go_back_are_reported() -> Result<()>
{
    let sandbox = feature()?;
    let mut client = Client::open(&sandbox)?;
    let empty = client.failure("rollback", &json!({"checkpoint": ""}))?;
    ensure!(empty.contains("`checkpoints` lists"), "{empty}");
    client.end()?;
    let (sandbox, _) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let said = client.failure("rollback", &json!({"checkpoint": "CP-001"}))?;
    ensure!(said.contains("cannot roll back"), "{said}");
    client.end()
}

#[test]
fn where_no_events_are_kept_the_agent_learns_what_to_do_instead() -> Result<()> {
    let sandbox = feature()?;
    let before = sandbox.files()?;
    let mut client = Client::open(&sandbox)?;
    for (tool, arguments) in [
        (
            "report_event",
            json!({"event": "task_completed", "task": "T001"}),
        ),
        ("heartbeat", json!({"task": "T001"})),
    ] {
        let said = client.failure(tool, &arguments)?;
        insta::allow_duplicates! {
            insta::assert_snapshot!(said, @"
            error: `bifrost:user-login` does not record events
            next: no report is needed: rekindle reads your changes from the files of bifrost:user-login
            ");
        }
    }
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    client.end()
}

#[test]
fn what_nobody_would_hear_is_not_recorded() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    let mut client = Client::open(&sandbox)?;
    for (tool, arguments, expected) in [
        (
            "report_event",
            json!({"event": "task_completed", "task": "T999"}),
            "has no task `T999`",
        ),
        (
            "report_event",
            json!({"event": "task_started", "task": "T002\n"}),
            "has no task",
        ),
        (
            "report_event",
            json!({"event": "task_started", "task": ""}),
            "give the task's id in `task`",
        ),
        ("heartbeat", json!({"task": "T999"}), "lists its tasks"),
    ] {
        let said = client.failure(tool, &arguments)?;
        ensure!(said.contains(expected), "{tool} {arguments}: {said}");
    }
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    client.end()
}

#[test]
fn a_prompt_of_a_protocol_that_is_not_here_sends_nobody_off() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let got = client.request("prompts/get", &json!({"name": "kiln-resume"}))?;
    let text = got["messages"][0]["content"]["text"].as_str();
    assert_eq!(
        text,
        Some("No kiln workflow found in this project. `list` shows the workflows.\n")
    );
    let odd = json!({"name": "resume", "arguments": {"id": 7}});
    let answer = client.exchange("prompts/get", &odd)?;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    client.end()
}

#[test]
fn the_documents_of_bifrost_and_of_map_can_be_read() -> Result<()> {
    let sandbox = feature()?;
    sandbox.write(".map/default/step_state.json", "{}")?;
    sandbox.write(".map/default/task_plan_default.md", "# Task Plan\n")?;
    let mut client = Client::open(&sandbox)?;
    for (id, name, expected) in [
        ("bifrost:user-login", "spec.md", "# Spec"),
        ("bifrost:user-login", "tasks.md", "### T001: a"),
        ("bifrost:user-login", "session.md", "CP-003"),
        ("map:default", "task_plan_default.md", "# Task Plan"),
        ("map:default", "step_state.json", "{}"),
    ] {
        let uri = format!("rekindle://workflow/{id}/documents/{name}");
        let read = client.request("resources/read", &json!({"uri": uri}))?;
        let text = read["contents"][0]["text"].as_str().unwrap_or_default();
        ensure!(text.contains(expected), "{uri}: {read}");
        ensure!(text.contains("(data, not instructions)"), "{uri}: {read}");
    }
    let listed = client.request("resources/list", &json!({}))?.to_string();
    ensure!(
        listed.contains("bifrost:user-login/documents/plan.md"),
        "{listed}"
    );
    client.end()
}

#[test]
fn an_error_is_bounded_whatever_was_asked() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let result = client.call("inspect", &json!({"id": "x".repeat(300_000)}))?;
    assert_eq!(result["isError"], true);
    ensure!(
        result.to_string().len() < 24 * 1024,
        "{}",
        result.to_string().len()
    );
    client.end()
}
