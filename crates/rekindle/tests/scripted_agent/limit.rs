//! A usage limit is a wait and not a failure.

use rekindle_testkit::repository::kill;

use crate::stage::{KEEP_WORDS, Ran, Stage};

/// The time that the run believes in, and the second after it as the agent tells it.
const NOW: &str = "2026-11-15T22:40:00Z";
const SOON: i64 = 1_794_782_401;

#[test]
fn at_a_limit_all_work_waits_for_its_end_and_then_goes_on_in_the_session() {
    let limited = format!("session s-1\nstream claude\nsay on it\nresult limit {SOON}");
    let second = format!("{KEEP_WORDS}\nstream claude\nwrite A.txt by $SESSION");
    let other = "stream claude\nwrite B.txt x";
    let stage = Stage::new("A B", &[("A.1", &limited), ("A.2", &second), ("B", other)]);
    let run = "run plan.json --agent scripted --branch result --yes --retries 0 --jobs 1";
    let running = stage.rekindle(run, &[], &[("REKINDLE_NOW", NOW)]);
    Ran::of(running).done().says(&[
        "start A (attempt 1)\n",
        "wait A: the agent's usage limit is reached; continuing in 1 s",
        "continue A (attempt 2): its agent goes on in its session\n",
        "start B (attempt 1)\n",
        "done: 2 of 2 tasks landed in 3 attempts\n",
    ]);
    assert!(stage.words("A", 2).ends_with(" --resume s-1"));
    assert_eq!(stage.landed("A.txt"), "by s-1\n");
    let limits = stage.events("usage_limited");
    assert_eq!(limits[0]["until"], "2026-11-15T22:40:01Z");
    assert_eq!(limits.len(), 1);
}

#[test]
fn a_limit_that_is_just_over_causes_no_wait() {
    let limited = format!("stream claude\nresult limit {}", SOON - 2);
    let second = "stream claude\nwrite A.txt x";
    let stage = Stage::new("A", &[("A.1", &limited), ("A.2", second)]);
    let run = "run plan.json --agent scripted --branch result --yes --retries 0";
    let running = stage.rekindle(run, &[], &[("REKINDLE_NOW", NOW)]);
    running
        .wait_for("wait A: the agent's usage limit is reached; continuing in 1 s")
        .unwrap();
    Ran::of(running)
        .done()
        .says(&["done: 1 of 1 task landed in 2 attempts\n"]);
}

#[test]
fn a_wait_without_a_known_end_can_be_stopped_and_the_session_is_resumed_later() {
    let limited = "session s-1\nstream claude\nresult limit";
    let second = "stream claude\nwrite A.txt by $SESSION";
    let stage = Stage::new("A", &[("A.1", limited), ("A.2", second)]);
    let running = stage.start(&["--retries", "0"]);
    running
        .wait_for("wait A: the agent's usage limit is reached; continuing in 300 s")
        .unwrap();
    kill(running.pid(), "INT");
    Ran::of(running).stopped().says(&[
        "stopped: 0 of 1 task landed in 1 attempt\n",
        "hint: continue with `rekindle resume",
    ]);
    Ran::of(stage.rekindle("resume --yes --agent scripted", &[], &[])).done();
    assert_eq!(stage.landed("A.txt"), "by s-1\n");
    assert_eq!(stage.project.landed(), [("A".to_owned(), 2)]);
}

#[test]
fn a_wait_is_a_state_of_the_run_and_outlives_its_rekindle() {
    let limited = format!("session s-1\nstream claude\nresult limit {}", SOON + 1799);
    let second = "stream claude\nwrite A.txt x";
    let stage = Stage::new("A", &[("A.1", &limited), ("A.2", second)]);
    let run = "run plan.json --agent scripted --branch result --yes --retries 0";
    let late = [("REKINDLE_NOW", NOW), ("TZ", "UTC")];
    let wait = "wait A: the agent's usage limit is reached; continuing in 1800 s";
    let condition = || {
        let listed = stage
            .rekindle("status --json", &[], &late)
            .finish()
            .unwrap();
        let object: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        let workflow = &object["workflows"][0];
        (
            workflow["condition"].clone(),
            workflow["waiting_until"].clone(),
        )
    };
    let running = stage.rekindle(run, &[], &late);
    running.wait_for(wait).unwrap();
    let listed = stage.rekindle("status", &[], &late).finish().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("waiting (limit until 23:10)"), "{listed}");
    let waits = ("waiting".into(), "2026-11-15T23:10:00Z".into());
    assert_eq!(condition(), waits);
    kill(running.pid(), "KILL");
    running.finish().ok();
    // Nobody waits any more, so a person is needed.
    assert_eq!(condition().0, "interrupted");
    let resumed = stage.rekindle("resume --yes", &[], &late);
    resumed.wait_for(wait).unwrap();
    assert_eq!(condition(), waits);
    kill(resumed.pid(), "INT");
    Ran::of(resumed)
        .stopped()
        .says(&["stopped: 0 of 1 task landed in 1 attempt\n"]);
    // The limit is of the account of the first agent.
    let other = "cat > /dev/null; echo x > A.txt";
    let arguments = ["resume", "--yes", "--agent-cmd", other];
    let output = stage.project.rekindle(&arguments);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stage.project.landed(), [("A".to_owned(), 2)]);
}
