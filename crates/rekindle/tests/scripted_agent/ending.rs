//! How an agent's work ends: well, badly, with a crash, with a lie, with nonsense.

use std::collections::BTreeMap;

use rekindle_testkit::repository::{kill, text};

use crate::stage::{KEEP_WORDS, Ran, Stage};

#[test]
fn success_lands_with_what_it_cost_and_the_session_it_was_done_in() {
    let work = format!(
        "{KEEP_WORDS}\nsession s-$TASK\nstream claude\nread-prompt prompt.$TASK\nwrite $TASK.txt by $TASK\ncost 0.25"
    );
    let stage = Stage::new("A B<A", &[("A", &work), ("B", &work)]);
    stage
        .run(&[])
        .done()
        .says(&["done: 2 of 2 tasks landed in 2 attempts\n", "cost: $0.50\n"]);
    assert_eq!(stage.landed("A.txt"), "by A\n");
    assert_eq!(stage.landed("B.txt"), "by B\n");
    assert!(stage.note("prompt.A").contains("Do task A."));
    let words = "claude -p --output-format stream-json --verbose";
    assert_eq!(stage.words("A", 1), words);
    let sessions = stage.events("agent_session");
    assert_eq!(sessions[0]["session_id"], "s-A");
    assert_eq!(sessions[1]["session_id"], "s-B");
    for delivery in stage.events("task_implemented") {
        assert_eq!(delivery["cost_microdollars"], 250_000);
    }
    assert_eq!(stage.project.processes(), BTreeMap::new());
}

#[test]
fn after_a_failure_the_session_continues_and_learns_the_reason() {
    let first = "session s-1\nstream claude\nwrite half.txt x\nresult error it does not compile";
    let second = format!(
        "{KEEP_WORDS}\nstream claude\nread-prompt prompt\nwrite A.txt by $SESSION\nsay mended"
    );
    let stage = Stage::new("A", &[("A.1", first), ("A.2", &second)]);
    stage.run(&["--retries", "1"]).done().says(&[
        "failed A (attempt 1): it does not compile; the task is tried again\n",
        "start A (attempt 2)\n",
        "done: 1 of 1 task landed in 2 attempts\n",
    ]);
    let words = "claude -p --output-format stream-json --verbose --resume s-1";
    assert_eq!(stage.words("A", 2), words);
    assert!(stage.note("prompt").contains("it does not compile"));
    assert_eq!(stage.landed("A.txt"), "by s-1\n");
    assert_eq!(stage.project.landed(), [("A".to_owned(), 2)]);
    // What the first attempt left does not land, and is not lost.
    assert_eq!(stage.tree(), "A.txt README");
    let names = ["--format=%(refname)", "refs/rekindle/rescue"];
    let kept = stage.project.git(&["for-each-ref", names[0], names[1]]);
    let half = format!("{}:half.txt", kept.trim());
    assert_eq!(stage.project.git(&["show", &half]), "x\n");
}

#[test]
fn an_agent_that_is_killed_is_started_again_in_its_session_at_no_cost() {
    let first = "session s-1\nstream claude\nhalf {\"type\":\"assist\ndie KILL";
    let second = "stream claude\nwrite A.txt by $SESSION";
    let stage = Stage::new("A", &[("A.1", first), ("A.2", second)]);
    stage.run(&["--retries", "0"]).done().says(&[
        "lost A (attempt 1): its agent was killed by signal 9; the task is tried again\n",
        "done: 1 of 1 task landed in 2 attempts\n",
    ]);
    assert_eq!(stage.landed("A.txt"), "by s-1\n");
    for event in ["attempt_stopped", "attempt_interrupted"] {
        let killed = serde_json::json!({"attempt": 1, "killed": "agent", "signal": 9});
        assert_eq!(stage.events(event), [killed], "{event}");
    }
}

