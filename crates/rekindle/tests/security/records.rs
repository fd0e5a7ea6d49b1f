//! rekindle's own records from elsewhere: a clone, a copy, a moved folder. None of them is acted upon.

#![expect(
    clippy::disallowed_methods,
    reason = "tests copy folders and run git as a user would"
)]

use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};
use camino::Utf8PathBuf;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::repository::{Project, WRITE, kill, text};
use rekindle_testkit::sandbox::{NOW, Sandbox};
use serde_json::Value;

use crate::BINARY;

const RUN: &str = "20260119-0900-orders-api-k2l3";

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(RUN);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

fn journal() -> Utf8PathBuf {
    format!(".rekindle/journal/agent-memory-{RUN}.jsonl").into()
}

/// Resumes at a time; returns the journal's first line, which begins something, and the log it names.
fn begun(sandbox: &Sandbox, now: &str) -> Result<(String, Utf8PathBuf)> {
    let ran = sandbox.typed(&["resume", "--yes", "--no-agent"]).at(now);
    ensure!(ran.run()?.code() == Some(0), "no resume");
    let line = sandbox.read(journal())?;
    let line = line.lines().next().context("an empty journal")?.to_owned();
    let record: Value = serde_json::from_str(&line)?;
    let log = &record["entry"]["begin"]["body"]["effects"][0]["append"]["log"];
    Ok((line + "\n", log.as_str().context("no log")?.into()))
}

fn codes(sandbox: &Sandbox) -> Result<Vec<String>> {
    let plan = sandbox.run(&["plan", "--json"])?.json()?;
    let findings = plan["findings"].as_array().context("no findings")?;
    let code = |finding: &Value| finding["code"].as_str().map(str::to_owned);
    Ok(findings.iter().filter_map(code).collect())
}

#[test]
fn a_journal_of_another_user_or_folder_is_never_carried_out() -> Result<()> {
    let (elsewhere, _) = interrupted()?;
    let (forged, log) = begun(&elsewhere, "2026-01-20T10:00:00Z")?;
    for answer in ["n\n", "y\n"] {
        let (sandbox, run) = interrupted()?;
        // A key of its own, and nothing begun under it.
        begun(&sandbox, "2026-01-20T11:00:00Z")?;
        sandbox.write(journal(), &forged)?;
        ensure!(
            !sandbox.path(&log).exists(),
            "the log is of the forged record"
        );
        assert_eq!(codes(&sandbox)?, ["FOREIGN_RECORD"]);
        let ran = sandbox
            .typed(&["resume", "--no-agent"])
            .answering(answer)
            .run()?;
        assert!(!sandbox.path(&log).exists(), "{ran}");
        if answer == "y\n" {
            assert!(
                ran.stderr()
                    .contains("lines from another machine, user or folder"),
                "{ran}"
            );
            assert!(sandbox.path(format!("{}.aside-1", journal())).exists());
            assert_eq!(codes(&sandbox)?, [""; 0]);
            assert_eq!(run.told(&sandbox)?, "session_resumed\nsession_resumed\n");
        }
    }
    Ok(())
}

#[test]
fn interrupted_steps_of_this_project_are_listed_by_a_plan_and_finished_path_by_path() -> Result<()>
{
    let (sandbox, _) = interrupted()?;
    let (begun, log) = begun(&sandbox, NOW)?;
    // As if it had been killed right after its first record.
    sandbox.write(journal(), &begun)?;
    fs_err::remove_file(sandbox.path(&log))?;
    let before = sandbox.files()?;
    let plan = sandbox.run(&["plan", "--json"])?.json()?;
    let named = plan["unfinished"].to_string();
    assert!(named.contains(log.as_str()), "{named}");
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    let declined = sandbox
        .typed(&["resume", "--json"])
        .answering("n\n")
        .run()?;
    let finished = declined.json()?["finished"].to_string();
    assert!(finished.contains(log.as_str()), "{declined}");
    assert!(sandbox.path(&log).exists());
    let plan = sandbox.run(&["plan", "--json"])?.json()?;
    assert_eq!(plan["unfinished"], serde_json::json!([]), "{plan}");
    Ok(())
}

#[test]
fn state_that_git_tracks_is_refused_and_a_tracked_configuration_is_not() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let git = |args: &[&str]| -> Result<()> {
        let mut git = Command::new("git");
        git.envs(sandbox.environment())
            .args(["-c", "user.name=t", "-c", "user.email=t@t"]);
        let output = git.args(args).current_dir(sandbox.project()).output()?;
        ensure!(output.status.success(), "{}", text(&output.stderr));
        Ok(())
    };
    git(&["init", "-q"])?;
    sandbox.write(".rekindle/config.toml", "")?;
    git(&["add", "-f", ".rekindle/config.toml"])?;
    assert_eq!(codes(&sandbox)?, [""; 0]);
    sandbox.write(".rekindle/hook.log", "")?;
    git(&["add", "-f", ".rekindle"])?;
    git(&["commit", "-qm", "state"])?;
    assert_eq!(codes(&sandbox)?, ["TRACKED_STATE"]);
    let before = sandbox.files()?;
    for args in [&["resume", "--yes", "--no-agent"][..], &["resume"]] {
        let refused = sandbox.typed(args).answering("y\n").run()?;
        assert_eq!(refused.code(), Some(1), "{refused}");
        assert!(
            refused.stderr().contains("git rm -r --cached .rekindle"),
            "{refused}"
        );
    }
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    git(&["rm", "-rq", "--cached", ".rekindle"])?;
    git(&["commit", "-qm", "no state"])?;
    let resumed = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(resumed.code(), Some(0), "{resumed}");
    assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    Ok(())
}

