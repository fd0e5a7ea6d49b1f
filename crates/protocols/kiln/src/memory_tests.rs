//! Reading MEMORY.md with the traps of kiln's own template, and edits that change nothing else.

use proptest::prelude::*;

use super::*;

/// Kiln's template as a project in execution has it, with its commented tail.
const TEMPLATE: &str = "# Kiln Project Memory

## Metadata
project_name: ledger-api
project_path: /DEV/ledger-api
project_mode: greenfield
date_started: 2026-02-19
last_updated: 2026-02-20T08:15:00Z

## Runtime
stage: execution
status: paused
planning_sub_stage: null
debate_mode: 3
phase_number: 2
phase_name: Engine: a | b
phase_total: null

## Handoff
handoff_note: Phase 2 task 3/5 running; next: finish.
handoff_context: |
  First line.
    indented
  stage: decoy

  ## Reset Notes
  next_action: decoy

## Phase Statuses
# Add one line per phase during execution:
# - phase_number: <int> | phase_name: <string> | phase_status: <pending|in_progress>
- phase_number: 1 | phase_name: Storage | phase_status: completed
- phase_number: 2 | phase_name: Engine: a | b | phase_status: in_progress

## Resume Log
- 2026-02-19T09:00:00Z Initialized via /kiln:start

# Optional sections — uncomment when needed
# ## Phase Results
# ## Reset Notes
# next_action: (filled by /kiln:reset)
";

fn parse(text: &str) -> Memory {
    Memory::parse(text.as_bytes().to_vec())
}

fn step_7(memory: &Memory) -> Memory {
    memory
        .with_field("status", "in_progress")
        .with_field("last_updated", "2026-02-20T12:00:00Z")
        .with_entry(RESUME_LOG, "- Resumed: 2026-02-20T12:00:00Z")
}

#[test]
fn the_template_is_read_as_kiln_means_it() {
    let memory = parse(TEMPLATE);
    let fields = memory.read().unwrap();
    assert_eq!(
        (fields.stage, fields.status),
        (Stage::Execution, Status::Paused)
    );
    assert_eq!((fields.phase_number, fields.phase_total), (Some(2), None));
    assert_eq!(fields.phase_name, "Engine: a | b");
    assert_eq!(
        (
            fields.debate_mode,
            fields.sub_stage,
            fields.correction_cycle
        ),
        (3, None, 0)
    );
    assert_eq!(
        fields.handoff_note,
        "Phase 2 task 3/5 running; next: finish."
    );
    assert_eq!(
        fields.handoff_context,
        "First line.\n  indented\nstage: decoy\n\n## Reset Notes\nnext_action: decoy"
    );
    assert_eq!(fields.recommended, None);
    assert_eq!(fields.odd, []);
    let phases: Vec<_> = memory
        .phase_lines()
        .into_iter()
        .map(|(_, line)| (line.number, line.status))
        .collect();
    let wanted = [
        (Some(1), Some(PhaseStatus::Completed)),
        (Some(2), Some(PhaseStatus::InProgress)),
    ];
    assert_eq!(phases, wanted);
}

#[test]
fn a_block_is_read_without_its_indentation_of_either_kind() {
    for (block, wanted) in [
        ("|\n\tone\n\t\ttwo", "one\n\ttwo"),
        ("|\n  one\n\ttwo\n    three", "one\ntwo\n  three"),
        ("|\n    one\n  two", "  one\ntwo"),
        ("| # of the last session\n  one", "one"),
        (">-\n one\n\n two", "one\n\ntwo"),
    ] {
        let memory = parse(&format!(
            "stage: planning\nstatus: paused\nhandoff_context: {block}\n"
        ));
        let fields = memory.read().unwrap();
        assert_eq!(fields.handoff_context, wanted, "{block:?}");
    }
}

#[test]
fn a_file_reads_the_same_with_other_line_ends_and_a_byte_order_mark() {
    let crlf = parse(&format!("\u{feff}{}", TEMPLATE.replace('\n', "\r\n")));
    assert_eq!(crlf.read(), parse(TEMPLATE).read());
    assert_eq!(crlf.phase_lines().len(), 2);
}