#[test]
fn an_agent_that_was_cut_short_goes_on_in_its_session_and_in_its_worktree() {
    let first = "session s-1\nstream claude\nwrite half.txt x\ndie KILL";
    let second =
        format!("{KEEP_WORDS}\nstream claude\nread-prompt prompt\nwrite A.txt by $SESSION");
    let stage = Stage::new("A", &[("A.1", first), ("A.2", &second)]);
    stage.run(&[]).done().says(&[
        "lost A (attempt 1): its agent was killed by signal 9; the task is tried again\n",
        "continue A (attempt 2): its agent goes on in its session\n",
    ]);
    let words = "claude -p --output-format stream-json --verbose --resume s-1";
    assert_eq!(stage.words("A", 2), words);
    assert_eq!(stage.tree(), "A.txt README half.txt");
    let prompt = stage.note("prompt");
    let told = "the last one was cut short, since its agent was killed by signal 9. \
                The worktree is as you left it.";
    assert!(prompt.contains(told), "{prompt}");
    assert!(!prompt.contains("original state"), "{prompt}");
}

#[test]
fn an_agent_without_a_session_starts_over_with_clean_files() {
    let first = "write half.txt x\ndie KILL";
    let second = format!("{KEEP_WORDS}\nstream claude\nread-prompt prompt\nwrite A.txt x");
    let stage = Stage::new("A", &[("A.1", first), ("A.2", &second)]);
    stage.run(&[]).done().says(&["start A (attempt 2)\n"]);
    assert_eq!(stage.tree(), "A.txt README");
    assert!(stage.note("prompt").contains("original state"));
}

#[test]
fn an_agent_that_crashes_by_itself_has_failed() {
    let stage = Stage::new("A", &[("A", "stream claude\ndie ABRT")]);
    stage.run(&["--retries", "1"]).stopped().says(&[
        "failed A (attempt 1): it crashed with signal 6; the task is tried again\n",
        "failed A (attempt 2): it crashed with signal 6; the task waits for you\n",
        "stopped: 0 of 1 task landed in 2 attempts\n",
        "blocked A: it failed twice: it crashed with signal 6\n",
    ]);
    assert_eq!(stage.project.landed(), []);
}

#[test]
fn a_success_that_a_check_denies_is_a_failure_and_the_agent_learns_which() {
    let lie = "session s-1\nstream claude\nwrite other.txt x\nsay all done!";
    let mended = "stream claude\nread-prompt prompt\nwrite A.txt by $SESSION";
    let stage = Stage::new("A", &[("A.1", lie), ("A.2", mended)]);
    let failed = "the check `test -e A.txt` ended with exit code 1";
    stage
        .run(&["--verify", "test -e A.txt"])
        .done()
        .says(&[&format!(
            "failed A (attempt 1): {failed}; the task is tried again\n"
        )]);
    assert!(stage.note("prompt").contains(failed));
    assert_eq!(stage.tree(), "A.txt README");
    assert_eq!(stage.landed("A.txt"), "by s-1\n");
}

#[test]
fn what_the_stream_says_counts_for_more_than_the_exit_code() {
    let scripts = [
        ("A", "stream claude\nwrite A.txt x\nresult success\nexit 1"),
        (
            "B",
            "stream claude\nwrite B.txt x\nresult error no way\nexit 0",
        ),
        ("C", "stream claude\nwrite C.txt x\nexit 0"),
        ("D", "stream claude\nwrite D.txt x\nexit 3"),
    ];
    let stage = Stage::new("A B C D", &scripts);
    stage.run(&["--retries", "0"]).stopped().says(&[
        "blocked B: it failed once: no way\n",
        "blocked C: it failed once: it ended without finishing its work\n",
        "blocked D: it failed once: it ended with exit code 3 without finishing its work\n",
    ]);
    assert_eq!(stage.tree(), "A.txt README");
}

