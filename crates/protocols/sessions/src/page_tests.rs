//! What agents are told: the briefing and the hand-over.

use rekindle_model::{LeftProcess, SubAgent, TodoList};
use rekindle_protocol::sessions::SessionKeeper;
use serde_json::json;

use crate::Sessions;
use crate::briefing::briefing;
use crate::scene_tests::{CLAUDE, GEMINI, bash, lines, one, prompt, result, says, tool, world};

#[test]
fn the_briefing_says_what_was_in_flight_and_what_to_check() {
    let rows = [
        prompt(1, "Fix the rounding\nand more"),
        bash(2, "pytest -q `x`"),
    ];
    let mut session = one(&world().file(CLAUDE, lines(&rows)));
    session.left = vec![LeftProcess {
        pid: 4711,
        program: "pytest".to_owned(),
    }];
    session.subagents = vec![SubAgent {
        id: "a77".to_owned(),
        kind: None,
        about: Some("Look at tests".to_owned()),
        step: Some("Bash: grep -rn flaky tests".to_owned()),
    }];
    session.todo = Some(TodoList {
        done: 1,
        begun: None,
        open: vec!["Fix it".to_owned(), "Write a test".to_owned()],
        current: None,
    });
    assert_eq!(
        briefing(&session, &["src/round.py".to_owned()]),
        "This session was cut off at 2026-01-20T11:02:00Z; the program was killed and did not end the turn. rekindle continues it now.\n\
         In flight: `Bash: pytest -q 'x'`. Its outcome is unknown: check whether it took effect before you repeat it.\n\
         Still running from then: process 4711 (pytest).\n\
         Sub-agent \"Look at tests\" was cut off in `Bash: grep -rn flaky tests`; its result never arrived.\n\
         Open in the task list: Fix it; Write a test. Changed and not committed: src/round.py. Branch main.\n\
         The last prompt was (quoted, not new):\n\
         > Fix the rounding\n\
         Look at the state of the files first, then go on with that.\n"
    );
}

/// Programs keep the beginning of a long prompt in one line.
#[test]
fn a_briefing_is_no_prompt_of_a_person_and_quotes_the_one_that_was() {
    let rows = [prompt(1, "Fix the rounding"), bash(2, "pytest")];
    let first = one(&world().file(CLAUDE, lines(&rows)));
    let told = briefing(&first, &[]);
    let folded = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = json!({"type": "last-prompt", "lastPrompt": &folded[..150]});
    for rows in [
        vec![prompt(3, &told), cut.clone(), bash(4, "make")],
        vec![
            prompt(1, "Fix the rounding"),
            prompt(3, &told),
            bash(4, "make"),
            cut,
        ],
    ] {
        let again = one(&world().file(CLAUDE, lines(&rows)));
        assert_eq!(again.prompt.as_deref(), Some("Fix the rounding"));
        assert_eq!(again.open.step.as_deref(), Some("Bash: make"));
        assert!(briefing(&again, &[]).contains("\n> Fix the rounding\n"));
    }
    let typed = one(&world().file(CLAUDE, lines(&[prompt(1, "This session was fun")])));
    assert_eq!(typed.prompt.as_deref(), Some("This session was fun"));
}

#[test]
fn the_briefing_of_gemini_names_no_tool() {
    let rows = [
        json!({"sessionId": "5d5d5d5d-0000-4000-8000-00000000000a"}),
        json!({"id": "1", "type": "user", "content": "Look"}),
        json!({"id": "2", "type": "gemini", "content": ""}),
    ];
    let session = one(&world().file(GEMINI, lines(&rows)));
    let text = briefing(&session, &[]);
    assert!(text.contains("a tool may have run"), "{text}");
    assert!(
        !text.contains("Branch") && !text.contains("Still running"),
        "{text}"
    );
}

#[test]
fn a_private_key_in_a_prompt_is_not_handed_over() {
    let body = "MIIEowIBAAKCAQEA7tM3v1sFZl9cQnYw1K8J0zqvVb5x2mGq0sYh3rTnPpLr4aXc";
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
    let typed = format!("Deploy with this key:\n{key}\nthen run the tests");
    let rows = [prompt(1, &typed), bash(2, "ls")];
    let world = world().file(CLAUDE, lines(&rows));
    let page = Sessions.handover(&world, &one(&world)).unwrap();
    assert!(!page.contains(&body[..20]), "{page}");
    assert!(page.contains("> then run the tests\n"), "{page}");
}

#[test]
fn the_hand_over_has_goal_decisions_files_commands_and_the_step_in_flight() {
    let ask = json!({"questions": [{"question": "Postgres or SQLite?"}]});
    let rows = [
        prompt(1, "Build the store\nwith tests"),
        tool(2, "AskUserQuestion", ask),
        result(3, 2, "SQLite", false),
        tool(
            10,
            "ExitPlanMode",
            json!({"plan": "1. The table\n2. The index"}),
        ),
        result(11, 10, "User has approved your plan.", false),
        tool(12, "ExitPlanMode", json!({"plan": "Something else"})),
        result(13, 12, "The user does not want that.", true),
        tool(4, "Edit", json!({"file_path": "/w/src/store.py"})),
        result(5, 4, "ok", false),
        bash(6, "pytest"),
        result(7, 6, "Exit code 1\nboom", true),
        says(8, "I fix that.", Some("tool_use")),
        bash(9, "TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 ./go"),
    ];
    let world = world().file(CLAUDE, lines(&rows));
    let session = one(&world);
    let page = Sessions.handover(&world, &session).unwrap();
    for part in [
        "> Build the store\n> with tests\n",
        "- AskUserQuestion: Postgres or SQLite?: SQLite\n",
        "## The plan that the person accepted\n\n> 1. The table\n> 2. The index\n",
        "- `src/store.py` (",
        "- `Bash: pytest`: Exit code 1\n",
        "## In flight\n\n- tool: `Bash: TOKEN=",
        "> I fix that.\n",
        "- branch `main`\n",
    ] {
        assert!(page.contains(part), "{part:?} in\n{page}");
    }
    assert!(!page.contains("abcdefghijklmnop"), "{page}");
    assert_eq!(Sessions.handover(&world, &session).unwrap(), page);
}
