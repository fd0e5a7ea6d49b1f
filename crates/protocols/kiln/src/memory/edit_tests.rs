//! Edits of MEMORY.md that change nothing else.

use super::super::tests::{TEMPLATE, parse, step_7};
use super::*;

#[test]
fn step_7_changes_only_three_lines() {
    let after = step_7(&parse(TEMPLATE));
    let wanted = TEMPLATE
        .replace("status: paused", "status: in_progress")
        .replace(
            "last_updated: 2026-02-20T08:15:00Z",
            "last_updated: 2026-02-20T12:00:00Z",
        )
        .replace(
            "via /kiln:start\n",
            "via /kiln:start\n- Resumed: 2026-02-20T12:00:00Z\n",
        );
    assert_eq!(after.text(), wanted);
    let crlf = step_7(&parse(&TEMPLATE.replace('\n', "\r\n")));
    assert_eq!(crlf.text(), wanted.replace('\n', "\r\n"));
}

#[test]
fn the_log_line_is_added_at_the_end_of_its_section() {
    let line = "- Resumed: now";
    for (before, after) in [
        (
            "stage: a\n## Resume Log\n- x\n\n## Later\ny\n",
            "stage: a\n## Resume Log\n- x\n- Resumed: now\n\n## Later\ny\n",
        ),
        ("## Resume Log\n", "## Resume Log\n- Resumed: now\n"),
        (
            "## Resume Log\n# a hint\n\n# a tail\n",
            "## Resume Log\n# a hint\n- Resumed: now\n\n# a tail\n",
        ),
        (
            "## Resume Log\n\n# a tail\n",
            "## Resume Log\n- Resumed: now\n\n# a tail\n",
        ),
        ("## Resume Log\n- x", "## Resume Log\n- x\n- Resumed: now"),
        ("a: b\n", "a: b\n\n## Resume Log\n- Resumed: now\n"),
        ("a: b", "a: b\n\n## Resume Log\n- Resumed: now"),
        (
            "a: b\r\n\r\n",
            "a: b\r\n\r\n## Resume Log\r\n- Resumed: now\r\n",
        ),
        ("", "## Resume Log\n- Resumed: now\n"),
        (
            "# ## Resume Log\n",
            "# ## Resume Log\n\n## Resume Log\n- Resumed: now\n",
        ),
    ] {
        assert_eq!(
            parse(before).with_entry(RESUME_LOG, line).text(),
            after,
            "{before:?}"
        );
    }
}

#[test]
fn existing_fields_are_replaced_and_missing_ones_added_to_their_section() {
    let check = |before: &str, key: &str, value: &str, after: &str| {
        assert_eq!(
            parse(before).with_field(key, value).text(),
            after,
            "{before:?}"
        );
    };
    check(
        "status:  paused \nx",
        "status",
        "blocked",
        "status:  blocked \nx",
    );
    check(
        "handoff_note:\nx: y\n",
        "handoff_note",
        "hi",
        "handoff_note: hi\nx: y\n",
    );
    check(
        "handoff_note:   \n",
        "handoff_note",
        "hi",
        "handoff_note: hi\n",
    );
    check(
        "status: a\n  stray\n",
        "handoff_note",
        "hi",
        "status: a\n  stray\nhandoff_note: hi\n",
    );
    check(
        "status: a\n  stray\n",
        "status",
        "b",
        "status: b\n  stray\n",
    );
    check(
        "handoff_note: |\n  a\n  b\nx: y\n",
        "handoff_note",
        "hi",
        "handoff_note: hi\nx: y\n",
    );
    check(
        "## Runtime\nstage: a\n\n## Handoff\n",
        "correction_cycle",
        "1",
        "## Runtime\nstage: a\ncorrection_cycle: 1\n\n## Handoff\n",
    );
    check(
        "## Runtime\nstatus: a\n",
        "last_updated",
        "t",
        "## Runtime\nstatus: a\nlast_updated: t\n",
    );
    check(
        "## Metadata\n## Runtime\nstatus: a\n",
        "last_updated",
        "t",
        "## Metadata\nlast_updated: t\n## Runtime\nstatus: a\n",
    );
    check(
        "## Validation\nstatus: fail\n## Runtime\nstatus: a\n",
        "status",
        "b",
        "## Validation\nstatus: fail\n## Runtime\nstatus: b\n",
    );
    check(
        "status: a\n",
        "handoff_note",
        "one\ntwo",
        "status: a\nhandoff_note: one two\n",
    );
}

