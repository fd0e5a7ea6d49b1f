//! What belongs to all commands: help, options, colours, exit codes, wrong usage.

use std::os::unix::ffi::OsStringExt as _;

use anyhow::Result;
use regex::Regex;
use rekindle_testkit::sandbox::Sandbox;

use crate::{BINARY, ORDERS, interrupted};

#[test]
fn doctor_says_that_git_and_the_project_are_in_order() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    // Where agents are not installed.
    let doctor = sandbox.typed(&["doctor"]).with("PATH", "/usr/bin:/bin");
    insta::assert_snapshot!(doctor.run()?, @"
    exit 0
    --- stdout
    ok  rekindle: [VERSION], a build of the source
    ok  git: git [VERSION]
    note  agent: none is configured, and none of `claude`, `codex`, `gemini` and `opencode` is installed
        hint: install one, or give a command with `--agent-cmd`
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
    ok  rekindle: [VERSION], a build of the source
    problem  git: `git` was not found on PATH (`/nowhere`); install git 2.38 or newer
        hint: install git 2.38 or newer, then run `rekindle doctor` again
    note  agent: none is configured, and none of `claude`, `codex`, `gemini` and `opencode` is installed
        hint: install one, or give a command with `--agent-cmd`
    ok  workflows: 0 can be resumed in `[PROJECT]`
    ");
    Ok(())
}

#[test]
fn the_demo_is_killed_goes_on_and_does_every_task_once() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let scratch = sandbox.root().join("scratch");
    fs_err::create_dir(&scratch)?;
    let typed = sandbox.typed(&["demo", "--report"]);
    let typed = typed.without("REKINDLE_NOW");
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
    let folders: Vec<_> = scratch.read_dir_utf8()?.collect::<Result<_, _>>()?;
    assert_eq!(folders.len(), 1, "it keeps to the folder for such things");
    let report = fs_err::read_to_string(folders[0].path().join("report.html"))?;
    let story = "The run was interrupted once";
    assert!(report.contains(story) && report.contains("No delivered work was lost"));
    // The orchestrator that was killed had said that it lived.
    let find = "grep -rh session_resumed .agent-memory/runs/*/events/orchestrator";
    let resumed = sandbox.typed(&[]).through(&["sh", "-c", find]);
    let resumed = resumed.from(folders[0].path()).run()?;
    let details: serde_json::Value = serde_json::from_slice(resumed.stdout_bytes())?;
    let details = &details["details"];
    assert!(details["last_seen"].is_string(), "{details}");
    assert!(details["stopped"].is_null() && details["rebooted"].is_null());
    Ok(())
}

