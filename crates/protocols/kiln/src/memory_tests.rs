//! Reading MEMORY.md with the traps of kiln's own template, and edits that change nothing else.

use proptest::prelude::*;

use super::*;

/// Kiln's template for a project in execution, with its commented tail.
pub(super) const TEMPLATE: &str = "# Kiln Project Memory

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

pub(super) fn parse(text: &str) -> Memory {
    Memory::parse(text.as_bytes().to_vec())
}

pub(super) fn step_7(memory: &Memory) -> Memory {
    memory
        .with_field("status", "in_progress")
        .with_field("last_updated", "2026-02-20T12:00:00Z")
        .with_entry(RESUME_LOG, "- Resumed: 2026-02-20T12:00:00Z")
}

#[test]
fn the_template_is_read_as_kiln_does() {
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
fn a_block_is_read_without_blanks_or_tabs_before_it() {
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
fn line_ends_and_a_byte_order_mark_do_not_change_what_is_read() {
    let crlf = parse(&format!("\u{feff}{}", TEMPLATE.replace('\n', "\r\n")));
    assert_eq!(crlf.read(), parse(TEMPLATE).read());
    assert_eq!(crlf.phase_lines().len(), 2);
}

#[test]
fn missing_required_fields_are_named_in_order() {
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
fn unknown_values_are_reported_and_ignored() {
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
fn the_next_action_comes_from_a_real_section() {
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
fn a_started_correction_without_an_end_is_open() {
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

/// Valid and invalid lines of a memory.
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

/// Returns whether all lines except so many are kept in order.
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
    fn step_7_reads_back_and_loses_nothing(text in text()) {
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
    fn a_written_phase_reads_back_and_others_are_kept(text in text(), number in 0_u32..40) {
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
    fn a_written_block_reads_back(text in text(), block in "([a-z|:#]{1,8}( [a-z]{1,4})?\n{1,2}){1,4}") {
        let memory = parse(&text);
        if memory.read().is_err() {
            return Ok(());
        }
        let after = memory.with_block("handoff_context", &block);
        prop_assert_eq!(after.read().unwrap().handoff_context, block.trim_end());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let memory = Memory::parse(bytes.clone());
        prop_assert_eq!(memory.bytes(), bytes.as_slice());
        if memory.read().is_ok() {
            step_7(&memory);
        }
    }
}
