//! A workflow is resumed: the plan first, then exactly that plan, then step after step.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::gate::Gate;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::client::{BINARY, Client, NOTHING, ORDERS, ORDERS_ID, interrupted};

/// Returns the digest of the plan as it is now.
fn digest(client: &mut Client) -> Result<String> {
    let plan = client.object("plan", &json!({}))?;
    Ok(plan["digest"].as_str().context("no digest")?.to_owned())
}

#[test]
fn a_plan_is_shown_first_and_then_carried_out_and_the_first_step_is_begun() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?;
    let mut client = Client::open(&sandbox)?;
    let plan = client.object("plan", &json!({}))?;
    assert_eq!(plan["next"], "Resume T002 - Add endpoint (attempt 1)");
    // What a protocol prints when it is resumed is not said before it is.
    ensure!(!plan.to_string().contains("RESUMING RUN"), "{plan}");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    let turn = client.object("resume", &json!({"digest": plan["digest"]}))?;
    assert_eq!(
        (&turn["id"], &turn["state"]),
        (&json!(ORDERS_ID), &json!("step"))
    );
    let text = turn["text"].as_str().unwrap_or_default();
    ensure!(text.contains("RESUMING RUN"), "{turn}");
    let step = &turn["step"];
    assert_eq!(
        (&step["who"], &step["task"]),
        (&json!("executor"), &json!("T002"))
    );
    assert_eq!(
        step["report"],
        json!([
            {"when": "done", "tool": "next_step", "arguments": {"result": "done"}},
            {"when": "not done", "tool": "next_step", "arguments": {"result": "failed", "reason": "WHY"}},
        ])
    );
    assert_eq!(
        run.told(&sandbox)?,
        "session_resumed\ntask_started T002 attempt=1\n"
    );
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
    assert_eq!(run.told(&sandbox)?.matches("session_resumed").count(), 1);
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
        assert_eq!(run.told(&sandbox)?.matches("session_resumed").count(), 1);
    }
    Ok(())
}

#[test]
fn when_the_files_have_changed_the_plan_is_refused_and_the_file_is_named() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    let done = json!({
        "event_type": "task_completed", "run_id": ORDERS, "actor": "executor",
        "timestamp": "2026-01-19T11:00:00Z", "task_id": "T002",
    });
    let log = run.path("events/other/20260119-1100.jsonl");
    sandbox.write(&log, format!("{done}\n"))?;
    let before = sandbox.files()?;
    let said = client.failure("resume", &json!({"digest": digest}))?;
    let said = said.replace(sandbox.project().as_str(), "[PROJECT]");
    insta::assert_snapshot!(said, @"
    error: the files of `agent-memory:20260119-0900-orders-api-k2l3` changed while the plan was shown
    cause: the number of finished tasks was 1, is 2
    cause: the last activity was 2026-01-19T10:01:00Z, is 2026-01-19T11:00:00Z
    cause: the next action was Resume T002 - Add endpoint (attempt 1), is Execute T003 - Add docs
    cause: changed: `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/other/20260119-1100.jsonl`
    next: nothing was changed: call `plan` again, show it to the user, and use its `digest`
    next: see `explain` with `code` WORLD_MOVED
    ");
    // A digest of which the server has shown no plan is not called a change of files.
    let mut other = Client::open(&sandbox)?;
    let said = other.failure("resume", &json!({"digest": digest}))?;
    assert!(
        said.contains("no plan with this `digest` was shown"),
        "{said}"
    );
    assert!(!said.contains("changed while"), "{said}");
    other.end()?;
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    // With the digest of the plan as it is now it is carried out.
    let now = client.object("plan", &json!({}))?;
    client.object("resume", &json!({"digest": now["digest"]}))?;
    client.end()
}

#[test]
fn a_workflow_that_somebody_holds_is_named_by_every_verb_and_nothing_is_reported_to_it()
-> Result<()> {
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
    let named = format!("process {} (`resume {ORDERS_ID}`)", holder.pid());
    let plan = client.object("plan", &json!({}))?;
    assert!(
        plan["at_work"]
            .as_str()
            .is_some_and(|who| who.contains(&named)),
        "{plan}"
    );
    let brief = client.object("brief", &json!({}))?;
    assert!(
        brief["text"]
            .as_str()
            .is_some_and(|text| text.contains(&named)),
        "{brief}"
    );
    let completed = json!({"event": "task_completed", "task": "T002"});
    for (tool, arguments) in [
        ("resume", json!({"digest": plan["digest"]})),
        ("next_step", json!({})),
        ("report_event", completed.clone()),
    ] {
        let said = client.failure(tool, &arguments)?;
        assert!(
            said.contains(&named) && said.contains("LOCK_HELD"),
            "{tool}: {said}"
        );
    }
    // Looking goes on, and so does a sign of life.
    client.object("list", &json!({}))?;
    client.object("heartbeat", &json!({"task": "T002"}))?;
    client.end()?;
    // A tool of the very attempt that is at work reports to it.
    let mut of_worker = Client::open_in(&sandbox, &[("REKINDLE_WORKFLOW", ORDERS_ID)])?;
    of_worker.object("report_event", &completed)?;
    of_worker.end()
    // The holder is killed with its agent.
}

