//! What one types and what one sees: every command that looks, the options of all, and wrong usage.

use std::os::unix::ffi::OsStringExt as _;

use anyhow::Result;
use rekindle_model::Code;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

#[test]
fn without_a_command_the_status_and_the_next_command_are_shown() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let plain = sandbox.run(&[])?.to_string();
    insta::assert_snapshot!(plain, @"
    exit 0
    --- stdout
    agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      next: Resume T002 - Add endpoint (attempt 1)
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
fn below_a_project_the_status_points_up_to_it() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    sandbox.write("src/deep/x", "")?;
    let below = sandbox.typed(&[]).from(sandbox.path("src/deep")).run()?;
    insta::assert_snapshot!(below, @"
    exit 0
    --- stdout
    Nothing to resume here.
    --- stderr
    hint: there is something in a folder above: `rekindle -C [PROJECT]`
    ");
    Ok(())
}

#[test]
fn finished_runs_are_counted_and_shown_with_verbose_only() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    Run::complete("20260110-0900-old-things-a1b2").lay_out(&sandbox)?;
    insta::assert_snapshot!(sandbox.run(&["status"])?, @"
    exit 0
    --- stdout
    agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      next: Resume T002 - Add endpoint (attempt 1)
    1 finished workflow is not shown; `rekindle status -v` shows it
    --- stderr
    hint: go on with `rekindle resume`
    ");
    insta::assert_snapshot!(sandbox.run(&["status", "-v"])?, @"
    exit 0
    --- stdout
    agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      next: Resume T002 - Add endpoint (attempt 1)
    agent-memory:20260110-0900-old-things-a1b2  complete, phase 2 (execution), 1/1 tasks, 1 day ago
    --- stderr
    hint: go on with `rekindle resume`
    ");
    Ok(())
}

#[test]
fn two_open_runs_are_both_listed_and_the_first_is_named() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    Run::awaiting_approval("20260118-0900-billing-c3d4")
        .task("T001", "Add invoice", &[])
        .lay_out(&sandbox)?;
    insta::assert_snapshot!(sandbox.run(&["status"])?, @"
    exit 0
    --- stdout
    agent-memory:20260118-0900-billing-c3d4  waiting, phase 1 (planning), 0/1 tasks, 1 day ago
      next: Wait for the user's approval of the plan
    agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      next: Resume T002 - Add endpoint (attempt 1)
    --- stderr
    hint: go on with `rekindle resume agent-memory:20260118-0900-billing-c3d4`
    ");
    Ok(())
}

#[test]
fn quiet_says_no_hints() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["-q"])?, @"
    exit 0
    --- stdout
    agent-memory:20260119-0900-orders-api-k2l3  interrupted, phase 2 (execution), 1/3 tasks, 1 day ago
      next: Resume T002 - Add endpoint (attempt 1)
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
    warning[CORRUPT_LINE]: 2 lines can not be read and did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/broken.jsonl:1
    hint: `rekindle explain CORRUPT_LINE` says what to do
    ");
    let verbose = findings(sandbox.run(&["inspect", "-v"])?.to_string());
    insta::assert_snapshot!(verbose.unwrap_or_default(), @"
    CORRUPT_LINE
    warning[CORRUPT_LINE]: 2 lines can not be read and did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/broken.jsonl:1
    note[OUTSIDE_PROJECT]: links that lead out of the project were not followed: `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/away.jsonl`
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/away.jsonl
    hint: `rekindle explain CORRUPT_LINE` says what to do
    ");
    Ok(())
}

#[test]
fn inspect_of_a_name_that_is_not_there_fails_and_says_what_is() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["inspect", "nonsense"])?, @"
    exit 1
    --- stderr
    error: no workflow `nonsense` here

    hint: `agent-memory:20260119-0900-orders-api-k2l3` can be resumed
    hint: `rekindle` lists what is here
    hint: `rekindle explain UNKNOWN_WORKFLOW` tells more
    ");
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
      - append an event to `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl`: the run is taken up again
      - print the protocol's report
      - go on with the next step
    Next: Resume T002 - Add endpoint (attempt 1)
    made from [DIGEST]
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
fn explain_tells_what_every_log_said_of_a_task_and_what_decided() -> Result<()> {
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
    because the latest event decides, whoever wrote it: `task_failed` means failed
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
    because no event says anything of its state
    ");
    Ok(())
}

