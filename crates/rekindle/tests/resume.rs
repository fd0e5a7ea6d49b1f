//! Taking a run up again: which one, whether at all, and what is written when no agent works.

use anyhow::{Context as _, Result};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::{Sandbox, quoted};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
const BILLING: &str = "20260118-0900-billing-c3d4";
const NOTHING: [&str; 0] = [];

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// Two open runs, billing first in the list, and a finished one.
fn several() -> Result<(Sandbox, Run, Run)> {
    let (sandbox, orders) = interrupted()?;
    let billing = Run::interrupted(BILLING);
    billing.lay_out(&sandbox)?;
    Run::complete("20260110-0900-old-things-a1b2").lay_out(&sandbox)?;
    Ok((sandbox, billing, orders))
}

#[test]
fn with_nothing_to_resume_it_says_so_and_writes_nothing() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    insta::assert_snapshot!(sandbox.run(&["resume"])?, @"
    exit 0
    --- stdout
    Nothing to resume here.
    ");
    Run::complete(ORDERS).lay_out(&sandbox)?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["resume", "--yes"])?, @"
    exit 0
    --- stdout
    Nothing to resume here.
    ");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    Ok(())
}

#[test]
fn a_complete_run_that_is_named_is_reported_and_not_touched() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Run::complete(ORDERS).lay_out(&sandbox)?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["resume", ORDERS, "--yes"])?, @"
    exit 0
    --- stderr
    done: run `20260119-0900-orders-api-k2l3` is complete (run_completed)
    ");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    Ok(())
}

#[test]
fn a_name_that_is_not_there_is_refused_and_what_is_there_is_named() -> Result<()> {
    let (sandbox, _, _) = several()?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["resume", "nonsense", "--yes"])?, @"
    exit 1
    --- stderr
    error: no workflow `nonsense` in this project

    hint: `agent-memory:20260118-0900-billing-c3d4` can be resumed
    hint: `agent-memory:20260119-0900-orders-api-k2l3` can be resumed
    hint: `rekindle` lists the workflows of this project
    hint: see `rekindle explain UNKNOWN_WORKFLOW`
    ");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    Ok(())
}

#[test]
fn one_of_several_is_asked_for_and_at_the_end_of_input_nothing_is_done() -> Result<()> {
    let (sandbox, _, _) = several()?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["resume", "--yes", "--no-agent"])?, @"
    exit 3
    --- stdout
    Several workflows can be resumed:
      1. agent-memory:20260118-0900-billing-c3d4  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      2. agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
    --- stderr
    Which one? [number or name] 
    error: several workflows are open; name one

    hint: `rekindle resume agent-memory:20260118-0900-billing-c3d4`
    hint: `rekindle resume agent-memory:20260119-0900-orders-api-k2l3`
    ");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    Ok(())
}

#[test]
fn one_of_several_is_chosen_by_number_name_or_beginning() -> Result<()> {
    for (answers, chosen) in [
        ("1\n", BILLING),
        ("2\n", ORDERS),
        ("20260119-0900-orders-api-k2l3\n", ORDERS),
        ("agent-memory:20260119-0900-orders-api-k2l3\n", ORDERS),
        ("20260118\n", BILLING),
        ("agent-memory:20260118\n", BILLING),
        ("  2  \n", ORDERS),
        ("\n\n2\n", ORDERS),
        ("3\n0\n99\n2\n", ORDERS),
    ] {
        let (sandbox, billing, orders) = several()?;
        let typed = sandbox.typed(&["resume", "--yes", "--no-agent"]);
        let ran = typed.answering(answers).run()?;
        assert_eq!(ran.code(), Some(0), "{answers:?}: {ran}");
        let (taken, left) = match chosen {
            ORDERS => (orders, billing),
            _ => (billing, orders),
        };
        assert!(
            taken.told(&sandbox)?.contains("session_resumed"),
            "{answers:?}"
        );
        assert_eq!(left.told(&sandbox)?, "", "{answers:?}");
    }
    Ok(())
}