#[test]
fn nonsense_on_the_stream_is_never_success_and_does_no_harm_next_to_it() {
    let torn = r#"half {"type":"result","subtype":"success","is_error":false,"termin"#;
    let torn = format!("stream claude\nwrite B.txt x\n{torn}\nexit 0");
    let empty = "say {\"type\":\"result\"}\nsay {\"type\":\"result\",\"is_error\":\"no\"}";
    let between = r#"
        say null
        say {"type":7}
        half {"type":"assistant","mess
        warn \n[2mTrace\t: odd
        stream claude
        say [{}
        write D.txt by $SESSION
        flood 1k
        result success"#;
    let scripts = [
        ("A", "say I am no Claude\nwrite A.txt x"),
        ("B", torn.as_str()),
        ("C", empty),
        ("D", between),
    ];
    let stage = Stage::new("A B C D", &scripts);
    stage.run(&["--retries", "0"]).stopped().says(&[
        "blocked A: it failed once: it ended without finishing its work: I am no Claude\n",
        "blocked B: it failed once: it ended without finishing its work: {\"type\":\"result\"",
        "blocked C: it failed once: it ended without finishing its work\n",
    ]);
    assert_eq!(stage.tree(), "D.txt README");
    assert_eq!(stage.landed("D.txt"), "by fake-D-1\n");
}

#[test]
fn an_agent_that_hangs_after_its_last_word_has_succeeded() {
    let work = "stream claude\nwrite A.txt x\nresult success\nhang";
    let stage = Stage::new("A", &[("A", work)]);
    stage.run(&["--retries", "0", "--timeout", "2s"]).done();
    assert_eq!(stage.tree(), "A.txt README");
    assert_eq!(stage.project.processes(), BTreeMap::new());
}

#[test]
fn a_session_that_the_agent_does_not_find_is_not_asked_for_again() {
    let first = "session s-1\nstream claude\nresult error no";
    let lost = "warn No conversation found with session ID: $SESSION\nexit 1";
    let third = format!("{KEEP_WORDS}\nstream claude\nwrite A.txt x");
    let stage = Stage::new("A", &[("A.1", first), ("A.2", lost), ("A.3", &third)]);
    stage.run(&[]).done();
    let words = "claude -p --output-format stream-json --verbose";
    assert_eq!(stage.words("A", 3), words);
}

#[test]
fn a_success_that_may_change_nothing_lands_and_says_so() {
    let nothing = "stream claude\nsay it is so already";
    let scripts = [
        ("A", "stream claude\nwrite A.txt x"),
        ("B", nothing),
        ("C.1", "stream claude\nresult limit"),
        ("C.2", nothing),
    ];
    let stage = Stage::new("A B<A C<B", &scripts);
    let plan = stage.project.path().join("plan.json");
    let before = fs_err::read_to_string(&plan).unwrap();
    let allowed = before.replace("\"title\":\"Do", "\"allow_empty\":true,\"title\":\"Do");
    fs_err::write(&plan, allowed).unwrap();
    let running = stage.start(&["--retries", "0"]);
    running.wait_for("wait C").unwrap();
    kill(running.pid(), "INT");
    let ran = Ran::of(running).stopped();
    let mut landed = ran.said.lines().filter(|line| line.starts_with("landed"));
    let unchanged = landed
        .clone()
        .map(|line| line.ends_with("; nothing changed"));
    assert!(unchanged.eq([false, true]), "{}", ran.said);
    assert!(landed.all(|line| line.contains(" as ")), "{}", ran.said);
    ran.says(&["stopped: 2 of 3 tasks landed in 3 attempts\nnothing changed in B\n"]);
    // Another orchestrator has it from git.
    let resumed = stage.rekindle("resume --yes --json --agent scripted", &[], &[]);
    let output = text(&resumed.finish().unwrap().stdout);
    let last: serde_json::Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
    assert_eq!(last["unchanged"], serde_json::json!(["B", "C"]), "{output}");
    assert_eq!(stage.project.landed().len(), 3);
}