#[test]
fn explain_knows_neither_that_code_nor_that_task() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["explain", "NO_SUCH_CODE"])?, @"
    exit 1
    --- stderr
    error: `NO_SUCH_CODE` is no code of a finding or an error

    hint: to explain a task, name it too: `rekindle explain ID TASK`
    ");
    insta::assert_snapshot!(sandbox.run(&["explain", ORDERS, "T999"])?, @"
    exit 1
    --- stderr
    error: `agent-memory:20260119-0900-orders-api-k2l3` knows no task `T999`

    hint: `rekindle inspect agent-memory:20260119-0900-orders-api-k2l3` lists its tasks
    ");
    Ok(())
}

#[test]
fn a_checkpoint_is_recorded_and_listed() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["checkpoints"])?, @"
    exit 0
    --- stdout
    No checkpoints yet.
    ");
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["checkpoint", "-m", "before the risky part"])?, @"
    exit 0
    --- stderr
    recorded in `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl`
    ");
    let log = run.path("events/orchestrator/20260120-120000.jsonl");
    assert_eq!(before.changes(&sandbox.files()?), [format!("+ {log}")]);
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"{"event_type":"checkpoint_created","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"orchestrator","details":{"message":"before the risky part","next_action":"execute_task","phase":2,"tasks_done":1,"tasks_total":3}}"#);
    insta::assert_snapshot!(sandbox.run(&["checkpoints"])?, @"
    exit 0
    --- stdout
    1  2026-01-20T12:00:00Z  before the risky part
        .agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl:1
    ");
    Ok(())
}

#[test]
fn an_event_is_one_line_in_a_log_of_its_actor() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?;
    let event = [
        "event",
        ORDERS,
        "task_completed",
        "--task",
        "T002",
        "--actor",
        "worker-1",
        "--details",
        r#"{"files_modified":["a.rs"]}"#,
    ];
    insta::assert_snapshot!(sandbox.run(&event)?, @"
    exit 0
    --- stderr
    recorded in `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/worker-1/20260120-rekindle.jsonl`
    ");
    let folder = run.path("events/worker-1");
    let log = folder.join("20260120-rekindle.jsonl");
    let changes = [format!("+ {folder}"), format!("+ {log}")];
    assert_eq!(before.changes(&sandbox.files()?), changes);
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"{"event_type":"task_completed","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"worker-1","task_id":"T002","details":{"files_modified":["a.rs"]}}"#);
    assert!(sandbox.run(&[])?.stdout().contains("2/3 tasks"));
    Ok(())
}

#[test]
fn heartbeats_of_one_day_go_into_one_log_and_change_no_state() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.run(&["plan"])?.stdout().into_owned();
    sandbox.run(&["heartbeat", ORDERS, "T002"])?;
    let later = sandbox.typed(&["heartbeat", ORDERS, "T002"]);
    insta::assert_snapshot!(later.at("2026-01-20T12:00:30Z").run()?, @"
    exit 0
    --- stderr
    recorded in `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/rekindle/20260120-rekindle.jsonl`
    ");
    let log = run.path("events/rekindle/20260120-rekindle.jsonl");
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"
    {"event_type":"heartbeat","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"rekindle","task_id":"T002"}
    {"event_type":"heartbeat","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:30Z","actor":"rekindle","task_id":"T002"}
    "#);
    let next = |plan: &str| {
        plan.lines()
            .find(|line| line.starts_with("Next: "))
            .map(str::to_owned)
    };
    let after = sandbox.run(&["plan"])?.stdout().into_owned();
    assert_eq!(
        next(&before),
        Some("Next: Resume T002 - Add endpoint (attempt 1)".to_owned())
    );
    assert_eq!(next(&before), next(&after));
    Ok(())
}

#[test]
fn events_of_runs_that_are_not_there_are_refused() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["event", "nonsense", "task_completed"])?, @"
    exit 1
    --- stderr
    error: no workflow `nonsense` here

    hint: `agent-memory:20260119-0900-orders-api-k2l3` can be resumed
    hint: `rekindle` lists what is here
    hint: `rekindle explain UNKNOWN_WORKFLOW` tells more
    ");
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}

