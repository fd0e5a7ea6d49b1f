//! Tests of edited sessions: the intended changes and no others.

use super::super::scene_tests::{block, session};
use super::*;

const SAID: &str = "**2026-03-14** - Resume: Resumed f.";

fn parse(text: &str) -> Session {
    Session::parse(text.as_bytes().to_vec()).unwrap()
}

/// Returns a session after a resume, and the entries that left its history.
fn after_resume(text: &str) -> (Session, Vec<String>) {
    parse(text).resumed("2026-03-14", &[SAID.to_owned()])
}

fn resumed(text: &str) -> String {
    let (session, _) = after_resume(text);
    String::from_utf8(session.bytes().to_vec()).unwrap()
}

/// Returns the lines that differ, old ones with `-` and new ones with `+`.
fn changes(before: &str, after: &str) -> Vec<String> {
    let diff = rekindle_text::diff(before.as_bytes(), after.as_bytes());
    let is_change = |line: &&str| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    };
    diff.lines().filter(is_change).map(str::to_owned).collect()
}

#[test]
fn a_resume_changes_four_things_and_nothing_else() {
    let before = session(&block("implement", "Complete", "x"), "");
    let after = resumed(&before);
    assert_eq!(
        changes(&before, &after),
        [
            "-**Last Updated**: 2026-03-13",
            "+**Last Updated**: 2026-03-14",
            "-- **Status**: Idle",
            "+- **Status**: Resuming",
            "-1. **2026-03-13** - Implement Phase 1: Completed T001.",
            "-2. **2026-03-12** - Tasks: Created 3 tasks.",
            "+1. **2026-03-14** - Resume: Resumed f.",
            "+2. **2026-03-13** - Implement Phase 1: Completed T001.",
            "+3. **2026-03-12** - Tasks: Created 3 tasks.",
        ]
    );
}

#[test]
fn preserves_line_ends_and_the_byte_order_mark() {
    let before = session(&block("spec", "Started", "x"), "");
    let windows = format!("\u{feff}{}", before.replace('\n', "\r\n"));
    let after = resumed(&windows);
    assert_eq!(
        after,
        format!("\u{feff}{}", resumed(&before).replace('\n', "\r\n"))
    );
}

#[test]
fn removes_error_fields_from_the_focus_but_no_other_fields() {
    let before = "## Active Focus\n- **Feature**: f\n- **Status**: Error Recovery  \n- **Error Type**: Tool\n  - **Since**: noon\n- **Recovery Strategy**: Retry\n- **Recovery Action**: x\n- **Mood**: fine\n\n### Known Issues\n- **Error Type**: stays\n### Session History\n1. **2026-03-13** - x\n";
    let after = resumed(before);
    assert!(after.starts_with("## Active Focus\n\n**Last Updated**: 2026-03-14\n\n- **Feature**: f\n- **Status**: Resuming  \n- **Mood**: fine\n\n### Known Issues\n- **Error Type**: stays\n"), "{after}");
}

#[test]
fn numbers_the_history_and_limits_it_to_five() {
    let table = [
        ("1. **2026-03-13** - a\n", "1. R\n2. **2026-03-13** - a\n"),
        (
            "- **2026-03-13** - a\n- **2026-03-12** - b\n",
            "1. R\n2. **2026-03-13** - a\n3. **2026-03-12** - b\n",
        ),
        (
            "**2026-03-13** - a\n**2026-03-12 21:00** - b\n",
            "1. R\n2. **2026-03-13** - a\n3. **2026-03-12 21:00** - b\n",
        ),
        (
            "1. **d1** - a\n2. **d2** - b\n2. **d3** - c\n3. **d4** - d\n4. **d5** - e\n5. **d6** - f\n",
            "1. R\n2. **d1** - a\n3. **d2** - b\n4. **d3** - c\n5. **d4** - d\n",
        ),
        (
            "9. **d1** - a\n   more of a\n10. **d2** - b\n",
            "1. R\n2. **d1** - a\n   more of a\n3. **d2** - b\n",
        ),
        (
            "1. **d** - a\n\n2. **d** - b\n\n3. **d** - c\n\n4. **d** - d\n\n5. **d** - e\n   gone\n\na remark\n",
            "1. R\n2. **d** - a\n\n3. **d** - b\n\n4. **d** - c\n\n5. **d** - d\n\n\na remark\n",
        ),
        // Lines without indent are the user's own.
        (
            "1. **d** - a\n2. **d** - b\n3. **d** - c\n4. **d** - d\n5. **d** - e\n\tgone\nmy note\n- and mine\n  1. too\n",
            "1. R\n2. **d** - a\n3. **d** - b\n4. **d** - c\n5. **d** - d\nmy note\n- and mine\n  1. too\n",
        ),
        (
            "  1. **d** - a\n  2. **d** - b\n     1. of b\n  3. **d** - c\n  4. **d** - d\n  5. **d** - e\n",
            "  1. R\n  2. **d** - a\n  3. **d** - b\n     1. of b\n  4. **d** - c\n  5. **d** - d\n",
        ),
    ];
    for (entries, wanted) in table {
        let before = format!(
            "## Active Focus\n- **Status**: Idle\n\n### Session History (Last 5)\n\n{entries}\n\n## Next\n"
        );
        let after = resumed(&before);
        let wanted = wanted.replace("1. R", &format!("1. {SAID}"));
        assert!(
            after.contains(&format!("(Last 5)\n\n{wanted}\n\n## Next\n")),
            "{after}"
        );
    }
}

