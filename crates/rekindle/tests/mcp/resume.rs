//! Taking a workflow up over MCP: the plan, exactly that plan, and the steps after it.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::gate::Gate;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::client::{BINARY, Client, NOTHING, ORDERS, ORDERS_ID, interrupted};

fn digest(client: &mut Client) -> Result<String> {
    let plan = client.object("resume", &json!({}))?;
    Ok(plan["digest"].as_str().context("no digest")?.to_owned())
}

#[test]
fn a_plan_is_shown_first_and_then_carried_out_as_a_typed_resume_would() -> Result<()> {
    let (twin, _) = interrupted()?;
    let typed = twin.run(&["resume", "--yes", "--no-agent", "--json"])?;

    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    let mut object = client.object("resume", &json!({"digest": digest}))?;
    let hints = object["hints"].take().to_string();
    for word in ["`report_event`", "task_implemented --task T002"] {
        assert!(hints.contains(word), "{hints}");
    }

    let mut expected = typed.json()?;
    expected["hints"] = Value::Null;
    assert_eq!(object, expected);
    assert_eq!(object["agent"]["task"], "T002");
    let changed = sandbox.files()?.except(".rekindle");
    assert_eq!(changed, twin.files()?.except(".rekindle"));
    assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    client.end()
}

#[test]
fn however_a_workflow_is_named_its_plan_has_the_same_digest() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let wanted = digest(&mut client)?;
    for arguments in [
        json!({"id": ORDERS_ID}),
        json!({"id": ORDERS}),
        json!({"id": "20260119"}),
        json!({"protocol": "agent-memory"}),
    ] {
        let plan = client.object("plan", &arguments)?;
        assert_eq!(plan["digest"], wanted, "{arguments}");
    }
    client.object("resume", &json!({"id": "20260119", "digest": wanted}))?;
    client.end()
}

#[test]
fn a_plan_is_carried_out_once() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    client.object("resume", &json!({"digest": digest}))?;
    let after = sandbox.files()?;
    let said = client.failure("resume", &json!({"digest": digest}))?;
    assert!(said.contains("the last activity was"), "{said}");
    assert_eq!(after.changes(&sandbox.files()?), NOTHING);
    assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    client.end()
}

#[test]
fn of_six_servers_with_the_same_digest_one_carries_the_plan_out() -> Result<()> {
    for _ in 0..5 {
        let (sandbox, run) = interrupted()?;
        let mut clients = (0..6)
            .map(|_| Client::open(&sandbox))
            .collect::<Result<Vec<_>>>()?;
        let digest = digest(&mut clients[0])?;
        let call = json!({"name": "resume", "arguments": {"digest": digest}});
        for client in &mut clients {
            client.ask("tools/call", &call)?;
        }
        let mut n_done = 0;
        for mut client in clients {
            let answer = client.hear()?;
            n_done += usize::from(answer["result"]["isError"] == false);
            client.end()?;
        }
        assert_eq!(n_done, 1);
        assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    }
    Ok(())
}

#[test]
fn when_the_files_have_changed_the_plan_is_refused_and_the_differences_are_listed() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    let done = json!({
        "event_type": "task_completed", "run_id": ORDERS, "actor": "executor",
        "timestamp": "2026-01-19T11:00:00Z", "task_id": "T002",
    });
    sandbox.write(
        run.path("events/other/20260119-1100.jsonl"),
        format!("{done}\n"),
    )?;
    let before = sandbox.files()?;
    let said = client.failure("resume", &json!({"digest": digest}))?;
    insta::assert_snapshot!(said, @"
    error: the files of `agent-memory:20260119-0900-orders-api-k2l3` changed while the plan was shown
    cause: the number of finished tasks was 1, is 2
    cause: the last activity was 2026-01-19T10:01:00Z, is 2026-01-19T11:00:00Z
    cause: the next action was Resume T002 - Add endpoint (attempt 1), is Execute T003 - Add docs
    next: nothing was changed: call it without `digest`, check the new plan, and call it again with the new plan's `digest`
    next: see `explain` with `code` WORLD_MOVED
    ");
    // A server that has never seen the plan can say less, and refuses as well.
    let mut other = Client::open(&sandbox)?;
    let said = other.failure("resume", &json!({"digest": digest}))?;
    assert!(said.contains("no plan with this digest"), "{said}");
    other.end()?;
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    // With the digest of the plan as it is now it is carried out.
    let now = client.object("plan", &json!({}))?;
    client.object("resume", &json!({"digest": now["digest"]}))?;
    client.end()
}