#[test]
fn events_that_are_none_are_wrong_usage_and_write_nothing() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["event", ORDERS, "x", "--details", "{\"a\":"])?, @r#"
    exit 2
    --- stderr
    error: invalid value '{"a":' for '--details <JSON>': EOF while parsing a value at line 1 column 5

    For more information, try '--help'.
    "#);
    for wrong in [
        &["event", ORDERS, "x", "--details", "[]"][..],
        &["event", ORDERS, "x", "--details", "text"],
        &["event", ORDERS, "two words"],
        &["event", ORDERS, ""],
        &["event", ORDERS, "x", "--actor", "../../outside"],
        &["event", ORDERS, "x", "--actor", ".hidden"],
        &["event", ORDERS, "x", "--actor", "a/b"],
        &["event", ORDERS],
        &["event"],
        &["heartbeat", ORDERS],
        &["heartbeat", ORDERS, "T1", "--actor", "a\nb"],
    ] {
        let ran = sandbox.run(wrong)?;
        assert_eq!(ran.code(), Some(2), "{wrong:?}: {ran}");
        assert_eq!(ran.stdout(), "", "{wrong:?}");
    }
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}

#[test]
fn doctor_says_that_git_and_the_project_are_in_order() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["doctor"])?, @"
    exit 0
    --- stdout
    ok  git: git [VERSION]
    ok  workflows: 1 can be resumed in `[PROJECT]`
    ");
    Ok(())
}

#[test]
fn doctor_fails_without_git_and_says_what_to_do() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let without_git = sandbox.typed(&["doctor"]).with("PATH", "/nowhere");
    insta::assert_snapshot!(without_git.run()?, @"
    exit 1
    --- stdout
    problem  git: `git` was not found on PATH (`/nowhere`); install git 2.38 or newer
        hint: install git 2.38 or newer, then run `rekindle doctor` again
    ok  workflows: 0 can be resumed in `[PROJECT]`
    ");
    Ok(())
}

#[test]
fn the_demo_is_killed_goes_on_and_does_every_task_once() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let scratch = sandbox.root().join("scratch");
    fs_err::create_dir(&scratch)?;
    let typed = sandbox.typed(&["demo"]).without("REKINDLE_NOW");
    // As in a hook, or in an alias of a linked worktree.
    let typed = typed.with("GIT_DIR", sandbox.path(".git").as_str());
    let ran = typed.with("TMPDIR", scratch.as_str()).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert!(!sandbox.path(".git").exists(), "it stays in its folder");
    assert!(ran.stdout().contains("*** killed"), "{ran}");
    assert!(
        ran.stdout().contains("Every task landed exactly once"),
        "{ran}"
    );
    assert_eq!(
        scratch.read_dir_utf8()?.count(),
        1,
        "it keeps to the folder for such things"
    );
    Ok(())
}