#[test]
fn an_agent_works_through_a_run_and_reports_each_step() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    let mut turn = client.object("resume", &json!({"digest": digest}))?;
    for task in ["T002", "T003"] {
        for who in ["executor", "verifier"] {
            assert_eq!(turn["step"]["who"], who, "{turn}");
            assert_eq!(turn["step"]["task"], task, "{turn}");
            // Asked again without a result it is the same step, and nothing is recorded.
            let before = sandbox.files()?;
            let again = client.object("next_step", &json!({}))?;
            assert_eq!(again["step"], turn["step"], "{again}");
            assert_eq!(before.changes(&sandbox.files()?), NOTHING);
            turn = client.object("next_step", &json!({"result": "done"}))?;
        }
    }
    assert_eq!(turn["step"]["who"], "verifier", "{turn}");
    ensure!(turn["step"]["task"].is_null(), "{turn}");
    let told = run.told(&sandbox)?;
    assert_eq!(told.matches("task_completed").count(), 2, "{told}");
    client.end()
}

#[test]
fn a_failed_step_needs_a_reason_and_is_tried_again_with_it() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    client.object("resume", &json!({"digest": digest}))?;
    let before = sandbox.files()?;
    let said = client.failure("next_step", &json!({"result": "failed"}))?;
    ensure!(said.contains("needs a `reason`"), "{said}");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    let failed = json!({"result": "failed", "reason": "no database"});
    let turn = client.object("next_step", &failed)?;
    assert_eq!(turn["step"]["attempt"], 2, "{turn}");
    let prompt = turn["step"]["prompt"].as_str().unwrap_or_default();
    ensure!(prompt.contains("no database"), "{prompt}");
    let told = run.told(&sandbox)?;
    ensure!(told.contains("task_failed T002 attempt=1"), "{told}");
    client.end()
}

#[test]
fn events_that_say_nothing_are_refused() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?;
    let mut client = Client::open(&sandbox)?;
    for (arguments, missing) in [
        (json!({"event": "phase_transition"}), "to_phase"),
        (
            json!({"event": "phase_transition", "details": {}}),
            "to_phase",
        ),
        (json!({"event": "task_failed", "task": "T002"}), "reason"),
        (
            json!({"event": "task_blocked", "task": "T002", "details": {"reason": " "}}),
            "reason",
        ),
    ] {
        let said = client.failure("report_event", &arguments)?;
        ensure!(said.contains(missing), "{arguments}: {said}");
    }
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    for details in [json!({"reason": "x"}), json!({"error": "x"})] {
        let failed = json!({"event": "task_failed", "task": "T002", "details": details});
        client.object("report_event", &failed)?;
    }
    let events = run.events(&sandbox)?;
    let failed = events
        .iter()
        .filter(|(_, event)| event["event_type"] == "task_failed");
    assert_eq!(failed.count(), 2);
    client.end()
}

#[test]
fn where_everything_is_finished_or_nothing_is_here_there_is_no_next_step() -> Result<()> {
    let over = Sandbox::new(BINARY)?;
    Run::complete(ORDERS).lay_out(&over)?;
    for sandbox in [over, Sandbox::new(BINARY)?] {
        let mut client = Client::open(&sandbox)?;
        let turn = client.object("next_step", &json!({}))?;
        assert_eq!(
            turn,
            json!({"schema": "rekindle.turn/1", "state": "done", "summary": "nothing is left to do here"})
        );
        client.end()?;
    }
    let (sandbox, _) = interrupted()?;
    let mut client = Client::open(&sandbox)?;
    let said = client.failure("next_step", &json!({"result": "done"}))?;
    ensure!(said.contains("call `plan`"), "{said}");
    client.end()
}

#[test]
fn a_long_prompt_comes_in_pages_and_is_begun_once() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let contract = "A line of the contract that is quoted.\n".repeat(400);
    let tasks = "- an item of the long plan\n".repeat(400);
    let run = Run::in_execution(ORDERS)
        .task("T001", "Add model", &[])
        .document("plan.md", &tasks)
        .document("tasks/T001.md", &(contract.clone() + &contract));
    run.lay_out(&sandbox)?;
    let mut client = Client::open(&sandbox)?;
    let digest = digest(&mut client)?;
    let mut arguments = json!({"digest": digest});
    let mut whole = String::new();
    let turn: Value = loop {
        let object = client.object("resume", &arguments)?;
        if object["schema"] != "rekindle.page/1" {
            break object;
        }
        whole.push_str(object["piece"]["text"].as_str().context("no text")?);
        match object["piece"]["next_offset"].as_u64() {
            Some(next) => arguments = json!({"digest": digest, "offset": next}),
            None => break serde_json::from_str(&whole)?,
        }
    };
    assert_eq!(turn["state"], "step");
    let told = run.told(&sandbox)?;
    assert_eq!(told.matches("session_resumed").count(), 1, "{told}");
    let lost = json!({"digest": "other", "offset": 10});
    let said = client.failure("resume", &lost)?;
    ensure!(
        said.contains("`next_step` returns the step again"),
        "{said}"
    );
    client.end()
}
