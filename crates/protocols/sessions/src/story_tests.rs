use serde_json::json;

use super::*;

#[test]
fn a_prompt_is_its_first_line_folded_short_and_without_secrets() {
    let shown = |text: &str| one_line(text).unwrap_or_default();
    assert_eq!(
        shown("\n  \n Fix\tthe   totals \nand more"),
        "Fix the totals"
    );
    assert_eq!(shown(&"word ".repeat(100)).chars().count(), 120);
    let secret = "TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 ./x";
    assert!(!shown(secret).contains("abcdefghij"), "{}", shown(secret));
    assert_eq!(one_line(" \n\t\n"), None);
}

#[test]
fn a_step_is_the_tool_and_its_input_or_its_first_question() {
    let step = |tool: &str, input: Value| Call::new("1", tool, Some(input)).step;
    assert_eq!(
        step("Bash", json!({"command": "pytest -q"})),
        "Bash: pytest -q"
    );
    let asked = json!({"questions": [{"question": "Postgres or SQLite?"}, {"question": "No"}]});
    assert_eq!(
        step("AskUserQuestion", asked.clone()),
        "AskUserQuestion: Postgres or SQLite?"
    );
    assert_eq!(
        step("request_user_input", asked),
        "request_user_input: Postgres or SQLite?"
    );
    assert_eq!(
        step("ExitPlanMode", json!({"plan": "# Move it\nthen"})),
        "ExitPlanMode: # Move it"
    );
    assert_eq!(
        step("mcp__x", json!({"n": 1, "what": "the thing"})),
        "mcp__x: the thing"
    );
    assert_eq!(step("mcp__x", json!({})), "mcp__x");
}

#[test]
fn only_edits_with_a_result_that_is_not_an_error_touch_files() {
    let mut story = Story::default();
    let edit = |id: &str, path: &str| Call::new(id, "Edit", Some(json!({ "file_path": path })));
    for (id, path) in [("1", "a"), ("2", "b"), ("3", "c"), ("4", "a")] {
        story.calls(edit(id, path));
    }
    story.returns("1", None, "");
    story.returns("2", Some("no such text"), "");
    story.returns("4", None, "");
    let patch = "*** Begin Patch\n*** Update File: src/x.rs\n@@\n*** Add File: y\n*** End Patch";
    story.calls(Call::new("5", "apply_patch", Some(json!(patch))));
    story.returns("5", None, "");
    assert_eq!(story.touched, ["a", "src/x.rs", "y"]);
    let open: Vec<&str> = story.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(open, ["3"]);
}

#[test]
fn a_todo_list_counts_what_is_done_and_names_what_is_next() {
    let list = |entries: &[(&'static str, &'static str)]| {
        let list = todo_list(entries.iter().copied())?;
        Some((list.done, list.total(), list.current))
    };
    assert_eq!(list(&[]), None);
    assert_eq!(list(&[("a", "completed")]), Some((1, 1, None)));
    let both = [("a", "completed"), ("b", "pending"), ("c", "in_progress")];
    assert_eq!(list(&both), Some((1, 3, Some("c".to_owned()))));
    assert_eq!(
        list(&[("a", "pending"), ("b", "")]),
        Some((0, 2, Some("a".to_owned())))
    );
}

#[test]
fn rows_of_the_program_are_not_prompts() {
    for text in NOT_TYPED {
        assert!(!is_typed(&format!("{text}x>")), "{text}");
    }
    assert!(is_typed("Fix <command-name>"));
}

#[test]
fn a_load_of_the_provider_is_an_error_and_not_a_limit() {
    let is_limit = |text: &str, told| Failure::new(text, told, None).limit.is_some();
    assert!(is_limit("You've hit your session limit", None));
    assert!(!is_limit("Overloaded", None));
    assert!(is_limit("anything", Some(true)));
    assert!(!is_limit("You've hit your session limit", Some(false)));
}