#[test]
fn help_names_every_command_and_the_exit_codes() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    insta::assert_snapshot!(sandbox.run(&["--help"])?, @"
    exit 0
    --- stdout
    Picks up any interrupted coding-agent workflow exactly where it stopped

    Without a command: what can be resumed here, and the one command to type next.

    Usage: rekindle [OPTIONS] [COMMAND]

    Commands:
      status       Shows what can be resumed here, one line each, and the command to type next
      inspect      Shows everything known of one workflow: facts, findings, where each comes from
      run          Starts a new run from a task graph (JSON) or a Markdown task list
      plan         Shows what resume would do, in order; writes nothing
      resume       Briefs, asks once, and goes on until the work is done or a person is needed
      explain      Tells why a task is in its state (ID TASK), or what a finding means (CODE)
      checkpoint   Makes a checkpoint
      checkpoints  Lists the checkpoints of a workflow
      rollback     Goes back to a checkpoint after a yes; keeps what it replaces and deletes nothing
      validate     Holds a feature's spec and plan, or single files, against Bifrost's rules
      migrate      Gives a feature the session that all features shared before
      event        Appends an event to a workflow's log, for workers and scripts
      heartbeat    Appends a sign of life of a running task
      install      Sets a coding agent or a MAP project up to call rekindle, after a yes
      uninstall    Takes away what `install` added; the settings are again what they were
      hook         Answers a coding agent that calls at a moment of its session; never fails it
      clean        Lists the worktrees that runs left behind, and removes them after a yes
      rescue       Lists, shows and restores what was kept before something could have destroyed it
      map          Answers as MAP's `map_orchestrator.py` does: `rekindle map get_next_step`
      demo         Builds a small project in a scratch folder, interrupts its work and resumes it
      torture      Kills runs at random moments, resumes them, and counts what was lost
      mcp          Serves coding agents over MCP on standard input and output, until the input ends
      doctor       Checks whether everything that rekindle needs is in order
      completions  Prints a completion script for a shell
      man          Prints the manual page, in the form that `man` reads
      help         Print this message or the help of the given subcommand(s)

    Options:
      -C <DIR>
              Works on the project in this folder instead of the current one

          --json
              Prints one JSON object with a `schema` instead of text

          --color <WHEN>
              When to use colors
              
              [default: auto]
              [possible values: auto, always, never]

      -q, --quiet
              Says less: no hints and no progress

      -v, --verbose
              Says more: notes, and where each thing comes from

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Exit codes: 0 done or declined, 1 cannot resume, 2 wrong usage, 3 a choice is needed and nobody is
    there, 4 another rekindle or agent is at work.
    ");
    Ok(())
}

#[test]
fn every_command_has_its_own_help() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let commands = commands(&sandbox)?;
    assert!(commands.len() > 10, "{commands:?}");
    for command in &commands {
        let ran = sandbox.run(&[command, "--help"])?;
        assert_eq!(ran.code(), Some(0), "{ran}");
        let usage = format!("Usage: rekindle {command}");
        assert!(ran.stdout().contains(&usage), "{ran}");
    }
    Ok(())
}

/// Returns the commands that the help lists.
fn commands(sandbox: &Sandbox) -> Result<Vec<String>> {
    let help = sandbox.run(&["--help"])?;
    let listed = help.stdout().into_owned();
    let lines = listed
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1);
    let named = lines.map_while(|line| line.split_whitespace().next());
    Ok(named
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect())
}

#[test]
fn the_version_is_that_of_the_package() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for word in ["--version", "-V"] {
        let ran = sandbox.run(&[word])?;
        let expected = format!("rekindle {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((ran.code(), ran.stdout().into_owned()), (Some(0), expected));
    }
    Ok(())
}