#[test]
fn a_new_block_does_not_include_existing_indented_lines() {
    let text = "stage: planning\nstatus: paused\n## Handoff\n  stray\n\n## X\n";
    let after = parse(text).with_block("handoff_context", "one");
    assert_eq!(after.read().unwrap().handoff_context, "one");
    assert_eq!(
        after.text(),
        text.replace("  stray\n", "  stray\nhandoff_context: |\n  one\n")
    );
}

#[test]
fn a_block_is_replaced_as_a_whole() {
    let check = |before: &str, text: &str, after: &str| {
        assert_eq!(
            parse(before).with_block("handoff_context", text).text(),
            after,
            "{before:?}"
        );
    };
    check(
        "handoff_context: |\n  a\n\n  b\n\n## X\n",
        "c\n\nd\n",
        "handoff_context: |\n  c\n\n  d\n\n## X\n",
    );
    check(
        "handoff_context: old\n  stray\nx: y\n",
        "new",
        "handoff_context: |\n  new\nx: y\n",
    );
    check(
        "handoff_context: old\nx: y\n",
        "new",
        "handoff_context: |\n  new\nx: y\n",
    );
    check("handoff_context:", "new", "handoff_context: |\n  new");
    check(
        "handoff_note: n\nx: y\n",
        "new",
        "handoff_note: n\nhandoff_context: |\n  new\nx: y\n",
    );
    check(
        "handoff_context: |\r\n  a\r\n",
        "b",
        "handoff_context: |\r\n  b\r\n",
    );
    check("handoff_context: |\n  a\n", "", "handoff_context:\n");
}

#[test]
fn phases_keep_their_lines_and_new_ones_come_after_them() {
    let check = |before: &str, after: &str| {
        let memory = parse(before).with_phase(2, "E | x", PhaseStatus::Completed);
        assert_eq!(memory.text(), after, "{before:?}");
    };
    let line = "- phase_number: 2 | phase_name: E | x | phase_status: completed";
    check(
        "## Phase Statuses\n-  phase_number: 2 | phase_name: Old | phase_status: in_progress \nx\n",
        "## Phase Statuses\n-  phase_number: 2 | phase_name: Old | phase_status: completed \nx\n",
    );
    check(
        "## Phase Statuses\n- phase_number: 2 | oops\n",
        &format!("## Phase Statuses\n{line}\n"),
    );
    check(
        "## Phase Statuses\n# hint\n\n## Resume Log\n",
        &format!("## Phase Statuses\n# hint\n{line}\n\n## Resume Log\n"),
    );
    check(
        "a\n\n## Resume Log\n- x\n",
        &format!("a\n\n## Phase Statuses\n{line}\n\n## Resume Log\n- x\n"),
    );
    check("a\n", &format!("a\n\n## Phase Statuses\n{line}\n"));
}

#[test]
fn a_phase_with_a_name_that_is_not_utf_8_changes_only_its_status() {
    let before: &[u8] = b"stage: execution\nstatus: paused\n## Phase Statuses\n- phase_number: 1 | phase_name: \xff\xfe\xfd\xff\xff | phase_status: in_progress \n## Resume Log\n- kept \xff\n";
    let memory = Memory::parse(before.to_vec());
    let after = memory.with_phase(1, "Storage", PhaseStatus::Completed);
    let wanted: &[u8] = b"stage: execution\nstatus: paused\n## Phase Statuses\n- phase_number: 1 | phase_name: \xff\xfe\xfd\xff\xff | phase_status: completed \n## Resume Log\n- kept \xff\n";
    assert_eq!(after.bytes(), wanted);
    assert_eq!(
        after.phase_lines()[0].1.status,
        Some(PhaseStatus::Completed)
    );
}