#[test]
fn a_wrong_number_is_said_to_be_wrong_and_asked_again() -> Result<()> {
    let (sandbox, _, _) = several()?;
    let typed = sandbox.typed(&["resume", "--yes", "--no-agent"]);
    let ran = typed.answering("7\n2\n").run()?;
    insta::assert_snapshot!(ran.stderr(), @"
    Which one? [number or name] 7 is not in the list
    Which one? [number or name] Next for an agent (executor): Resume T002 - Add endpoint (attempt 1)
    hint: let an agent do it: `rekindle resume --agent-cmd 'COMMAND'` (it gets the prompt on standard input)
    hint: `rekindle resume --no-agent --json` has the whole prompt
    ");
    Ok(())
}

#[test]
fn an_answer_that_names_nothing_is_asked_again_and_changes_nothing() -> Result<()> {
    let (sandbox, _, _) = several()?;
    let before = sandbox.files()?;
    let typed = sandbox.typed(&["resume", "--yes", "--no-agent"]);
    insta::assert_snapshot!(typed.answering("the first\n").run()?, @"
    exit 3
    --- stdout
    Several workflows can be resumed:
      1. agent-memory:20260118-0900-billing-c3d4  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      2. agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
    --- stderr
    Which one? [number or name] `the first` is not in the list
    Which one? [number or name] 
    error: several workflows are open; name one

    hint: `rekindle resume agent-memory:20260118-0900-billing-c3d4`
    hint: `rekindle resume agent-memory:20260119-0900-orders-api-k2l3`
    ");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    Ok(())
}

#[test]
fn none_of_several_is_an_answer_and_changes_nothing() -> Result<()> {
    let (sandbox, _, _) = several()?;
    let before = sandbox.files()?;
    for answers in ["n\n", "No\n", "q\n", "7\nquit\n"] {
        let typed = sandbox.typed(&["resume", "--no-agent"]);
        let ran = typed.answering(answers).run()?;
        assert_eq!(ran.code(), Some(0), "{answers:?}: {ran}");
        assert!(ran.stderr().ends_with("nothing was changed\n"), "{ran}");
        assert_eq!(before.changes(&sandbox.files()?), NOTHING, "{answers:?}");
    }
    Ok(())
}

#[test]
fn before_anything_is_done_it_says_what_and_asks() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    sandbox.write(run.path("events/x.jsonl"), "torn")?;
    insta::assert_snapshot!(sandbox.typed(&["resume"]).answering("n\n").run()?, @"
    exit 0
    --- stderr
    agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
    warning[TRUNCATED_LINE]: a log ends in the middle of a line, which did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/x.jsonl:1
    hint: see `rekindle explain TRUNCATED_LINE`
      next: Resume T002 - Add endpoint (attempt 1)
    This will:
      - append an event to `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl`: the run is resumed
      - print the protocol's report
      - continue with the next step
    Resume? [y/N] nothing was changed
    ");
    Ok(())
}

#[test]
fn every_answer_but_yes_leaves_everything_as_it_was() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    let unanswered = sandbox
        .typed(&["resume", "--no-agent"])
        .answering("perhaps\n")
        .run()?;
    assert_eq!(unanswered.code(), Some(3), "{unanswered}");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    for answers in ["n\n", "no\n", "N\n", "\n", "ok\nsure\nn\n"] {
        let ran = sandbox
            .typed(&["resume", "--no-agent"])
            .answering(answers)
            .run()?;
        assert_eq!(
            (ran.code(), ran.stdout().as_ref()),
            (Some(0), ""),
            "{answers:?}"
        );
        assert!(
            ran.stderr().ends_with("nothing was changed\n"),
            "{answers:?}: {ran}"
        );
        assert_eq!(before.changes(&sandbox.files()?), NOTHING, "{answers:?}");
    }
    Ok(())
}

#[test]
fn yes_in_any_spelling_continues_also_after_another_answer() -> Result<()> {
    for answers in ["y\n", "Y\n", "yes\n", "YES\n", "y", "well\ny\n"] {
        let (sandbox, run) = interrupted()?;
        let ran = sandbox
            .typed(&["resume", "--no-agent"])
            .answering(answers)
            .run()?;
        assert_eq!(ran.code(), Some(0), "{answers:?}: {ran}");
        assert!(ran.stdout().contains("RESUMING RUN"), "{answers:?}: {ran}");
        assert_eq!(run.told(&sandbox)?, "session_resumed\n", "{answers:?}");
    }
    Ok(())
}

#[test]
fn without_an_agent_it_says_what_one_would_do_next() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["resume", "--yes", "--no-agent"])?, @"
    exit 0
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 2
    - Tasks: 1/3 complete
    - Last activity: 2026-01-19T10:01:00Z
    - Last completed: T001 - Add model

    Next Action:
    - Resume T002 - Add endpoint (attempt 1)

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    Next for an agent (executor): Resume T002 - Add endpoint (attempt 1)
    hint: let an agent do it: `rekindle resume --agent-cmd 'COMMAND'` (it gets the prompt on standard input)
    hint: `rekindle resume --no-agent --json` has the whole prompt
    ");
    Ok(())
}