#[test]
fn creates_missing_sections() {
    for before in [
        "",
        "# Session",
        "# Session\r\n",
        "## Active Focus\n",
        "## Active Focus\n\n## Session History\n## Next",
        "### Session History (Last 5)\n\n(none)\n",
        "no heading at all\n",
    ] {
        let (session, _) = after_resume(before);
        assert_eq!(session.focus("Status"), Some("Resuming"), "{before:?}");
        let history = session.history();
        assert_eq!(history.len(), 1, "{before:?}: {:?}", session.text);
        assert!(history[0].is_resume());
        assert!(
            session.text.contains("**Last Updated**: 2026-03-14"),
            "{:?}",
            session.text
        );
        for line in before.lines() {
            assert!(session.text.contains(line), "{:?}", session.text);
        }
    }
}

#[test]
fn resuming_twice_adds_one_line_each_time() {
    let once = resumed(&session(&block("spec", "Started", "x"), ""));
    let twice = resumed(&once);
    let resumes = parse(&twice).history();
    let resumes = resumes.iter().filter(|entry| entry.is_resume());
    assert_eq!(resumes.count(), 2);
    assert_eq!(parse(&twice).history().len(), 4);
}

#[test]
fn code_and_comments_are_not_edited() {
    let text = "```md\n## Active Focus\n- **Status**: Idle\n**Last Updated**: never\n### Session History\n1. **d** - code\n```\n## Active Focus\n- **Status**: Active\n### Session History\n1. **d** - real\n**Last Updated**: then\n";
    let after = resumed(text);
    assert!(
        after.starts_with(text.split("```\n## Active").next().unwrap()),
        "{after}"
    );
    assert!(after.contains("- **Status**: Resuming\n"), "{after}");
    assert!(
        after.ends_with("2. **d** - real\n**Last Updated**: 2026-03-14\n"),
        "{after}"
    );
}

fn new(id: &str) -> NewCheckpoint {
    NewCheckpoint {
        id: id.to_owned(),
        when: "2026-03-14 09:00".to_owned(),
        description: "New".to_owned(),
        phase: super::super::phase::Phase::Plan,
        status: "In Progress",
        context: 7,
        artifacts: "spec.md".to_owned(),
        dependencies: "None".to_owned(),
        next: "`/plan f`".to_owned(),
    }
}

const BLOCK: &str = "**CP-009** (2026-03-14 09:00): New\n  - **Phase**: plan\n  - **Status**: In Progress\n  - **Context**: ~7% utilization\n  - **Artifacts**: spec.md\n  - **Dependencies**: None\n  - **Next**: `/plan f`";

fn with_checkpoint(text: &str) -> String {
    let session = parse(text).with_checkpoint(&new("CP-009"));
    String::from_utf8(session.bytes().to_vec()).unwrap()
}

#[test]
fn a_new_checkpoint_becomes_the_latest_and_the_first_of_the_history() {
    let before = session(
        &block("spec", "Started", "x"),
        "1. **CP-003** (2026-03-14 08:00): Work\n2. **CP-001** (2026-03-12 09:00): Session initialized",
    );
    let wanted = session(
        BLOCK,
        "1. **CP-009** (2026-03-14 09:00): New\n2. **CP-003** (2026-03-14 08:00): Work\n3. **CP-001** (2026-03-12 09:00): Session initialized",
    );
    assert_eq!(with_checkpoint(&before), wanted);
    let windows = before.replace('\n', "\r\n");
    assert_eq!(with_checkpoint(&windows), wanted.replace('\n', "\r\n"));
}