#[test]
fn completions_know_every_command_and_the_shell_can_read_them() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let commands = commands(&sandbox)?;
    for shell in ["bash", "zsh", "fish"] {
        let ran = sandbox.run(&["completions", shell])?;
        assert_eq!(
            (ran.code(), ran.stderr().as_ref()),
            (Some(0), ""),
            "{shell}"
        );
        let script = ran.stdout();
        for command in &commands {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
    sandbox.write(
        "completions.bash",
        sandbox.run(&["completions", "bash"])?.stdout_bytes(),
    )?;
    let read = sandbox
        .typed(&[])
        .through(&["bash", "-n", "completions.bash"]);
    assert_eq!(read.run()?.to_string(), "exit 0\n");
    Ok(())
}

#[test]
fn the_manual_page_has_a_title_and_every_command() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let ran = sandbox.run(&["man"])?;
    assert_eq!((ran.code(), ran.stderr().as_ref()), (Some(0), ""));
    let page = ran.stdout();
    assert!(page.contains(".TH rekindle 1"), "no title");
    for command in commands(&sandbox)? {
        let section = format!(".SH \"REKINDLE {}\"", command.to_uppercase());
        assert!(page.contains(&section), "{section} is not there");
    }
    Ok(())
}

#[test]
fn another_folder_is_looked_at_from_anywhere() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let here = sandbox.run(&["inspect"])?.to_string();
    let project = sandbox.project().as_str();
    for args in [["-C", project, "inspect"], ["inspect", "-C", project]] {
        let ran = sandbox.typed(&args).from("/").run()?;
        assert_eq!(ran.to_string(), here);
    }
    let relative = sandbox.typed(&["-C", "project", "inspect"]);
    assert_eq!(relative.from(sandbox.root()).run()?.to_string(), here);
    Ok(())
}

#[test]
fn a_folder_that_is_none_is_wrong_usage() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    sandbox.write("file", "")?;
    insta::assert_snapshot!(sandbox.run(&["-C", "not-there"])?, @"
    exit 2
    --- stderr
    error: there is no folder `[PROJECT]/not-there`: No such file or directory (os error 2)

    hint: check the path given with `-C`
    ");
    insta::assert_snapshot!(sandbox.run(&["-C", "file"])?, @"
    exit 2
    --- stderr
    error: `[PROJECT]/file` is not a folder

    hint: check the path given with `-C`
    ");
    insta::assert_snapshot!(sandbox.run(&["-C"])?, @"
    exit 2
    --- stderr
    error: a value is required for '-C <DIR>' but none was supplied

    For more information, try '--help'.
    ");
    Ok(())
}

#[test]
fn wrong_usage_is_exit_code_2_and_says_what_is_right() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    insta::assert_snapshot!(sandbox.run(&["resurrect"])?, @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'resurrect'

      tip: some similar subcommands exist: 'resume', 'rescue'

    Usage: rekindle [OPTIONS] [COMMAND]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["plan", "--protocol", "waterfall"])?, @"
    exit 2
    --- stderr
    error: invalid value 'waterfall' for '--protocol <PROTOCOL>': `waterfall` is not a protocol; known: agent-memory, kiln, kiln-teams, bifrost, map

    For more information, try '--help'.
    ");
    for wrong in [
        &["-q", "-v"][..],
        &["--color", "sometimes"],
        &["resume", "--agent-cmd", "x", "--no-agent"],
        &["inspect", "--capture", "a", "--from", "b"],
        &["completions", "cmd"],
        &["status", "more"],
        &["explain"],
    ] {
        let ran = sandbox.run(wrong)?;
        assert_eq!(
            (ran.code(), ran.stdout().as_ref()),
            (Some(2), ""),
            "{wrong:?}"
        );
    }
    Ok(())
}

#[test]
fn a_clock_that_is_none_is_wrong_usage() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    insta::assert_snapshot!(sandbox.typed(&[]).at("yesterday").run()?, @"
    exit 2
    --- stderr
    error: REKINDLE_NOW is not a time: `yesterday`

    hint: write it as `2026-01-20T12:00:00Z`, or unset it
    ");
    let not_text = std::ffi::OsString::from_vec(b"2026-\xff".to_vec());
    let ran = sandbox.typed(&[]).with("REKINDLE_NOW", not_text).run()?;
    insta::assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error: REKINDLE_NOW is not a time: `2026-�`

    hint: write it as `2026-01-20T12:00:00Z`, or unset it
    ");
    Ok(())
}

#[test]
fn without_a_fixed_clock_the_real_one_is_read() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    for typed in [
        sandbox.typed(&[]).without("REKINDLE_NOW"),
        sandbox.typed(&[]).at(""),
    ] {
        let ran = typed.run()?;
        assert_eq!(ran.code(), Some(0), "{ran}");
        assert!(ran.stdout().contains(" days ago"), "{ran}");
    }
    Ok(())
}