#[test]
fn doing_every_step_by_hand_leads_to_the_question_of_the_merge() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let mut done = Vec::new();
    loop {
        let ran = sandbox.run(&["resume", "--yes", "--no-agent", "--json"])?;
        let object = ran.json()?;
        if object["outcome"] != "agent_needed" {
            assert_eq!(object["outcome"], "waiting", "{ran}");
            break;
        }
        let agent = &object["agent"];
        let step = format!("{} {}", agent["role"], agent["task"]);
        assert!(!done.contains(&step), "{step} comes again: {ran}");
        done.push(step);
        for document in ["cleanup-report.md", "pr-description.md", "pr-checklist.md"] {
            sandbox.write(run.path(document), "there\n")?;
        }
        let told = agent["by_hand"].as_array().context("no list")?.iter();
        let told = told.filter_map(|told| told.as_str()?.split('`').nth(1));
        for command in told.filter(|command| !command.contains("failed")) {
            let command = command.replacen("rekindle", &quoted(BINARY), 1);
            let ran = sandbox.typed(&[]).through(&["sh", "-c", &command]).run()?;
            assert_eq!(ran.code(), Some(0), "{command}: {ran}");
        }
    }
    insta::assert_snapshot!(done.join("\n"), @r#"
    "executor" "T002"
    "verifier" "T002"
    "executor" "T003"
    "verifier" "T003"
    "verifier" null
    "#);
    Ok(())
}

#[test]
fn taking_a_run_up_without_an_agent_writes_one_event_in_a_new_file_and_changes_no_other_byte()
-> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?.except(".rekindle");
    sandbox.run(&["resume", "--yes", "--no-agent"])?;
    let log = run.path("events/orchestrator/20260120-120000.jsonl");
    let after = sandbox.files()?.except(".rekindle");
    assert_eq!(before.changes(&after), [format!("+ {log}")]);
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"{"event_type":"session_resumed","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"orchestrator","details":{"next_action":"execute_task","phase":2,"tasks_done":1,"tasks_total":3}}"#);
    Ok(())
}

#[test]
fn rekindle_keeps_its_own_folder_out_of_version_control() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let git = |script: &str| sandbox.typed(&[]).through(&["sh", "-c", script]).run();
    git("git init -q . && git add -A && git commit -qm x")?;
    sandbox.run(&["resume", "--yes", "--no-agent"])?;
    let status = git("git status --short --untracked-files=all")?;
    insta::assert_snapshot!(status, @"
    exit 0
    --- stdout
    ?? .agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl
    ");
    Ok(())
}

#[test]
fn twice_in_the_same_second_makes_two_files() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?.except(".rekindle");
    sandbox.run(&["resume", "--yes", "--no-agent"])?;
    sandbox.run(&["resume", "--yes", "--no-agent"])?;
    let after = sandbox.files()?.except(".rekindle");
    let first = run.path("events/orchestrator/20260120-120000.jsonl");
    let second = run.path("events/orchestrator/20260120-120000-2.jsonl");
    assert_eq!(
        before.changes(&after),
        [format!("+ {second}"), format!("+ {first}")]
    );
    Ok(())
}

#[test]
fn the_torn_tail_of_another_writer_stays_byte_for_byte() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let torn = run.path("events/executor/20260119-0900.jsonl");
    let mut bytes = fs_err::read(sandbox.path(&torn))?;
    bytes.extend(b"{\"event_type\":\"task_comp");
    sandbox.write(&torn, &bytes)?;
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(fs_err::read(sandbox.path(&torn))?, bytes);
    insta::assert_snapshot!(ran.stderr(), @"
    warning[TRUNCATED_LINE]: a log ends in the middle of a line, which did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/20260119-0900.jsonl:4
    hint: see `rekindle explain TRUNCATED_LINE`
    Next for an agent (executor): Resume T002 - Add endpoint (attempt 1)
    hint: let an agent do it: `rekindle resume --agent-cmd 'COMMAND'` (it gets the prompt on standard input)
    hint: `rekindle resume --no-agent --json` has the whole prompt
    ");
    Ok(())
}

