//! Records that disagree with git: done that is not there, and work that nobody wrote down.

use std::process::Output;

use anyhow::{Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::agent_memory::DILIGENT_AGENT;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::repository::{Project, WRITE, run_words, text};
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;

use crate::{BINARY, interrupted};

/// Resumes with an agent that must not be started.
fn resume(project: &Project) -> Output {
    let nobody = format!("touch {}/was-started; exit 1", project.path().display());
    project.rekindle(&["resume", "--yes", "--agent-cmd", &nobody])
}

/// Takes every event of these types out of the logs, and the summary that is written before the last
/// one, as if the process had died before it wrote them.
fn forget(project: &Project, kinds: &str) -> Result<()> {
    let line = format!(
        r#"find .agent-memory -name '*.jsonl' -exec sed -i -E '/"event_type":"({kinds})"/d' {{}} + && rm -f .agent-memory/runs/*/summary.md"#
    );
    let done = project.shell(&line);
    ensure!(done.status.success(), "{}", text(&done.stderr));
    Ok(())
}

/// Runs `A B` to its end.
fn landed() -> Result<(Project, String)> {
    let project = Project::new(BINARY);
    project.plan("A B<A");
    let run = project.run(WRITE, &[]);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let tip = project.git(&["rev-parse", "result"]);
    Ok((project, tip))
}

/// Checks that a resume has ended well, without an agent and without a change of the branch.
fn did_nothing(project: &Project, tip: &str, resumed: &Output) -> Result<()> {
    let said = text(&resumed.stderr);
    ensure!(resumed.status.success(), "{said}");
    ensure!(project.git(&["rev-parse", "result"]) == tip, "{said}");
    ensure!(!project.path().join("was-started").exists(), "{said}");
    Ok(())
}

/// Elsewhere the work was committed and pushed, the orchestrator died before it said so, and the
/// resume ordered a hard reset.
#[test]
fn bmad_loop_99_pushed_then_died() -> Result<()> {
    let (project, tip) = landed()?;
    let remote = tempfile::tempdir()?;
    let remote = remote.path().display().to_string();
    project.git(&["init", "-q", "--bare", &remote]);
    project.git(&["push", "-q", &remote, "result"]);
    forget(&project, "task_completed|run_completed|task_implemented")?;
    let resumed = resume(&project);
    did_nothing(&project, &tip, &resumed)?;
    assert_eq!(project.tasks(), "A B");
    assert_eq!(project.events("task_completed", "A"), 1);
    // Nothing had to be forced: what was pushed is what is there.
    project.git(&["push", "-q", &remote, "result"]);
    Ok(())
}

/// Elsewhere "done" was saved before the merge, and a crash between the two stranded the branch.
#[test]
fn bmad_loop_299_delivered_and_never_merged() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let beside = tempfile::tempdir()?;
    let place = Utf8Path::from_path(beside.path()).unwrap_or(Utf8Path::new("/"));
    let mut gate = Gate::new(place)?;
    let agent = format!("cat > /dev/null\n{}\necho x > A.txt", gate.script());
    let run = run_words(&agent);
    let running = project.start(&run, &[]);
    gate.wait()?;
    running.kill()?;
    let workers: Vec<u32> = project.processes().into_keys().collect();
    gate.open()?;
    for worker in workers {
        wait_until_gone(worker, LIMIT)?;
    }
    assert_eq!(project.tasks(), "", "nobody was there to merge it");
    assert_ne!(project.git(&["for-each-ref", "refs/rekindle/work"]), "");
    let resumed = resume(&project);
    ensure!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert_eq!(project.landed(), [("A".to_owned(), 1)]);
    assert!(!project.path().join("was-started").exists());
    Ok(())
}

/// Elsewhere a workflow that was over began again at phase 0, since the time of its end was missing.
#[test]
fn gsd_pi_746_a_run_without_its_last_word_is_not_started_again() -> Result<()> {
    let (project, tip) = landed()?;
    forget(&project, "run_completed")?;
    let resumed = resume(&project);
    did_nothing(&project, &tip, &resumed)
}

/// Elsewhere commits that were there before were counted as the work of the agent that came later.
#[test]
fn bernstein_4476_commits_of_an_earlier_attempt_are_not_this_ones() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = "cat > /dev/null; echo $REKINDLE_ATTEMPT > by-$REKINDLE_ATTEMPT; git add -A; git commit -qm mine; [ $REKINDLE_ATTEMPT = 2 ]";
    let run = project.run(agent, &[]);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let tree = project.git(&["ls-tree", "--name-only", "result"]);
    assert_eq!(tree, "README\nby-2\n");
    let rescues = project.rekindle(&["rescue", "list"]);
    ensure!(
        rescues.status.success() && !rescues.stdout.is_empty(),
        "the first is kept"
    );
    Ok(())
}

/// Elsewhere work that was committed read as no evidence, and work that was not as no change.
#[test]
fn claude_plugins_2301_committed_and_uncommitted_work_both_land() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = "cat > /dev/null; echo 1 > committed; git add -A; git commit -qm mine; echo 2 > staged; git add staged; echo 3 > untracked";
    let run = project.run(agent, &[]);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let tree = project.git(&["ls-tree", "--name-only", "result"]);
    assert_eq!(tree, "README\ncommitted\nstaged\nuntracked\n");
    assert_eq!(project.landed(), [("A".to_owned(), 1)]);
    Ok(())
}

/// Elsewhere the command that goes on began at the very first task.
#[test]
fn spec_kit_789_done_tasks_are_not_started_again() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let calls = sandbox.root().join("calls");
    let script = format!("echo $REKINDLE_ROLE $REKINDLE_TASK >> {calls}\n{DILIGENT_AGENT}");
    let agent = sandbox.script("agent.sh", &script)?;
    let resume = sandbox.typed(&["resume", "--yes", "--agent-cmd", &agent]);
    let ran = resume.answering("merged\n").run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let calls = fs_err::read_to_string(calls)?;
    let executed: Vec<&str> = calls
        .lines()
        .filter(|call| call.starts_with("executor"))
        .collect();
    assert_eq!(executed, ["executor T002", "executor T003"]);
    assert!(run.told(&sandbox)?.ends_with("run_completed\n"));
    Ok(())
}
