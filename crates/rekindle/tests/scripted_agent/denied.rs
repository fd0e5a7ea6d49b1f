//! An agent that would have to ask, with nobody there to answer.

use crate::stage::Stage;

#[test]
fn a_tool_that_is_refused_is_named_where_the_work_fails() {
    let scripts = [
        ("A", "stream claude\npermission-denied Write\nexit 0"),
        (
            "B",
            "stream claude\npermission-denied Bash\nresult error out of turns",
        ),
    ];
    let stage = Stage::new("A B", &scripts);
    stage.run(&["--retries", "0"]).stopped().says(&[
        "blocked A: it failed once: it ended without finishing its work; `Write` was not allowed\n",
        "blocked B: it failed once: out of turns; `Bash` was not allowed\n",
    ]);
    assert_eq!(stage.project.landed(), []);
}

#[test]
fn a_refused_tool_does_no_harm_to_work_that_is_done_without_it() {
    let work = "stream claude\npermission-denied WebFetch\nwrite A.txt x\nsay without it, then";
    let stage = Stage::new("A", &[("A", work)]);
    stage.run(&["--verify", "test -e A.txt"]).done();
    assert_eq!(stage.tree(), "A.txt README");
}

#[test]
fn a_question_on_standard_input_finds_its_end_and_not_a_wait() {
    // The prompt is all there is; whoever reads on for an answer is told so at once.
    let work = "stream claude\nread-prompt prompt\nsay May I? [y/N]\nread-prompt answer\nresult error nobody answered";
    let stage = Stage::new("A", &[("A", work)]);
    stage
        .run(&["--retries", "0"])
        .stopped()
        .says(&["blocked A: it failed once: nobody answered\n"]);
    assert!(stage.note("prompt").contains("Do task A"));
    assert_eq!(stage.note("answer"), "");
}

#[test]
fn an_agent_that_may_not_write_and_says_success_has_failed() {
    let work = "stream claude\npermission-denied Write\nsay I could not write";
    let stage = Stage::new("A", &[("A", work)]);
    stage
        .run(&["--retries", "0"])
        .stopped()
        .says(&["blocked A: it failed once: it changed nothing; `Write` was not allowed\n"]);
    assert_eq!(stage.project.landed(), []);
}

#[test]
fn a_refused_tool_is_named_before_the_check_that_failed_because_of_it() {
    let work = "stream claude\npermission-denied Write\nwrite notes.txt x\nsay I could not write";
    let stage = Stage::new("A", &[("A", work)]);
    stage
        .run(&["--retries", "0", "--verify", "test -e A.txt"])
        .stopped()
        .says(&["blocked A: it failed once: `Write` was not allowed; the check `test -e A.txt` ended with exit code 1\n"]);
}