#[test]
fn the_torn_tail_of_a_log_that_is_written_to_is_closed_and_kept() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let log = run.path("events/worker/20260120-rekindle.jsonl");
    sandbox.write(&log, "{\"event_type\":\"task_comp")?;
    sandbox.run(&["event", ORDERS, "note", "--actor", "worker"])?;
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"
    {"event_type":"task_comp
    {"event_type":"note","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"worker"}
    "#);
    Ok(())
}

#[test]
fn quiet_and_json_are_as_careful_as_text() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    for flag in ["-q", "--json"] {
        let ran = sandbox.run(&["resume", flag])?;
        assert_eq!(ran.code(), Some(3), "{ran}");
        assert!(ran.stderr().contains("Resume? [y/N]"), "{ran}");
        assert_eq!(before.changes(&sandbox.files()?), NOTHING, "{flag}");
    }
    Ok(())
}

#[test]
fn a_sign_of_life_while_a_person_thinks_does_not_stop_the_resume() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let typed = sandbox.typed(&["resume", "--no-agent"]);
    let mut running = typed.start()?;
    running.wait_for("Resume? [y/N] ")?;
    let alive = r#"{"event_type":"heartbeat","task_id":"T002","timestamp":"2026-01-20T11:00:00Z"}"#;
    sandbox.write(run.path("events/executor/late.jsonl"), format!("{alive}\n"))?;
    running.answer("y\n")?;
    let ran = typed.ran(running.finish()?);
    assert!(ran.to_string().contains("exit 0"), "{ran}");
    assert!(run.told(&sandbox)?.contains("session_resumed"), "{ran}");
    Ok(())
}

#[test]
fn what_changes_while_a_person_thinks_stops_the_resume() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let typed = sandbox.typed(&["resume", "--no-agent"]);
    let mut running = typed.start()?;
    running.wait_for("Resume? [y/N] ")?;
    let done =
        r#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-20T11:00:00Z"}"#;
    sandbox.write(run.path("events/executor/late.jsonl"), format!("{done}\n"))?;
    running.answer("y\n")?;
    let ran = typed.ran(running.finish()?);
    insta::assert_snapshot!(ran, @"
    exit 1
    --- stderr
    agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      next: Resume T002 - Add endpoint (attempt 1)
    This will:
      - append an event to `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl`: the run is resumed
      - print the protocol's report
      - continue with the next step
    Resume? [y/N] error: the files of `agent-memory:20260119-0900-orders-api-k2l3` changed while the plan was shown

    hint: run `rekindle resume` again
    hint: see `rekindle explain WORLD_MOVED`
    ");
    assert_eq!(run.told(&sandbox)?, "");
    let again = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert!(
        again.stdout().contains("- Execute T003 - Add docs"),
        "{again}"
    );
    Ok(())
}

#[test]
fn a_damaged_journal_is_reported_and_does_not_stop_the_work() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    sandbox.run(&["resume", "--yes", "--no-agent"])?;
    let journal = format!(".rekindle/journal/agent-memory-{ORDERS}.jsonl");
    let text = sandbox.read(&journal)?;
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.last().context("a record")?;
    sandbox.write(&journal, text.replacen(last, "garbage", 1))?;
    let ran = sandbox
        .typed(&["resume", "--yes", "--no-agent"])
        .at("2026-01-20T13:00:00Z");
    insta::assert_snapshot!(ran.run()?.stderr(), @"
    warning: 1 damaged line(s) of rekindle's journal were ignored
    Next for an agent (executor): Resume T002 - Add endpoint (attempt 1)
    hint: let an agent do it: `rekindle resume --agent-cmd 'COMMAND'` (it gets the prompt on standard input)
    hint: `rekindle resume --no-agent --json` has the whole prompt
    ");
    assert_eq!(run.told(&sandbox)?, "session_resumed\nsession_resumed\n");
    Ok(())
}

#[test]
fn what_keeps_an_agent_from_being_started_is_not_held_against_its_task() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    // No process takes an argument of that size.
    let command = format!("true {}", "x".repeat(200_000));
    let config = format!("[agents.mine]\ncommand = \"{command}\"\n");
    sandbox.write(".rekindle/config.toml", config)?;
    let ran = sandbox.run(&["resume", "--yes", "--agent", "mine"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert!(
        ran.stderr()
            .contains("an agent, a worker or a check could not be started"),
        "{ran}"
    );
    assert!(!run.told(&sandbox)?.contains("task_failed"), "{ran}");
    let ran = sandbox.run(&["resume", "--yes", "--agent-cmd", "exit 1"])?;
    assert!(ran.stderr().contains("(attempt 1)"), "{ran}");
    Ok(())
}

#[cfg(not(feature = "crash-points"))]
#[test]
fn a_normal_build_does_not_die_where_it_is_ordered_to() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let typed = sandbox.typed(&["resume", "--yes", "--no-agent"]);
    let ran = typed.with("REKINDLE_CRASH_AT", "after-lock").run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}
