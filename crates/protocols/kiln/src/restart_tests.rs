//! The table of restart points, for every event of the closed set.

use super::*;
use rekindle_protocol::table::Value as _;

fn state(events: &str) -> PhaseState {
    PhaseState::parse(&format!("status: in_progress\n## Events\n{events}"))
}

/// Makes a log of `type: description` lines.
fn log(lines: &[&str]) -> PhaseState {
    let event = |line: &&str| {
        let (kind, text) = line.split_once(": ").unwrap_or((line, ""));
        format!("- [t] [Maestro] [{kind}] — {text}\n")
    };
    state(&lines.iter().map(event).collect::<String>())
}

fn files(prompts: &[&str], outputs: &[(&str, bool)]) -> TaskFiles {
    TaskFiles {
        prompts: prompts.iter().map(|&task| task.to_owned()).collect(),
        outputs: outputs
            .iter()
            .map(|&(task, good)| (task.to_owned(), good))
            .collect(),
        has_both_plans: false,
    }
}

fn shown(restart: &Restart) -> String {
    let task = restart
        .task
        .as_ref()
        .map_or_else(String::new, |task| format!(" task {task}"));
    let round = restart
        .review_round
        .map_or_else(String::new, |round| format!(" round {round}"));
    format!("{}{task}{round}", restart.step.as_str())
}

#[test]
fn every_event_has_a_restart_point() {
    let files = files(&["01", "02"], &[]);
    for (last, wanted) in [
        ("setup", "plan"),
        ("branch", "plan"),
        ("plan_start", "plan"),
        ("debate_complete", "plan"),
        ("synthesis_complete", "sharpen"),
        ("plan_complete", "sharpen"),
        ("sharpen_start", "sharpen"),
        ("sharpen_complete", "implement task 01"),
        ("prompt_complete", "implement task 01"),
        ("task_start: Starting task 01", "implement task 01"),
        ("task_success: Task 01 succeeded", "implement task 02"),
        (
            "task_retry: Retrying task 01 (attempt 2)",
            "implement task 01",
        ),
        ("task_fail: Task 01 failed after retry", "implement task 02"),
        ("review_start: Starting review round 2", "review round 2"),
        (
            "review_rejected: Phase rejected on round 2",
            "review round 3",
        ),
        ("fix_start: Starting fix round 1", "review round 2"),
        (
            "fix_complete: Fix round 1 implementation complete",
            "review round 2",
        ),
        ("review_approved: Phase approved on round 1", "complete"),
        ("merge: Merged x into main", "reconcile"),
        ("reconcile_complete", "archive"),
        ("error: out of disk", "setup"),
        ("halt", "setup"),
        ("unknown_event", "setup"),
    ] {
        assert_eq!(
            shown(&restart(&log(&[last]), &files, 2, false)),
            wanted,
            "{last}"
        );
    }
    for event in Event::ALL {
        restart(&log(&[event.as_str()]), &files, 2, false);
    }
    assert_eq!(
        shown(&restart(&PhaseState::default(), &files, 2, false)),
        "setup"
    );
}

#[test]
fn an_error_does_not_hide_progress() {
    let files = files(&["01"], &[]);
    for (log_lines, wanted) in [
        (["sharpen_start", "error"], "sharpen"),
        (
            ["task_start: Starting task 01", "halt"],
            "implement task 01",
        ),
        (["review_approved", "error: merge failed"], "complete"),
    ] {
        assert_eq!(
            shown(&restart(&log(&log_lines), &files, 2, false)),
            wanted,
            "{log_lines:?}"
        );
    }
}

#[test]
fn planning_continues_from_the_planners_files() {
    let started = log(&["plan_start"]);
    let none = TaskFiles::default();
    let both = TaskFiles {
        has_both_plans: true,
        ..TaskFiles::default()
    };
    assert!(
        restart(&started, &none, 2, false)
            .how
            .contains("plan again")
    );
    assert!(restart(&started, &both, 2, false).how.contains("debate"));
    assert!(
        restart(&started, &both, 1, false)
            .how
            .contains("synthesize")
    );
}

