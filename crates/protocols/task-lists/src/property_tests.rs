//! What holds for any text.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::scene_tests::{FORMATS, tasks};
use rekindle_protocol::lists::format::Format;
use rekindle_protocol::lists::mark::{mark, with_marks_of};
use rekindle_protocol::lists::states::Standing;
use rekindle_protocol::lists::{Claim, TaskState};

/// Lines that mean something, and others.
fn line() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("- [ ] "),
        Just("- [x] "),
        Just("  - [X] "),
        Just("* [-] "),
        Just("\t+ [~]* "),
        Just("1. []"),
        Just("- ["),
        Just("T001 "),
        Just("T002 [P] "),
        Just("1.1 "),
        Just("1.1.1 "),
        Just("2. "),
        Just("**T003** "),
        Just("~~x~~"),
        Just("text "),
        Just("depends on T001-T004"),
        Just("_Depends: 1.1, 2_"),
        Just("## 2. Group"),
        Just("# Title"),
        Just("```"),
        Just("~~~md"),
        Just("<!--"),
        Just("-->"),
        Just("> "),
        Just("(P)"),
        Just("[US1] "),
        Just("Manual test"),
        Just("\u{a0}"),
        Just("\u{fffd}é"),
        Just("## Task Dependency Graph"),
        Just("{\"waves\": [[\"1.1\"], [2]]}"),
        Just("\r"),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn text() -> impl Strategy<Value = String> {
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    prop::collection::vec((line(), end), 0..25)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

/// Checks what must hold for one text in one format.
fn holds(format: &dyn Format, text: &str) -> Result<(), TestCaseError> {
    let file = tasks(format, text);
    let standing = Standing::of(format, &file, &BTreeSet::new());
    let ids: BTreeSet<&str> = file.tasks.iter().map(|task| task.id.as_str()).collect();
    prop_assert_eq!(ids.len(), file.tasks.len(), "ids are unique");
    for &task in &standing.runnable {
        let needs = standing.needs.of_task(task);
        prop_assert!(
            needs
                .iter()
                .all(|need| standing.states[*need].is_finished())
        );
        prop_assert!(!standing.states[task].is_finished());
    }
    let is_open = |task: &usize| {
        !standing.states[*task].is_finished() && standing.states[*task] != TaskState::Blocked
    };
    let open = standing
        .needs
        .order
        .iter()
        .filter(|task| is_open(task))
        .count();
    let rings = standing.needs.rings.len();
    prop_assert!(
        open == 0 || rings > 0 || !standing.runnable.is_empty(),
        "something can start"
    );
    for task in file.tasks.iter().filter(|task| task.mark_at.is_some()) {
        let Some(marked) = mark(format, text.as_bytes(), &task.id, &task.title) else {
            return Err(TestCaseError::fail(format!(
                "{} is not found again",
                task.id
            )));
        };
        let after = tasks(format, &marked);
        let found = after.tasks.iter().find(|other| other.id == task.id);
        prop_assert_eq!(
            found.map(|found| found.claim),
            Some(Claim::Done),
            "{} is marked",
            task.id
        );
        prop_assert_eq!(after.tasks.len(), file.tasks.len());
        let back = with_marks_of(format, text.as_bytes(), &marked);
        prop_assert_eq!(back, text.as_bytes(), "only marks have changed");
    }
    Ok(())
}

proptest! {
    #[test]
    fn marking_changes_marks_only_and_needs_are_met_before_a_task_starts(text in text()) {
        for format in FORMATS {
            holds(format, &text)?;
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in FORMATS {
            let file = tasks(format, &bytes);
            for task in &file.tasks {
                if let Some(marked) = mark(format, &bytes, &task.id, &task.title) {
                    prop_assert_eq!(with_marks_of(format, &bytes, &marked), bytes.clone());
                }
            }
        }
    }
}