#[test]
fn help_names_every_command_and_the_exit_codes() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    insta::assert_snapshot!(sandbox.run(&["--help"])?, @"
    exit 0
    --- stdout
    Resume interrupted coding-agent workflows exactly where they stopped

    Without a command, it lists what can be resumed in this project and the command to type next.

    Usage: rekindle [OPTIONS] [COMMAND]

    Commands:
      status       List the workflows that can be resumed and the command to type next
      sessions     List the sessions of coding agents in all folders, and which of them were cut off
      inspect      Show the facts and findings of a workflow, with their sources
      run          Run a plan: a Markdown task list or a task graph (JSON)
      plan         Show what `resume` would do, without changing anything
      resume       Resume a workflow
      logs         Show what agents and checks printed
      attach       Follow a run that is at work in another terminal
      report       Write what happened to a workflow as one HTML page, a drawing or a trace
      retry        Try failed tasks of a run again
      skip         Leave tasks of a run out
      cancel       End a run for good; what has landed stays on its branch
      stop         Ask a run that is at work in another terminal to stop
      explain      Explain the state of a task (ID TASK) or a finding (CODE)
      checkpoint   Record a checkpoint
      checkpoints  List the checkpoints of a workflow
      rollback     Roll a Bifrost feature back to a checkpoint, after confirmation
      validate     Validate a feature's spec and plan
      migrate      Migrate the legacy shared session to one feature, after confirmation
      event        Append an event to a workflow's log, for workers and scripts
      heartbeat    Record that a task is still running, for workers and scripts
      mute         Leave a workflow out of what new sessions of coding agents are told
      install      Set up a coding agent or a MAP project to use rekindle, after confirmation
      uninstall    Remove what `install` added
      hook         Handle a coding-agent hook event (always exits 0)
      clean        Remove worktrees that are no longer needed
      prune        Remove records of finished runs, merged branches and old backups
      rescue       List, show and restore backups of worktrees
      map          Run a command of MAP's `map_orchestrator.py`, such as `rekindle map get_next_step`
      demo         Kill a run in a scratch project and resume it, to see how it works
      torture      Kill runs at random moments, resume them, and count what was lost
      mcp          Serve coding agents over MCP on standard input and output
      init         Write a commented `rekindle.toml` for the agents that are installed
      config       Show the configuration that holds, and where each setting is from
      doctor       Check git, the configuration and the agents
      completions  Print a completion script for a shell
      man          Print the manual page in roff format
      help         Print this message or the help of the given subcommand(s)

    Options:
          --protocol <PROTOCOL>
              List only the workflows of this protocol

      -a, --all
              List finished and old workflows too

          --everywhere
              List the sessions of coding agents in all folders, as `rekindle sessions` does

      -C <DIR>
              Use the project in this folder instead of the current one

          --json
              Print one JSON object instead of text; its `schema` names the format

          --color <WHEN>
              When to use colors
              
              [default: auto]
              [possible values: auto, always, never]

      -q, --quiet
              Print no hints and no progress

      -v, --verbose
              Also print notes and the files that facts come from

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Exit codes: 0 done or declined, 1 cannot resume, 2 wrong usage, 3 a question was not answered, 4
    another rekindle or agent is working on it
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
fn every_command_has_a_page_of_its_own_and_refers_only_to_pages_that_exist() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let all = sandbox.run(&["man"])?.stdout().to_lowercase();
    let names = all.lines().filter_map(|line| {
        let words = line.strip_prefix(".sh \"rekindle ")?.strip_suffix('"')?;
        Some(words.split(' ').map(str::to_owned).collect::<Vec<_>>())
    });
    let names: Vec<Vec<String>> = names.collect();
    assert!(names.len() > 30, "{names:?}");
    let reference = Regex::new(r"\brekindle((?:-[a-z]+)+)\(1\)")?;
    let mut referred = 0;
    for words in &names {
        let mut args = vec!["man"];
        args.extend(words.iter().map(String::as_str));
        let ran = sandbox.run(&args)?;
        assert_eq!((ran.code(), ran.stderr().as_ref()), (Some(0), ""));
        let page = ran.stdout().replace('\\', "");
        let title = format!(".TH rekindle-{} 1", words.join("-"));
        assert!(page.contains(&title), "{title}: {page}");
        for found in reference.captures_iter(&page) {
            let wanted: Vec<&str> = found[1].split('-').skip(1).collect();
            assert!(names.iter().any(|name| *name == wanted), "{wanted:?}");
            referred += 1;
        }
    }
    assert!(referred > 0, "no page refers to another");
    let unknown = sandbox.run(&["man", "walk"])?;
    assert_eq!(unknown.code(), Some(2), "{unknown}");
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
    error: cannot open folder `[PROJECT]/not-there`: No such file or directory (os error 2)

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

      tip: some similar subcommands exist: 'report', 'resume', 'rescue'

    Usage: rekindle [OPTIONS] [COMMAND]

    For more information, try '--help'.
    ");
    let unknown = sandbox.run(&["plan", "--protocol", "waterfall"])?;
    assert_eq!(unknown.code(), Some(2), "{unknown}");
    let known: Vec<&str> = rekindle_app::protocol_names()
        .iter()
        .map(|name| name.as_str())
        .collect();
    let said = format!(
        "`waterfall` is not a protocol; known: {}\n",
        known.join(", ")
    );
    assert!(unknown.stderr().contains(&said), "{unknown}");
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
fn a_reader_that_goes_away_is_not_a_failure() -> Result<()> {
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
fn an_output_that_nobody_reads_cannot_be_written() -> Result<()> {
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
