//! What only the person at the client may decide, asked through elicitation.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::client::{BINARY, Client, NOTHING, ORDERS, ORDERS_ID, interrupted};

fn awaiting_approval() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::awaiting_approval(ORDERS).task("T001", "Add model", &[]);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// Calls a tool of a server that asks; returns the result, and what was asked.
fn call(
    client: &mut Client,
    tool: &str,
    arguments: &Value,
    answers: &[Value],
) -> Result<(Value, Vec<Value>)> {
    let id = client.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
    let mut asked = Vec::new();
    loop {
        let frame = client.hear()?;
        if frame["method"] == "elicitation/create" {
            let answer = answers.get(asked.len()).context("one question too many")?;
            let reply = json!({"jsonrpc": "2.0", "id": frame["id"], "result": answer});
            client.running.answer(&format!("{reply}\n"))?;
            asked.push(frame["params"].clone());
        } else if frame["id"] == id {
            return Ok((frame["result"].clone(), asked));
        }
    }
}

#[test]
fn the_yes_comes_from_the_person_and_not_from_the_model() -> Result<()> {
    for (action, is_agreed) in [("accept", true), ("decline", false), ("cancel", false)] {
        let (sandbox, run) = interrupted()?;
        let mut client = Client::open_asking(&sandbox)?;
        let plan = client.object("plan", &json!({}))?;
        let before = sandbox.files()?;
        let digest = json!({"digest": plan["digest"]});
        let reply = json!({"action": action, "content": {}});
        let (result, asked) = call(&mut client, "resume", &digest, &[reply])?;
        let message = asked[0]["message"].as_str().context("no message")?;
        ensure!(
            message.contains(&format!("Resume {ORDERS_ID}")),
            "{message}"
        );
        ensure!(message.contains("then: Resume T002"), "{message}");
        assert_eq!(result["isError"], !is_agreed, "{action}: {result}");
        if is_agreed {
            ensure!(run.told(&sandbox)?.contains("session_resumed"));
        } else {
            assert_eq!(before.changes(&sandbox.files()?), NOTHING, "{action}");
        }
        client.end()?;
    }
    Ok(())
}

#[test]
fn a_question_of_the_protocol_is_put_to_the_person_and_the_work_goes_on() -> Result<()> {
    let (sandbox, run) = awaiting_approval()?;
    let mut client = Client::open_asking(&sandbox)?;
    let plan = client.object("plan", &json!({}))?;
    let digest = json!({"digest": plan["digest"]});
    let yes = json!({"action": "accept", "content": {}});
    let approve = json!({"action": "accept", "content": {"answer": "approve"}});
    let (result, asked) = call(&mut client, "resume", &digest, &[yes, approve])?;
    let form = &asked[1]["requestedSchema"]["properties"]["answer"];
    ensure!(
        form["description"].to_string().contains("approve"),
        "{form}"
    );
    let turn = &result["structuredContent"];
    assert_eq!(turn["state"], "step", "{turn}");
    let told = run.told(&sandbox)?;
    ensure!(told.contains("trigger=\"user_approval\""), "{told}");
    client.end()
}

#[test]
fn where_nobody_can_be_asked_a_question_is_for_a_terminal() -> Result<()> {
    let (sandbox, run) = awaiting_approval()?;
    let mut client = Client::open(&sandbox)?;
    let plan = client.object("plan", &json!({}))?;
    let turn = client.object("resume", &json!({"digest": plan["digest"]}))?;
    assert_eq!(turn["state"], "needs_person", "{turn}");
    assert_eq!(turn["question"]["answers"][0], "approve", "{turn}");
    let hints = turn["hints"].to_string();
    ensure!(
        hints.contains(&format!("`rekindle resume {ORDERS_ID}`")),
        "{hints}"
    );
    assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    // The model cannot answer it.
    let again = client.object("next_step", &json!({"result": "done"}))?;
    assert_eq!(again["state"], "needs_person", "{again}");
    // The user does, in a terminal, and the loop goes on without another yes.
    let typed = sandbox.typed(&["resume", ORDERS_ID, "--no-agent"]);
    let ran = typed.answering("y\napprove\n").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let next = client.object("next_step", &json!({}))?;
    assert_eq!(next["state"], "step", "{next}");
    client.end()
}