#[test]
fn step_7_changes_three_lines_and_no_other() {
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
fn the_log_line_comes_to_the_end_of_its_section() {
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
fn fields_are_replaced_where_they_are_and_added_where_they_belong() {
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
fn a_new_block_does_not_take_lines_that_are_nobodys() {
    let text = "stage: planning\nstatus: paused\n## Handoff\n  stray\n\n## X\n";
    let after = parse(text).with_block("handoff_context", "one");
    assert_eq!(after.read().unwrap().handoff_context, "one");
    assert_eq!(
        after.text(),
        text.replace("  stray\n", "  stray\nhandoff_context: |\n  one\n")
    );
}

#[test]
fn blocks_are_replaced_whole() {
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
fn a_phase_whose_name_is_not_utf_8_is_changed_in_its_status_alone() {
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

#[test]
fn required_fields_are_named_in_their_order() {
    for (text, wanted) in [
        ("status: in_progress\n", vec!["stage"]),
        ("stage: execution\nstatus: in-progress\n", vec!["status"]),
        (
            "- **Stage**: execution\n- **Status**: in_progress\n",
            vec!["stage", "status"],
        ),
        (
            "  stage: execution\n  status: paused\n",
            vec!["stage", "status"],
        ),
        ("# stage: execution\nstatus: paused\n", vec!["stage"]),
        ("stage: null\nstatus:\n", vec!["stage", "status"]),
        (
            "## Validation\nstage: execution\nstatus: paused\n",
            vec!["stage", "status"],
        ),
        (
            "handoff_context: |\n  stage: execution\nstatus: paused\n",
            vec!["stage"],
        ),
    ] {
        assert_eq!(parse(text).read(), Err(wanted), "{text:?}");
    }
}

#[test]
fn values_that_kiln_does_not_know_are_noted_and_do_not_count() {
    let text = "stage: planning\nstatus: paused\ndebate_mode: 7\nplanning_sub_stage: thinking\n\
                correction_cycle: -1\nphase_number: two\nphase_total: 3\n";
    let fields = parse(text).read().unwrap();
    assert_eq!(
        (
            fields.debate_mode,
            fields.sub_stage,
            fields.correction_cycle
        ),
        (2, None, 0)
    );
    assert_eq!((fields.phase_number, fields.phase_total), (None, Some(3)));
    let odd: Vec<_> = fields
        .odd
        .iter()
        .map(|(key, value, at)| (*key, value.as_str(), *at))
        .collect();
    let wanted = [
        ("phase_number", "two", 5),
        ("debate_mode", "7", 2),
        ("correction_cycle", "-1", 4),
        ("planning_sub_stage", "thinking", 3),
    ];
    assert_eq!(odd, wanted);
}

#[test]
fn the_next_action_is_the_one_of_a_real_section() {
    let check = |text: &str, wanted: Option<&str>| {
        let memory = format!("stage: planning\nstatus: paused\n{text}");
        assert_eq!(
            parse(&memory).read().unwrap().recommended.as_deref(),
            wanted,
            "{text:?}"
        );
    };
    check(
        "## Reset Notes\nnext_action: Run: it | now\n",
        Some("Run: it | now"),
    );
    check(
        "## Reset Notes  \r\nagent_context: x\r\nnext_action: Go\r\n",
        Some("Go"),
    );
    check("## Reset Notes\nnext_action:\n", None);
    check("# ## Reset Notes\n# next_action: no\n", None);
    check("next_action: no\n## Reset Notes\n", None);
    check("## Reset Notes\n  next_action: no\n", None);
    check(
        "## Reset Notes\nnext_action: old\n## Reset Notes\nnext_action: new\n",
        Some("new"),
    );
}

#[test]
fn an_open_correction_is_one_that_was_begun_and_not_ended() {
    let check = |lines: &str, wanted: bool| {
        let memory = format!("stage: validation\nstatus: paused\n## Correction Log\n{lines}");
        assert_eq!(
            parse(&memory).read().unwrap().has_open_correction,
            wanted,
            "{lines:?}"
        );
    };
    check("", false);
    check(
        "- Cycle 1: FAIL, 2 correction tasks\n- [t] [Kiln] [correction_start] — x\n",
        true,
    );
    check(
        "- [t] [Kiln] [correction_start] — x\n- [t] [Kiln] [correction_complete] — x\n",
        false,
    );
}

/// Lines as a memory has them, good and bad.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "(stage|status): (execution|paused|in_progress|x)",
        "(handoff_note|handoff_context|phase_name):( \\|| [a-z:|]{0,6})?",
        "last_updated: ?[a-z]{1,4}",
        "## (Runtime|Handoff|Metadata|Phase Statuses|Resume Log|Reset Notes|X)",
        "# ?(## Resume Log|x)?",
        "- phase_number: [0-9]{1,2} \\| phase_name: [a-z|: ]{0,8} \\| phase_status: (completed|pending|x)?",
        "  ?[a-z: ]{0,8}",
        "\\PC{0,10}",
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n")];
    let lines = prop::collection::vec((line, end), 0..16);
    (lines.clone(), any::<bool>(), lines, any::<bool>()).prop_map(
        |(before, is_valid, after, has_end)| {
            let valid = ("stage: execution\nstatus: paused".to_owned(), "\n");
            let lines = before
                .iter()
                .chain(is_valid.then_some(&valid))
                .chain(&after);
            let text: String = lines
                .flat_map(|(line, end)| [line.as_str(), *end])
                .collect();
            if has_end {
                text
            } else {
                text.trim_end().to_owned()
            }
        },
    )
}

/// Returns whether all lines but so many are still there, in their order.
fn is_kept(old: &str, new: &str, n_changed: usize) -> bool {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (old, new) = (lines(old), lines(new));
    // The longest common subsequence, one row at a time.
    let mut row = vec![0; new.len() + 1];
    for line in &old {
        let mut diagonal = 0;
        for (at, other) in new.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if line == other {
                diagonal + 1
            } else {
                above.max(row[at])
            };
            diagonal = above;
        }
    }
    old.len() - row[new.len()] <= n_changed
}

proptest! {
    #[test]
    fn step_7_is_read_back_and_loses_nothing(text in text()) {
        let memory = parse(&text);
        if memory.read().is_err() {
            return Ok(());
        }
        let after = step_7(&memory);
        let (before, fields) = (memory.read().unwrap(), after.read().unwrap());
        prop_assert_eq!(fields.status, Status::InProgress);
        prop_assert_eq!(fields.last_updated, parse_instant("2026-02-20T12:00:00Z"));
        prop_assert_eq!(fields.stage, before.stage);
        prop_assert_eq!(&fields.handoff_note, &before.handoff_note);
        prop_assert_eq!(&fields.handoff_context, &before.handoff_context);
        prop_assert_eq!(after.phase_lines().len(), memory.phase_lines().len());
        let n_logged = after.text().lines().filter(|line| *line == "- Resumed: 2026-02-20T12:00:00Z").count();
        prop_assert_eq!(n_logged, 1);
        prop_assert!(is_kept(&text, &after.text(), 2), "{:?}\n{:?}", text, after.text());
    }

    #[test]
    fn a_phase_is_read_back_and_others_stay(text in text(), number in 0_u32..40) {
        let memory = parse(&text);
        let after = memory.with_phase(number, "a | b", PhaseStatus::Failed);
        let said = |memory: &Memory, wanted: u32| {
            let mut lines = memory.phase_lines().into_iter().map(|(_, line)| line);
            lines.rfind(|line| line.number == Some(wanted)).and_then(|line| line.status)
        };
        prop_assert_eq!(said(&after, number), Some(PhaseStatus::Failed));
        for other in (0..100).filter(|other| *other != number) {
            prop_assert_eq!(said(&after, other), said(&memory, other));
        }
        prop_assert!(is_kept(&text, &after.text(), 1));
    }

    #[test]
    fn a_block_is_read_back(text in text(), block in "([a-z|:#]{1,8}( [a-z]{1,4})?\n{1,2}){1,4}") {
        let memory = parse(&text);
        if memory.read().is_err() {
            return Ok(());
        }
        let after = memory.with_block("handoff_context", &block);
        prop_assert_eq!(after.read().unwrap().handoff_context, block.trim_end());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let memory = Memory::parse(bytes.clone());
        prop_assert_eq!(memory.bytes(), bytes.as_slice());
        if memory.read().is_ok() {
            step_7(&memory);
        }
    }
}