#[test]
fn adds_the_previous_latest_checkpoint_to_the_history() {
    let before = session(
        &block("spec", "Started", "x"),
        "1. **CP-001** (2026-03-12 09:00): Session initialized",
    );
    let wanted = session(
        BLOCK,
        "1. **CP-009** (2026-03-14 09:00): New\n2. **CP-003** (2026-03-14 08:00): Work\n3. **CP-001** (2026-03-12 09:00): Session initialized",
    );
    assert_eq!(with_checkpoint(&before), wanted);
    let torn = session("**CP-004** (2026", "");
    let after = with_checkpoint(&torn);
    assert!(
        after.contains("1. **CP-009** (2026-03-14 09:00): New\n2. **CP-004** (2026\n"),
        "{after}"
    );
}

#[test]
fn adds_a_first_checkpoint_to_an_empty_session() {
    for before in [
        "",
        "# Session\n",
        "### Recovery Checkpoints\n",
        "### Recovery Checkpoints\n\n#### Latest Checkpoint\n\nNone\n\n#### Checkpoint History\n\n(none yet)\n\n## Next\n",
        "#### Checkpoint History\n\n## Next\n",
        "#### Latest Checkpoint\n## Next\n",
    ] {
        let after = with_checkpoint(before);
        let found = crate::checkpoint::Checkpoints::read(&parse(&after));
        let latest = found.latest.as_ref().unwrap();
        assert_eq!(
            (latest.name(), latest.is_valid()),
            ("CP-009", true),
            "{before:?}: {after}"
        );
        assert!(latest.fields.missing().is_empty(), "{after}");
        assert_eq!(found.history.len(), 1, "{before:?}: {after}");
    }
}

#[test]
fn a_plain_list_stays_a_plain_list() {
    let before = "### Recovery Checkpoints\n- **CP-001** (2026-01-01 10:00): Spec\n- **CP-002** (2026-01-02 10:00): Plan\n\n## Next\n";
    let new = "- **CP-009** (2026-03-14 09:00): New\n  - **Phase**: plan\n  - **Status**: In Progress\n  - **Context**: ~7% utilization\n  - **Artifacts**: spec.md\n  - **Dependencies**: None\n  - **Next**: `/plan f`\n";
    let wanted = before.replace("Plan\n\n", &format!("Plan\n{new}\n"));
    assert_eq!(with_checkpoint(before), wanted);
}

#[test]
fn lists_issues_without_placeholders() {
    let text = "### Current Blockers\n\nNone\n\n### Known Issues\n\n(Project-wide issues, not feature blockers)\n- slow\n### Blockers & Issues\n**Known Issues:**\n- flaky\n";
    assert_eq!(parse(text).issues(), ["slow", "flaky"]);
    assert!(parse(text).blockers().is_empty());
}

#[test]
fn fields_below_the_active_task_are_not_of_the_feature() {
    let task = "- **Active Task**:\n  - **Task ID**: T004\n  - **Status**: Error Recovery\n  - **Phase**: 2\n";
    let head = "# S\n\n**Last Updated**: 2026-03-13\n\n## 🎯 Active Focus\n\n";
    let tail = "\n### Session History (Last 5)\n\n1. **2026-03-13** - x\n";
    let own = "- **Phase**: implement\n- **Status**: Idle\n";
    for (before, after) in [
        (format!("{task}{own}"), format!("{task}{own}")),
        (format!("{own}{task}"), format!("{own}{task}")),
        (task.to_owned(), format!("{task}- **Status**: Idle\n")),
        (
            format!("- **Now**:\n  {}", own.replace("\n-", "\n  -")),
            format!("- **Now**:\n  {}", own.replace("\n-", "\n  -")),
        ),
    ] {
        let session = Session::parse(format!("{head}{before}{tail}").into_bytes()).unwrap();
        assert_eq!(session.focus("Task ID").is_some(), before.contains("T004"));
        assert_ne!(session.focus("Status"), Some("Error Recovery"));
        let resumed = session.with_focus("Status", "Resuming");
        let wanted = after.replace("Status**: Idle", "Status**: Resuming");
        assert_eq!(
            String::from_utf8_lossy(resumed.bytes()),
            format!("{head}{wanted}{tail}")
        );
    }
}