#[test]
fn colors_are_used_when_asked_for_and_never_otherwise() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let colored = |typed: rekindle_testkit::sandbox::Typed<'_>| {
        let ran = typed.without("NO_COLOR").run()?;
        Ok::<_, anyhow::Error>(ran.stdout().contains('\u{1b}'))
    };
    assert!(colored(sandbox.typed(&["--color", "always"]))?);
    assert!(colored(sandbox.typed(&[]).with("CLICOLOR_FORCE", "1"))?);
    assert!(!colored(sandbox.typed(&["--color", "never"]))?);
    assert!(!colored(
        sandbox
            .typed(&["--color", "never"])
            .with("CLICOLOR_FORCE", "1")
    )?);
    // No terminal is there, so by itself it uses none.
    assert!(!colored(sandbox.typed(&[]))?);
    let forced = sandbox.typed(&["--color", "always"]).with("NO_COLOR", "1");
    assert!(forced.run()?.stdout().contains('\u{1b}'));
    Ok(())
}

#[test]
fn colors_change_nothing_but_the_colors() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    sandbox.write(run.path("events/x.jsonl"), "torn")?;
    let escapes = regex::Regex::new("\u{1b}\\[[0-9;]*m")?;
    for args in [
        &["status"][..],
        &["inspect"],
        &["plan"],
        &["doctor"],
        &["explain", ORDERS, "T001"],
        &["inspect", "nonsense"],
        &["-C", "nowhere"],
        &["resume"],
    ] {
        let plain = sandbox.run(args)?;
        let colored = sandbox.run(&[args, &["--color", "always"]].concat())?;
        assert_ne!(colored.to_string(), plain.to_string(), "{args:?}");
        let stripped = escapes.replace_all(&colored.to_string(), "").into_owned();
        assert_eq!(stripped, plain.to_string(), "{args:?}");
    }
    Ok(())
}

#[test]
fn a_reader_that_goes_away_is_no_failure() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    for args in [
        &[][..],
        &["--help"],
        &["--version"],
        &["man"],
        &["completions", "bash"],
        &["inspect"],
        &["inspect", "--json"],
        &["plan"],
        &["explain", "STALE_RUN"],
        &["resume", "--yes", "--no-agent"],
    ] {
        let (code, stderr) = with_closed_output(&sandbox, args)?;
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        assert!(
            !stderr.contains("panic") && !stderr.contains("error"),
            "{args:?}: {stderr}"
        );
    }
    Ok(())
}

#[test]
fn an_output_that_nobody_reads_is_one_that_can_not_be_written() -> Result<()> {
    let sandbox = Sandbox::new("/bin/echo")?;
    let (code, stderr) = with_closed_output(&sandbox, &["x"])?;
    assert!(code != Some(0), "{stderr}");
    Ok(())
}

/// Runs a command whose standard output nobody reads; returns its exit code and standard error.
fn with_closed_output(sandbox: &Sandbox, args: &[&str]) -> Result<(Option<i32>, String)> {
    let errors = sandbox.root().join("stderr");
    // The shell's own end of the pipe is closed when `true` is gone, which is waited for.
    let script = r#"exec 3>"$0"; mkfifo "$0.pipe"; true <"$0.pipe" & exec 4>"$0.pipe"; wait $!; exec "$@" >&4 2>&3"#;
    let ran = sandbox
        .typed(args)
        .through(&["sh", "-c", script, errors.as_str()])
        .run()?;
    fs_err::remove_file(format!("{errors}.pipe"))?;
    Ok((ran.code(), fs_err::read_to_string(errors)?))
}
