use rekindle_model::Victim;

use super::*;

const KILL: Kill = Kill {
    victim: Victim::Worker,
    signal: None,
};

fn task(id: &str, needs: &[usize]) -> WorkTask {
    WorkTask {
        id: id.to_owned(),
        title: String::new(),
        needs: needs.to_vec(),
        unreachable: false,
        left_out_by_plan: false,
        files: Vec::new(),
        checks: Vec::new(),
        may_be_empty: false,
        standing: Standing::Open,
        failures: 0,
        conflicts: 0,
        interruptions: 0,
        attempts: 0,
        last_failed: None,
        reason: None,
        limited_until: None,
        costs: std::collections::BTreeMap::new(),
        place: None,
    }
}

#[test]
fn a_task_starts_when_what_it_needs_has_landed_and_not_before() {
    let mut board = Board::new(&[task("a", &[]), task("b", &[0]), task("c", &[])], 2);
    assert_eq!(board.startable(), Some(0));
    board.started(0, 1);
    assert_eq!(board.startable(), Some(2));
    board.started(2, 1);
    board.delivered(0, 1, Delivery::default());
    assert_eq!(board.startable(), None, "delivered is not landed");
    board.landed(0);
    assert_eq!(board.startable(), Some(1));
}

#[test]
fn deliveries_land_in_plan_order() {
    let mut board = Board::new(&[task("a", &[]), task("b", &[]), task("c", &[])], 2);
    for number in 0..3 {
        board.started(number, 1);
    }
    board.delivered(2, 1, Delivery::default());
    board.delivered(1, 1, Delivery::default());
    assert_eq!(board.landable().map(|(task, ..)| task), Some(1));
}

#[test]
fn what_is_reopened_is_missing_again() {
    let mut tasks = [task("a", &[]), task("b", &[0]), task("c", &[1])];
    for done in &mut tasks[..2] {
        done.standing = Standing::Done;
    }
    let mut board = Board::new(&tasks, 2);
    assert_eq!(board.startable(), Some(2));
    board.reopened(0);
    board.reopened(1);
    assert_eq!(board.startable(), Some(0));
    board.started(0, 1);
    assert_eq!(board.startable(), None);
    board.landed(0);
    assert_eq!(board.startable(), Some(1));
}

#[test]
fn two_retries_and_then_a_person() {
    let mut board = Board::new(&[task("a", &[])], 2);
    for attempt in 1..=2 {
        board.started(0, attempt);
        assert_eq!(board.failed(0, "no", FailureKind::Work), Next::Retry);
        assert_eq!(board.next_attempt(0), attempt + 1);
    }
    board.started(0, 3);
    assert!(matches!(
        board.failed(0, "no", FailureKind::Work),
        Next::GiveUp { .. }
    ));
    assert_eq!(board.startable(), None);
    assert_eq!(board.tally().blocked, 1);
}

#[test]
fn a_second_conflict_is_for_a_person_whatever_the_retries() {
    let mut board = Board::new(&[task("a", &[])], 9);
    assert_eq!(board.failed(0, "x", FailureKind::Conflict), Next::Retry);
    assert!(matches!(
        board.failed(0, "x", FailureKind::Conflict),
        Next::GiveUp { .. }
    ));
}

#[test]
fn what_the_record_counts_goes_on_counting() {
    let mut tasks = [
        task("a", &[]),
        task("b", &[]),
        task("c", &[]),
        task("d", &[]),
    ];
    tasks[0].conflicts = 1;
    tasks[1].interruptions = MOST_INTERRUPTIONS;
    // The orchestrator died before it gave these up.
    tasks[2].conflicts = 2;
    tasks[3].interruptions = MOST_INTERRUPTIONS + 1;
    let mut board = Board::new(&tasks, 9);
    assert_eq!(board.tally().blocked, 2);
    assert!(matches!(
        board.failed(0, "x", FailureKind::Conflict),
        Next::GiveUp { .. }
    ));
    assert!(matches!(board.interrupted(1, KILL), Next::GiveUp { .. }));
}

#[test]
fn being_killed_costs_no_retry_but_not_for_ever() {
    let mut board = Board::new(&[task("a", &[])], 0);
    for _ in 0..MOST_INTERRUPTIONS {
        assert_eq!(board.interrupted(0, KILL), Next::Retry);
    }
    let agent = Kill {
        victim: Victim::Agent,
        signal: Some(9),
    };
    let reason = "it was lost 11 times; the last time its agent was killed by signal 9";
    let reason = reason.to_owned();
    assert_eq!(board.interrupted(0, agent), Next::GiveUp { reason });
}

#[test]
fn a_limit_that_is_over_causes_no_wait_unless_it_is_met_again() {
    let mut board = Board::new(&[task("a", &[])], 2);
    let soon = Duration::from_secs(7);
    let over = Some(Duration::ZERO);
    let waits = [Some(soon), over, over, Some(soon), over, None].map(|until| {
        board.started(0, 1);
        board.limited(0, until).as_secs()
    });
    assert_eq!(waits, [7, 1, 300, 7, 1, 300]);
    assert_eq!(board.startable(), Some(0));
}

#[test]
fn tasks_that_share_a_file_do_not_run_side_by_side() {
    let mut tasks = [task("a", &[]), task("b", &[]), task("c", &[])];
    tasks[0].files = vec!["x".to_owned()];
    tasks[1].files = vec!["x".to_owned(), "y".to_owned()];
    let mut board = Board::new(&tasks, 2);
    board.started(0, 1);
    assert_eq!(board.startable(), Some(2));
    board.delivered(0, 1, Delivery::default());
    board.started(2, 1);
    assert_eq!(board.startable(), None, "what is delivered has yet to land");
    board.landed(0);
    assert_eq!(board.startable(), Some(1));
}
