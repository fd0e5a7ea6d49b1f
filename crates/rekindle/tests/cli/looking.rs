//! Commands that look: status, inspect, plan, explain.

use anyhow::Result;
use rekindle_model::Code;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;

use crate::{BINARY, ORDERS, interrupted};

#[test]
fn without_a_command_the_status_and_the_next_command_are_shown() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let plain = sandbox.run(&[])?.to_string();
    insta::assert_snapshot!(plain, @"
    exit 0
    --- stdout
    ID    STATE        TASKS  AGE        TITLE
    2026  interrupted  1/3    1 day ago  20260119-0900-orders-api-k2l3, phase 2 (execution)
    --- stderr
    hint: go on with `rekindle resume`
    ");
    assert_eq!(sandbox.run(&["status"])?.to_string(), plain);
    Ok(())
}

#[test]
fn an_empty_folder_has_nothing_to_resume() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    insta::assert_snapshot!(sandbox.run(&[])?, @"
    exit 0
    --- stdout
    Nothing to resume here.
    ");
    Ok(())
}

#[test]
fn in_an_empty_folder_every_command_says_the_same() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for look in ["status", "inspect", "resume"] {
        let ran = sandbox.run(&[look])?;
        assert_eq!(ran.code(), Some(0), "{look}: {ran}");
        assert_eq!(ran.stdout(), "Nothing to resume here.\n", "{look}");
    }
    for needs_one in ["plan", "checkpoint", "checkpoints"] {
        let ran = sandbox.run(&[needs_one])?;
        assert_eq!(ran.code(), Some(1), "{needs_one}: {ran}");
        assert!(
            ran.stderr()
                .starts_with("error: no workflow found in this project\n"),
            "{needs_one}: {ran}"
        );
    }
    insta::assert_snapshot!(sandbox.run(&["resume", "kiln:x"])?, @"
    exit 1
    --- stderr
    error: no workflow `kiln:x` in this project

    hint: `rekindle` lists the workflows of this project
    hint: see `rekindle explain UNKNOWN_WORKFLOW`
    ");
    insta::assert_snapshot!(sandbox.run(&["clean"])?, @"
    exit 1
    --- stderr
    error: `[PROJECT]` is not in a git repository

    hint: go to the project's folder, or name it with `-C DIR`
    ");
    Ok(())
}

#[test]
fn below_a_project_the_status_points_up_to_it() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    sandbox.write("src/deep/x", "")?;
    let below = sandbox.typed(&[]).from(sandbox.path("src/deep")).run()?;
    insta::assert_snapshot!(below, @"
    exit 0
    --- stdout
    Nothing to resume here.
    --- stderr
    hint: a folder above has workflows: `rekindle -C [PROJECT]`
    ");
    Ok(())
}

#[test]
fn finished_runs_are_counted_and_listed_with_all_only() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    Run::complete("20260110-0900-old-things-a1b2").lay_out(&sandbox)?;
    insta::assert_snapshot!(sandbox.run(&["status"])?, @"
    exit 0
    --- stdout
    ID        STATE        TASKS  AGE        TITLE
    20260119  interrupted  1/3    1 day ago  20260119-0900-orders-api-k2l3, phase 2 (execution)
    and 1 finished: `rekindle status --all` lists it
    --- stderr
    hint: go on with `rekindle resume`
    ");
    insta::assert_snapshot!(sandbox.run(&["-a"])?, @"
    exit 0
    --- stdout
    ID        STATE        TASKS  AGE        TITLE
    20260119  interrupted  1/3    1 day ago  20260119-0900-orders-api-k2l3, phase 2 (execution)
    20260110  complete     1/1    1 day ago  20260110-0900-old-things-a1b2, phase 2 (execution)
    --- stderr
    hint: go on with `rekindle resume`
    ");
    Ok(())
}

#[test]
fn two_open_runs_are_both_listed_and_the_one_that_was_broken_off_is_named() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    Run::awaiting_approval("20260118-0900-billing-c3d4")
        .task("T001", "Add invoice", &[])
        .lay_out(&sandbox)?;
    insta::assert_snapshot!(sandbox.run(&["status"])?, @"
    exit 0
    --- stdout
    ID        STATE        TASKS  AGE        TITLE
    20260119  interrupted  1/3    1 day ago  20260119-0900-orders-api-k2l3, phase 2 (execution)
    20260118  needs you    0/1    1 day ago  20260118-0900-billing-c3d4, phase 1 (planning)
    --- stderr
    hint: go on with `rekindle resume 20260119`
    ");
    Ok(())
}

#[test]
fn quiet_says_no_hints() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["-q"])?, @"
    exit 0
    --- stdout
    ID    STATE        TASKS  AGE        TITLE
    2026  interrupted  1/3    1 day ago  20260119-0900-orders-api-k2l3, phase 2 (execution)
    ");
    Ok(())
}