#[test]
fn the_next_task_is_the_first_without_a_success() {
    let all = ["01", "02", "03", "04"];
    let check = |lines: &[&str], outputs: &[(&str, bool)], is_retry, wanted: &str| {
        let restart = restart(&log(lines), &files(&all, outputs), 2, is_retry);
        assert_eq!(shown(&restart), wanted, "{lines:?} {outputs:?}");
    };
    check(
        &["task_start: Starting task 03"],
        &[("01", true), ("02", true)],
        false,
        "implement task 03",
    );
    check(
        &["task_start: Starting task 03"],
        &[("01", true), ("02", false)],
        false,
        "implement task 02",
    );
    let two = [
        "task_success: Task 01 succeeded",
        "task_success: Task 02 succeeded (after retry)",
    ];
    check(&two, &[], false, "implement task 03");
    // Failed tasks are skipped while at most half have failed, and repeated in a retry.
    let failed = [
        "task_success: Task 01 succeeded",
        "task_fail: Task 02 failed after retry; needs human attention",
    ];
    check(&failed, &[], false, "implement task 03");
    check(&failed, &[], true, "implement task 02");
    let most = [
        "task_fail: Task 01 failed",
        "task_fail: Task 02 failed",
        "task_fail: Task 03 failed",
    ];
    check(&most, &[], false, "implement task 01");
    let done = [("01", true), ("02", true), ("03", true), ("04", true)];
    check(
        &["task_success: Implementation complete: 4/4 succeeded, 0 failed"],
        &done,
        false,
        "review round 1",
    );
}

#[test]
fn outputs_of_an_earlier_phase_or_run_do_not_count() {
    let stale = files(
        &["01", "02", "03"],
        &[("01", true), ("02", true), ("03", true)],
    );
    let begun = [
        "setup",
        "task_start: Starting task 01",
        "task_success: Task 01 succeeded",
    ];
    assert_eq!(
        shown(&restart(&log(&begun), &stale, 2, false)),
        "implement task 02"
    );
    let again = [&begun[..], &["setup", "task_start: Starting task 02"]].concat();
    assert_eq!(
        shown(&restart(&log(&again), &stale, 2, false)),
        "implement task 01"
    );
    // The crash came between the output and its event.
    let started = log(&["setup", "task_start: Starting task 02"]);
    assert_eq!(
        shown(&restart(&started, &stale, 2, false)),
        "implement task 03"
    );
}

#[test]
fn without_prompts_the_events_name_the_task() {
    let none = files(&[], &[]);
    for (lines, wanted) in [
        (vec!["task_start: Starting task 03"], "implement task 03"),
        (
            vec![
                "task_start: Starting task 03",
                "task_success: Task 03 succeeded",
            ],
            "implement",
        ),
        (
            vec!["task_success: Implementation complete: 3/3 succeeded, 0 failed"],
            "review round 1",
        ),
    ] {
        assert_eq!(
            shown(&restart(&log(&lines), &none, 2, false)),
            wanted,
            "{lines:?}"
        );
    }
}

#[test]
fn only_the_events_since_the_last_setup_count() {
    let files = files(&["01", "02"], &[]);
    let first = [
        "setup",
        "task_success: Task 01 succeeded",
        "task_success: Task 02 succeeded",
        "review_start",
        "review_rejected",
    ];
    let second = |more: &[&str]| log(&[&first[..], more].concat());
    let begun = second(&["setup", "task_start: Starting task 01"]);
    assert_eq!(
        shown(&restart(&begun, &files, 2, false)),
        "implement task 01"
    );
    let reviewed = second(&["setup", "review_start", "review_rejected"]);
    assert_eq!(
        shown(&restart(&reviewed, &files, 2, false)),
        "review round 2"
    );
    let failed = second(&["setup", "error: x"]);
    assert_eq!(shown(&restart(&failed, &files, 2, false)), "plan");
}

#[test]
fn a_round_without_a_number_is_counted() {
    let files = TaskFiles::default();
    let lines = [
        "review_start",
        "review_rejected",
        "fix_start",
        "fix_complete",
        "review_start",
        "review_rejected",
    ];
    assert_eq!(
        shown(&restart(&log(&lines), &files, 2, false)),
        "review round 3"
    );
    assert_eq!(
        shown(&restart(&log(&["fix_complete: round 0"]), &files, 2, false)),
        "review round 2"
    );
}

#[test]
fn a_person_is_needed_after_three_rounds_or_a_mark() {
    let reason = |state: &PhaseState| {
        let restart = restart(state, &TaskFiles::default(), 2, false);
        operator_reason(state, &restart)
    };
    assert!(reason(&log(&["review_rejected: round 3"])).is_some());
    assert!(reason(&log(&["review_rejected: round 2"])).is_none());
    assert!(reason(&log(&["review_start: round 3"])).is_none());
    let marked = |lines: &[&str]| PhaseState {
        status: "needs-operator-review".to_owned(),
        ..log(lines)
    };
    assert!(reason(&marked(&["review_approved", "error: merge failed"])).is_some());
    assert!(reason(&marked(&["review_start: round 1"])).is_some());
    assert!(reason(&marked(&["merge"])).is_none());
}