#[test]
fn a_question_is_handed_on_and_nobody_answers_it_here() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::awaiting_approval(ORDERS).task("T001", "Add model", &[]);
    run.lay_out(&sandbox)?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    let object = client.object("resume", &json!({"digest": digest}))?;
    assert_eq!(object["outcome"], "waiting");
    assert_eq!(object["question"]["answers"][0], "approve");
    assert!(
        object["hints"][0]
            .as_str()
            .is_some_and(|hint| hint.contains("user"))
    );
    assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    let next = client.object("next_step", &json!({}))?;
    assert_eq!(next["then"]["kind"], "ask", "{next}");
    client.end()
}

#[test]
fn a_workflow_that_somebody_holds_is_refused_with_the_holders_name() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let gate = Gate::new(sandbox.root())?;
    let script = format!("{}\n{DILIGENT_AGENT}", gate.script());
    let agent = sandbox.script("agent.sh", &script)?;
    let mut client = Client::open(&sandbox)?;
    let typed = sandbox
        .typed(&["resume", "--yes", "--agent-cmd", &agent])
        .answering("merged\n");
    let holder = typed.start()?;
    gate.wait()?;
    let digest = digest(&mut client)?;
    let said = client.failure("resume", &json!({"digest": digest}))?;
    let named = format!("process {} (`resume {ORDERS_ID}`)", holder.pid());
    assert!(
        said.contains(&named) && said.contains("LOCK_HELD"),
        "{said}"
    );
    // Looking and reporting go on.
    client.object("list", &json!({}))?;
    client.object("heartbeat", &json!({"task": "T002"}))?;
    client.end()
    // The holder is killed with its agent.
}

#[test]
fn an_agent_works_through_a_run_step_by_step() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    client.object("resume", &json!({"digest": digest}))?;
    for task in ["T002", "T003"] {
        let next = client.object("next_step", &json!({}))?;
        assert_eq!(next["then"]["kind"], "agent", "{next}");
        assert_eq!(next["then"]["role"], "executor", "{next}");
        assert_eq!(next["then"]["task"], task, "{next}");
        for event in ["task_started", "task_implemented"] {
            client.object("report_event", &json!({"event": event, "task": task}))?;
        }
        let next = client.object("next_step", &json!({}))?;
        assert_eq!(next["then"]["role"], "verifier", "{next}");
        assert_eq!(next["then"]["task"], task, "{next}");
        for event in ["task_verified", "task_completed"] {
            client.object("report_event", &json!({"event": event, "task": task}))?;
        }
    }
    let next = client.object("next_step", &json!({}))?;
    assert_eq!(next["then"]["role"], "verifier", "{next}");
    assert!(next["then"]["task"].is_null(), "{next}");
    // Asking has written nothing.
    assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    client.end()
}

#[test]
fn a_long_prompt_is_cut_after_a_resume_and_whole_in_the_next_step() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let contract = "A line of the contract that is quoted.\n".repeat(400);
    let run = Run::in_execution(ORDERS)
        .task("T001", "Add model", &[])
        .document("tasks/T001.md", &contract);
    run.lay_out(&sandbox)?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    let twice = json!({"digest": digest, "offset": 10});
    let said = client.failure("resume", &twice)?;
    assert!(said.contains("`offset` cannot be used"), "{said}");
    let object = client.object("resume", &json!({"digest": digest}))?;
    let cut = object["agent"]["prompt"].as_str().context("no prompt")?;
    ensure!(
        cut.ends_with("[cut; call `next_step` for the whole prompt]"),
        "{cut}"
    );
    let next = client.object("next_step", &json!({}))?;
    let whole = next["then"]["prompt"].as_str().context("no prompt")?;
    ensure!(whole.len() > cut.len() && whole.starts_with(&cut[..8000]));
    client.end()
}
