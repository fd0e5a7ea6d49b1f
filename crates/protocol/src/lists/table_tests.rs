//! The tables over all their inputs.

use crate::table::{Input as _, check};

use crate::lists::table::{
    Claim, Far, LISTS, ListState, PARENTS, Parts, Signs, TASKS, TaskState, Whole,
};

#[test]
fn tables_cover_every_input_and_use_every_row() {
    check(&TASKS);
    check(&PARENTS);
    check(&LISTS);
}

#[test]
fn a_landed_commit_proves_a_task_done_whatever_its_mark_says() {
    for signs in Signs::all().filter(|signs| signs.has_landed) {
        assert_eq!(*TASKS.decide(signs), TaskState::Done, "{signs:?}");
    }
}

#[test]
fn a_mark_alone_never_hides_an_open_part() {
    for signs in Signs::all().filter(|signs| signs.has_open_part && !signs.has_landed) {
        assert_ne!(*TASKS.decide(signs), TaskState::Done, "{signs:?}");
    }
    for whole in Whole::all().filter(|whole| whole.parts == Parts::Open) {
        assert_ne!(PARENTS.decide(whole).state(), TaskState::Done, "{whole:?}");
    }
}

#[test]
fn a_list_is_complete_only_when_nothing_is_open() {
    for far in Far::all().filter(|far| *LISTS.decide(*far) == ListState::Complete) {
        let is_finished =
            far.progress == crate::lists::table::Progress::Finished && !far.is_to_close;
        assert!(
            !far.is_unreadable && (far.is_archived || is_finished),
            "{far:?}"
        );
    }
    assert!(!TaskState::Blocked.is_finished() && TaskState::Skipped.is_finished());
    assert_eq!(Claim::Open.as_str(), "open");
}