#[test]
fn inspect_shows_the_facts_of_the_run() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["inspect"])?, @"
    exit 0
    --- stdout
    agent-memory:20260119-0900-orders-api-k2l3  interrupted
    entry: continue
    selected: 20260119-0900-orders-api-k2l3
    incomplete: 20260119-0900-orders-api-k2l3
    runs:
      20260119-0900-orders-api-k2l3:
        run_id: 20260119-0900-orders-api-k2l3
        complete: no
        outcome: none
        phase: 2
        phase_source: events
        done: 1
        total: 3
        counts:
          pending: 1
          in_progress: 1
          done: 1
          failed: 0
          blocked: 0
          skipped: 0
        states:
          T001: done
          T002: in_progress
          T003: pending
        runnable: T002
        failures: none
        last_activity: 2026-01-19T10:01:00Z
        last_completed:
          task: T001
          title: Add model
        unknown_tasks: none
        next_action:
          kind: execute_task
          task: T002
          attempt: 1
        stale: no
        findings: none
    ");
    Ok(())
}

#[test]
fn inspect_shows_findings_with_their_place_and_notes_only_with_verbose() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    sandbox.write(
        run.path("events/executor/broken.jsonl"),
        "{\"event_type\":\n<<<<<<<\n",
    )?;
    std::os::unix::fs::symlink("/etc", sandbox.path(run.path("events/away.jsonl")))?;
    let findings = |ran: String| ran.split("findings: ").nth(1).map(str::to_owned);
    let short = findings(sandbox.run(&["inspect"])?.to_string());
    insta::assert_snapshot!(short.unwrap_or_default(), @"
    CORRUPT_LINE
    warning[CORRUPT_LINE]: 2 lines cannot be read and did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/broken.jsonl:1
    hint: see `rekindle explain CORRUPT_LINE`
    ");
    let verbose = findings(sandbox.run(&["inspect", "-v"])?.to_string());
    insta::assert_snapshot!(verbose.unwrap_or_default(), @"
    CORRUPT_LINE
    warning[CORRUPT_LINE]: 2 lines cannot be read and did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/broken.jsonl:1
    note[OUTSIDE_PROJECT]: links that lead out of the project were not followed: `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/away.jsonl`
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/away.jsonl
    hint: see `rekindle explain CORRUPT_LINE`
    ");
    Ok(())
}

#[test]
fn inspect_of_a_name_that_is_not_there_fails_and_says_what_is() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["inspect", "nonsense"])?, @"
    exit 1
    --- stderr
    error: no workflow `nonsense` in this project

    hint: `agent-memory:20260119-0900-orders-api-k2l3` can be resumed
    hint: `rekindle` lists the workflows of this project
    hint: see `rekindle explain UNKNOWN_WORKFLOW`
    ");
    Ok(())
}

#[test]
fn a_beginning_of_several_names_is_reported_with_what_it_could_be() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    Run::complete("20260119-0900-orders-ui-x1y2").lay_out(&sandbox)?;
    insta::assert_snapshot!(sandbox.run(&["plan", "20260119"])?, @"
    exit 3
    --- stderr
    error: `20260119` is ambiguous: it matches `agent-memory:20260119-0900-orders-api-k2l3`, `agent-memory:20260119-0900-orders-ui-x1y2`

    hint: type more of the name, or add the protocol: `protocol:name`
    ");
    let with_protocol = sandbox.run(&["resume", "agent-memory:20260119-0900-orders", "--yes"])?;
    assert_eq!(with_protocol.code(), Some(3), "{with_protocol}");
    assert!(
        with_protocol.stderr().contains("is ambiguous"),
        "{with_protocol}"
    );
    // The whole name of one is not ambiguous, and a beginning of none is not known.
    assert_eq!(sandbox.run(&["plan", ORDERS])?.code(), Some(0));
    assert_eq!(sandbox.run(&["plan", "2027"])?.code(), Some(1));
    Ok(())
}

#[test]
fn plan_and_dry_run_show_the_same_and_write_nothing() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    let plan = sandbox.run(&["plan"])?.to_string();
    insta::assert_snapshot!(plan, @"
    exit 0
    --- stdout
    agent-memory:20260119-0900-orders-api-k2l3
    This will:
      - append an event to `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl`: the run is resumed
      - print the protocol's report
      - continue with the next step
    Next: Resume T002 - Add endpoint (attempt 1)
    plan digest: [DIGEST]
    ");
    assert_eq!(sandbox.run(&["resume", "--dry-run"])?.to_string(), plan);
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}

#[test]
fn the_digest_of_a_plan_changes_with_what_it_was_made_from() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let digest = || Ok::<_, anyhow::Error>(sandbox.run(&["plan"])?.stdout().into_owned());
    let before = digest()?;
    assert_eq!(digest()?, before);
    sandbox.write(run.path("events/x.jsonl"), "{}\n")?;
    assert_ne!(digest()?, before);
    Ok(())
}

