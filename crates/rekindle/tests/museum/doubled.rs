//! Work that is done twice, and holders that are not who they seem.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::repository::{Project, WRITE, text};
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;
use serde_json::Value;

use crate::cut::Cut;
use crate::{BINARY, ORDERS, interrupted};

/// Elsewhere eight that raced for one task had between two and seven winners.
#[test]
fn beads_4657_of_eight_resumes_one_works() -> Result<()> {
    let mut cut = Cut::new()?;
    cut.gate.open()?;
    let words = ["resume", "--yes", "--agent-cmd", &cut.agent];
    let racing: Vec<_> = (0..8).map(|_| cut.project.start(&words, &[])).collect();
    for running in racing {
        let output = running.finish()?;
        // Held by another, or there was nothing left to do.
        ensure!(
            matches!(output.status.code(), Some(0 | 4)),
            "{}",
            text(&output.stderr)
        );
    }
    assert_eq!(cut.project.landed(), [("A".to_owned(), 2)]);
    assert_eq!(
        cut.places()?.len(),
        2,
        "one agent before the cut and one after it"
    );
    Ok(())
}

/// Elsewhere the number of a dead process was given to another one, and its lock looked alive.
#[test]
fn gastown_1681_a_number_that_another_process_has_now_holds_nothing() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let beside = tempfile::tempdir()?;
    let mut gate = Gate::new(Utf8Path::from_path(beside.path()).context("a name that is text")?)?;
    let agent = format!("cat > /dev/null\n{}", gate.script());
    let first = sandbox
        .typed(&["resume", "--yes", "--agent-cmd", &agent])
        .start()?;
    let agent = gate.wait()?;
    first.kill()?;
    gate.open()?;
    wait_until_gone(agent, LIMIT)?;

    // What the dead one wrote stays, and its number goes to somebody innocent: to this test.
    let lock = sandbox.path(format!(".rekindle/locks/agent-memory-{ORDERS}.lock"));
    let mut holder: Value = serde_json::from_str(&fs_err::read_to_string(&lock)?)?;
    ensure!(holder["process"]["start_time"].is_u64(), "{holder}");
    let innocent = std::process::id();
    holder["process"]["pid"] = innocent.into();
    holder["process"]["start_time"] = 1.into();
    fs_err::write(&lock, holder.to_string())?;

    // Somebody else holds the lock and has not said yet who it is.
    let other = fs_err::File::open(&lock)?.into_parts().0;
    other.lock()?;
    let refused = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(refused.code(), Some(4), "{refused}");
    assert!(
        refused.stderr().contains("has not said who it is"),
        "{refused}"
    );
    assert!(
        !refused.stderr().contains(&innocent.to_string()),
        "{refused}"
    );
    drop(other);

    let before = run.told(&sandbox)?;
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(run.told(&sandbox)?, format!("{before}session_resumed\n"));
    Ok(())
}

/// Elsewhere a task that had run out of its time went on and was run a second time beside itself.
#[test]
fn hatchet_1022_what_ran_out_of_time_is_gone_before_it_is_tried_again() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let witness = project.path().join("witness");
    let agent = format!(
        r"cat > /dev/null; [ $REKINDLE_ATTEMPT = 2 ] && {{ kill -0 $(cat {0}) 2>/dev/null && echo both > both.txt; echo x > A.txt; exit 0; }}
        echo $$ > {0}; trap '' TERM; while :; do sleep 1; done",
        witness.display()
    );
    let run = project.run(&agent, &["--timeout", "1s"]);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let tree = project.git(&["ls-tree", "--name-only", "result"]);
    assert_eq!(tree, "A.txt\nREADME\n");
    Ok(())
}

/// Elsewhere a run that was over was begun again by everybody who looked at it.
#[test]
fn snakemake_3234_a_second_resume_does_nothing() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A B");
    let run = project.run(WRITE, &[]);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let tip = project.git(&["rev-parse", "result"]);
    let status = text(&project.rekindle(&["status", "-v", "--json"]).stdout);
    let status: serde_json::Value = serde_json::from_str(&status)?;
    let id = status["workflows"][0]["id"].as_str().context("a run")?;
    for _ in 0..2 {
        let again = project.rekindle(&["resume", id, "--yes", "--agent-cmd", "exit 1"]);
        ensure!(again.status.success(), "{}", text(&again.stderr));
    }
    assert_eq!(project.git(&["rev-parse", "result"]), tip);
    assert_eq!(project.events("task_started", "A"), 1);
    Ok(())
}