#[test]
fn without_a_place_for_the_key_looking_works_and_writing_says_what_is_missing() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let typed = |args: &[&str]| {
        let typed = sandbox.typed(args).without("HOME");
        typed.without("XDG_STATE_HOME").run()
    };
    for args in [&["status"][..], &["inspect"], &["plan"]] {
        assert_eq!(typed(args)?.code(), Some(0), "{args:?}");
    }
    let refused = typed(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(refused.code(), Some(1), "{refused}");
    for word in ["XDG_STATE_HOME", "HOME"] {
        assert!(refused.stderr().contains(word), "{refused}");
    }
    Ok(())
}

/// An agent that says by a file that it is at work, and ends when another file is there.
fn gated(gate: &Path) -> String {
    let gate = gate.display();
    format!(
        "cat > /dev/null; echo in > {gate}.in; while [ ! -e {gate} ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt"
    )
}

/// Runs rekindle in another folder, as the same user.
fn at(project: &Project, folder: &Path, args: &[&str]) -> Result<Output> {
    Ok(project.command(args).current_dir(folder).output()?)
}

fn wait_for(file: &Path) {
    while !file.exists() {
        std::thread::yield_now();
    }
}

#[test]
fn resuming_a_copy_leaves_the_agents_and_worktrees_of_the_original_alone() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let outside = tempfile::tempdir()?;
    let gate = outside.path().join("gate");
    let words = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
    ];
    let agent = gated(&gate);
    let mut run = project
        .command(&[&words[..], &[agent.as_str()]].concat())
        .spawn()?;
    wait_for(&gate.with_extension("in"));
    kill(run.id(), "KILL");
    run.wait()?;
    let copy = outside.path().join("copy");
    let copied = Command::new("cp")
        .arg("-a")
        .arg(project.path())
        .arg(&copy)
        .status()?;
    ensure!(copied.success(), "no copy");
    let alive = project.processes();
    let registered = project.git(&["worktree", "list", "--porcelain"]);

    let resume = ["resume", "--yes", "--agent-cmd", WRITE];
    let resumed = at(&project, &copy, &resume)?;
    let said = text(&resumed.stderr);
    ensure!(resumed.status.success(), "{said}");
    assert!(said.contains("was not started in this folder"), "{said}");
    for (pid, line) in &alive {
        // The shells of the loop come and go; whoever stays is still there.
        if !line.starts_with("sleep") {
            assert_eq!(project.processes().get(pid), Some(line));
        }
    }
    assert_eq!(
        project.git(&["worktree", "list", "--porcelain"]),
        registered
    );
    // The original goes on as if nothing had happened.
    fs_err::write(&gate, "")?;
    let resumed = project.rekindle(&resume);
    ensure!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert_eq!(project.git(&["show", "result:A.txt"]), "x\n");
    Ok(())
}

#[test]
fn a_folder_that_was_moved_is_resumed_from_what_has_landed() -> Result<()> {
    let outside = tempfile::tempdir()?;
    let project = Project::new(BINARY);
    project.plan("A");
    let gate = outside.path().join("gate");
    let words = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
    ];
    let agent = gated(&gate);
    let mut run = project
        .command(&[&words[..], &[agent.as_str()]].concat())
        .spawn()?;
    wait_for(&gate.with_extension("in"));
    kill(run.id(), "KILL");
    run.wait()?;
    let moved = outside.path().join("moved");
    let resume = ["resume", "--yes", "--agent-cmd", WRITE];
    let mut first = project.command(&resume);
    let mut second = project.command(&resume);
    for command in [&mut first, &mut second] {
        command.current_dir(&moved);
    }
    fs_err::rename(project.path(), &moved)?;
    // Its worker lives, and nobody else works next to it.
    let refused = first.output()?;
    let said = text(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("is still working on A"), "{said}");
    fs_err::write(&gate, "")?;
    let runs = moved.join(".rekindle/runs");
    let wait = format!(
        "for c in {}/*/A/1/claim; do flock \"$c\" true; done",
        runs.display()
    );
    let waited = Command::new("sh").args(["-c", &wait]).status()?;
    ensure!(waited.success(), "no claim");
    let resumed = second.output()?;
    let said = text(&resumed.stderr);
    ensure!(resumed.status.success(), "{said}");
    assert!(said.contains("was not started in this folder"), "{said}");
    Ok(())
}