#[test]
fn looking_never_changes_a_byte() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    for args in [
        &[][..],
        &["status", "-v"],
        &["inspect"],
        &["inspect", ORDERS],
        &["plan"],
        &["plan", "nonsense"],
        &["explain", ORDERS, "T001"],
        &["explain", "STALE_RUN"],
        &["checkpoints"],
        &["doctor"],
        &["resume", "--dry-run"],
        &["resume", "nonsense"],
    ] {
        sandbox.run(args)?;
        assert_eq!(before.changes(&sandbox.files()?), [""; 0], "{args:?}");
    }
    Ok(())
}

#[test]
fn every_code_is_explained_by_its_page_however_it_is_typed() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for code in Code::ALL {
        let typed = code.as_str().to_ascii_lowercase().replace('_', "-");
        for word in [code.as_str(), &typed] {
            let ran = sandbox.run(&["explain", word])?;
            assert_eq!(ran.code(), Some(0), "{ran}");
            assert_eq!(ran.stdout(), code.page(), "{word}");
            assert_eq!(ran.stderr(), "", "{word}");
        }
    }
    Ok(())
}

#[test]
fn explain_shows_what_every_log_said_of_a_task_and_what_decided() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    run.clone()
        .line(
            "verifier",
            r#"{"type":"task-failed","task_id":"T001","timestamp":"2026-01-19T10:30:00Z","details":{"error":"no tests"}}"#,
        )
        .lay_out(&sandbox)?;
    insta::assert_snapshot!(sandbox.run(&["explain", "2026", "T001"])?, @"
    exit 0
    --- stdout
    T001 of agent-memory:20260119-0900-orders-api-k2l3 is failed
    because the latest event decides: `task_failed` means failed
      2026-01-19T09:40:00Z  task_started
        .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/20260119-0900.jsonl:1
      2026-01-19T10:00:00Z  task_completed
        .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/20260119-0900.jsonl:2
    → 2026-01-19T10:30:00Z  task-failed (no tests)
        .agent-memory/runs/20260119-0900-orders-api-k2l3/events/verifier/20260119-0900.jsonl:1
    ");
    insta::assert_snapshot!(sandbox.run(&["explain", ORDERS, "T003"])?, @"
    exit 0
    --- stdout
    T003 of agent-memory:20260119-0900-orders-api-k2l3 is pending
    because no event sets its state
    ");
    Ok(())
}

#[test]
fn explain_knows_neither_that_code_nor_that_task() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["explain", "NO_SUCH_CODE"])?, @"
    exit 1
    --- stderr
    error: unknown code `NO_SUCH_CODE`

    hint: codes are listed in `rekindle inspect`; a task is explained by `rekindle explain ID TASK`
    ");
    insta::assert_snapshot!(sandbox.run(&["explain", ORDERS, "T999"])?, @"
    exit 1
    --- stderr
    error: `agent-memory:20260119-0900-orders-api-k2l3` has no task `T999`

    hint: `rekindle inspect agent-memory:20260119-0900-orders-api-k2l3` lists its tasks
    ");
    Ok(())
}

/// What cannot be done, its exit code, and words of the answer that help.
const REFUSED: [(&[&str], i32, &str); 6] = [
    (
        &["rollback", ORDERS, "CP-001"],
        2,
        "cannot be rolled back\n\nhint: `rekindle rollback --help` says which workflows can\n",
    ),
    (
        &["run", "plan.md", "--verify", " "],
        2,
        "the command is empty",
    ),
    (
        &["run", "plan.md", "--agent-cmd", ""],
        2,
        "the command is empty",
    ),
    (
        &["run", "plan.md", "--agent", "nobody"],
        2,
        "hint: name a known one, or define it below `[agents.NAME]`",
    ),
    (
        &["inspect", "--capture", "plan.md"],
        1,
        "already exists\n\nhint: choose the name of a file that does not exist yet\n",
    ),
    (&["rescue", "show", "x"], 1, "no backup is named `x`"),
];

#[test]
fn what_is_refused_is_said_in_the_words_of_what_was_typed() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    sandbox.write("plan.md", "- [ ] T1 Do it\n")?;
    let git = [
        "git init -q",
        "git add -A",
        "git -c user.name=a -c user.email=a@b commit -qm a",
    ];
    let made = sandbox
        .typed(&[])
        .through(&["/bin/sh", "-c", &git.join(" && ")])
        .run()?;
    assert_eq!(made.code(), Some(0), "{made}");
    for (args, code, words) in REFUSED {
        let ran = sandbox.run(args)?;
        assert_eq!(ran.code(), Some(code), "{args:?}: {ran}");
        assert!(ran.stderr().contains(words), "{args:?}: {ran}");
    }
    Ok(())
}

#[test]
fn where_all_workflows_are_finished_the_answer_says_that_none_is_open() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Run::complete(ORDERS).lay_out(&sandbox)?;
    let ran = sandbox.run(&["plan"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!(
        ran.stderr(),
        "error: no open workflow in this project\n\nhint: `rekindle -a` lists the finished ones, too\n"
    );
    Ok(())
}
