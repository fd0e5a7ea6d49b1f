//! Tests of task states by events.

use super::scene_tests::check;

/// The events of one log, and the state of `T1`, on which `T2` depends.
fn check_events(events: &str, expected: &str) {
    let scene = format!("docs prd plan constitution\n graph T1 T2<T1\n log a/a.jsonl\n {events}");
    check(&scene, expected);
}

#[test]
fn every_event_sets_its_state() {
    // Section 4, in both spellings.
    for (event, state) in [
        ("task_created", "pending"),
        ("task_ready", "pending"),
        ("task_claimed", "in_progress"),
        ("task_started", "in_progress"),
        ("task_implemented", "in_progress"),
        ("task_completed", "done"),
        ("task_verified", "done"),
        ("task_failed", "failed"),
        ("task_failure", "failed"),
        ("task_verification_failed", "failed"),
        ("task_blocked", "blocked"),
        ("task_skipped", "skipped"),
        ("task_paused", "pending"),
        ("recovery_attempt", "pending"),
        ("escalation_resolved", "pending"),
        ("artifact_created", "pending"),
    ] {
        for spelled in [event.to_owned(), event.replace('_', "-")] {
            let events = format!("10:00 {spelled} T1");
            check_events(&events, &format!("states.T1 {state}"));
        }
    }
}

#[test]
fn the_latest_event_wins() {
    for (events, state, failures) in [
        (
            "10:00 task_failed T1\n 10:01 task_started T1",
            "in_progress",
            "{T1:1}",
        ),
        // Reopened; failures count since the last completion.
        (
            "10:00 task_completed T1\n 10:01 task_failed T1",
            "failed",
            "{T1:1}",
        ),
        (
            "10:00 task_verified T1\n 10:01 task_verification_failed T1",
            "failed",
            "{T1:1}",
        ),
        (
            "10:00 task_completed T1\n 10:01 task_started T1",
            "in_progress",
            "{}",
        ),
        (
            "10:00 task_failed T1\n 10:01 task_failed T1\n 10:02 task_completed T1\n 10:03 task_failed T1",
            "failed",
            "{T1:1}",
        ),
        (
            "10:00 task_blocked T1\n 10:01 task_ready T1",
            "pending",
            "{}",
        ),
        (
            "10:00 task_blocked T1\n 10:01 task_started T1",
            "in_progress",
            "{}",
        ),
        (
            "10:00 task_blocked T1\n 10:01 escalation_resolved T1",
            "blocked",
            "{}",
        ),
        // Equal times keep the order of lines, other times decide.
        (
            "10:00 task_failed T1\n 10:00 task_started T1",
            "in_progress",
            "{T1:1}",
        ),
        (
            "10:00 task_started T1\n 10:00 task_failed T1",
            "failed",
            "{T1:1}",
        ),
        (
            "10:01 task_completed T1\n 10:00 task_failed T1",
            "done",
            "{}",
        ),
        (
            "10:00 task_implemented T1\n 10:01 task_verified T1",
            "done",
            "{}",
        ),
        // Every failure counts, with or without a start in between.
        (
            "10:00 task_failed T1\n 10:00 task_failure T1\n 10:01 task_verification_failed T1",
            "failed",
            "{T1:3}",
        ),
    ] {
        check_events(events, &format!("states.T1 {state}\n failures {failures}"));
    }
}

#[test]
fn done_dependents_stay_done() {
    check_events(
        "10:00 task_completed T1\n 10:01 task_completed T2\n 10:02 task_failed T1",
        "states {T1:failed,T2:done}
         runnable [T1]
         done 1
         last_completed {task:T2,title:Do T2}",
    );
}

#[test]
fn informational_blocks_change_nothing() {
    // At the top level and under `details`; every value but `false` blocks.
    for (blocking, state) in [
        ("details={\"blocking\":false}", "in_progress"),
        ("blocking=false", "in_progress"),
        ("details={\"blocking\":true}", "blocked"),
        ("details={\"blocking\":null}", "blocked"),
        ("details={\"blocking\":\"false\"}", "blocked"),
        ("details=prose", "blocked"),
    ] {
        check_events(
            &format!("10:00 task_started T1\n 10:01 task_blocked T1 {blocking}"),
            &format!("states.T1 {state}\n last_activity 2026-01-19T10:01:00Z"),
        );
    }
}

/// The state of `T1` after these events, each in its own log unless joined by `+`.
fn check_logs(logs: &[&str], state: &str) {
    // The actors' names do not matter.
    for names in [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]] {
        let mut scene = "docs prd plan constitution\n graph T1\n".to_owned();
        for (log, name) in logs.iter().zip(names) {
            scene.push_str(&format!("log {name}/x.jsonl\n"));
            for event in log.split('+') {
                let (time, kind) = event.split_once(' ').unwrap();
                scene.push_str(&format!("{time} task_{kind} T1\n"));
            }
        }
        check(&scene, &format!("states {{T1:{state}}}"));
    }
}

#[test]
fn of_simultaneous_events_the_most_careful_counts() {
    // Blocked, failed, skipped, done, in progress, pending.
    let order = [
        ("blocked", "blocked"),
        ("failed", "failed"),
        ("skipped", "skipped"),
        ("completed", "done"),
        ("started", "in_progress"),
        ("ready", "pending"),
    ];
    for (at, (strong, state)) in order.iter().enumerate() {
        for (weak, _) in &order[at..] {
            check_logs(
                &[&format!("10:00 {strong}"), &format!("10:00 {weak}")],
                state,
            );
        }
    }
    // Only the last event of each log at that instant counts.
    check_logs(&["10:00 blocked+10:00 started", "10:00 completed"], "done");
    check_logs(
        &["10:00 failed+10:00 started", "10:00 ready"],
        "in_progress",
    );
    check_logs(&["10:00 skipped+10:00 started", "10:00 completed"], "done");
    check_logs(
        &["10:00 completed", "10:00 started", "10:00 failed"],
        "failed",
    );
    // A later instant beats all.
    check_logs(
        &["10:00 blocked", "10:00 failed", "10:01 started"],
        "in_progress",
    );
}

#[test]
fn simultaneous_verdicts_follow_the_completion() {
    check(
        "docs prd plan constitution
         graph T1
         log verifier/v.jsonl
           10:00 task_verification_failed T1
         log executor/e.jsonl
           09:59 task_failed T1
           10:00 task_completed T1",
        "states {T1:failed}
         failures {T1:1}
         next_action {kind:execute_task,task:T1,attempt:2}",
    );
    // Within a log the lines decide.
    check_events(
        "10:00 task_verification_failed T1\n 10:00 task_completed T1",
        "states.T1 done\n failures {}",
    );
}

#[test]
fn simultaneously_started_and_implemented_tasks_are_verified() {
    for (a, b) in [("x", "y"), ("y", "x")] {
        check(
            &format!(
                "docs prd plan constitution
                 graph T1
                 log {a}/a.jsonl
                   10:00 task_started T1
                 log {b}/b.jsonl
                   10:00 task_implemented T1"
            ),
            "next_action {kind:verify_task,task:T1,attempt:1}",
        );
    }
}

#[test]
fn done_tasks_cannot_be_skipped() {
    for (logs, state) in [
        (vec!["10:00 started+10:01 skipped"], "skipped"),
        (vec!["10:00 completed+10:01 skipped"], "done"),
        (vec!["10:00 completed+10:00 skipped"], "done"),
        (vec!["10:00 skipped+10:00 completed"], "done"),
        (vec!["10:00 skipped+10:01 started"], "in_progress"),
        (
            vec!["10:00 completed+10:01 failed+10:02 skipped"],
            "skipped",
        ),
        (
            vec!["10:00 completed+10:01 skipped+10:02 started"],
            "in_progress",
        ),
        (vec!["10:00 completed", "10:01 skipped"], "done"),
        // Of simultaneous events in several logs the most careful decides.
        (
            vec!["10:00 completed", "10:01 skipped", "10:01 started"],
            "skipped",
        ),
        (
            vec!["10:00 started", "10:01 skipped", "10:01 started"],
            "skipped",
        ),
    ] {
        check_logs(&logs, state);
    }
}

#[test]
fn skipped_tasks_are_finished_and_block_their_dependents() {
    // Skipped in the graph; it keeps its failures.
    check(
        "docs prd plan constitution
         graph T1! T2<T1 T3<T2 T4<T1 T5<T1! T6
         log a/a.jsonl
           10:00 task_failed T1
           10:01 task_completed T4
           10:02 task_started T2",
        "states {T1:skipped,T2:blocked,T3:pending,T4:done,T5:skipped,T6:pending}
         counts {pending:2,in_progress:0,done:1,failed:0,blocked:1,skipped:2}
         done 1
         total 6
         runnable [T6]
         failures {T1:1}
         findings [BLOCKED_BY_SKIPPED]",
    );
    // By an event, with the same consequences.
    check_events(
        "10:00 task_failed T1\n 10:01 task_skipped T1",
        "states {T1:skipped,T2:blocked}
         failures {T1:1}
         next_action {kind:resolve_blockers,tasks:[T2]}
         findings [BLOCKED_BY_SKIPPED]",
    );
    // The graph cannot skip a done task; other words are not a skip.
    check(
        "docs prd plan constitution
         graph T1! T2<T1
         log a/a.jsonl
           10:00 task_completed T1",
        "states {T1:done,T2:pending}
         findings []",
    );
    // All skipped or done: the phase is over.
    check(
        "docs prd plan constitution
         graph T1! T2
         log a/a.jsonl
           09:00 phase_transition 1>2
           10:00 task_completed T2",
        "done 1
         next_action {kind:verify_phase_and_transition}
         findings []",
    );
    // A task behind a blocked one merely waits.
    check_events(
        "10:00 task_blocked T1",
        "states {T1:blocked,T2:pending}
         findings []",
    );
}

#[test]
fn failed_tasks_are_runnable_until_the_third_failure() {
    let table = [
        ("task_failed T1", "execute_task,task:T1,attempt:2"),
        (
            "task_failed T1\n 10:00 task_failed T1",
            "execute_task,task:T1,attempt:3",
        ),
        (
            "task_failed T1\n 10:00 task_failed T1\n 10:00 task_failed T1",
            "escalate_user,task:T1",
        ),
        (
            "task_failed T1\n 10:00 task_failed T1\n 10:00 task_started T1",
            "execute_task,task:T1,attempt:3",
        ),
        (
            "task_failed T1\n 10:00 task_failed T1\n 10:00 task_failed T1\n 10:00 task_started T1",
            "escalate_user,task:T1",
        ),
        ("task_started T1", "execute_task,task:T1,attempt:1"),
        ("task_implemented T1", "verify_task,task:T1,attempt:1"),
        (
            "task_failed T1\n 10:01 task_implemented T1",
            "verify_task,task:T1,attempt:2",
        ),
        (
            "task_implemented T1\n 10:01 recovery_attempt T1",
            "verify_task,task:T1,attempt:1",
        ),
        (
            "task_implemented T1\n 10:01 task_started T1",
            "execute_task,task:T1,attempt:1",
        ),
    ];
    for (events, action) in table {
        check_events(
            &format!("09:00 phase_transition 1>2\n 10:00 {events}"),
            &format!("runnable [T1]\n next_action {{kind:{action}}}"),
        );
    }
}

#[test]
fn exhausted_tasks_come_last() {
    check(
        "docs prd plan constitution
         graph T1 T2 T3
         log a/a.jsonl
           10:00 task_failed T1
           10:01 task_failed T1
           10:02 task_failed T1
           10:03 task_failed T2",
        "runnable [T1,T2,T3]
         next_action {kind:execute_task,task:T2,attempt:2}",
    );
}

#[test]
fn implemented_tasks_do_not_satisfy_dependents() {
    check_events(
        "10:00 task_implemented T1",
        "states {T1:in_progress,T2:pending}
         runnable [T1]",
    );
}

#[test]
fn reports_never_change_a_state() {
    check(
        "docs prd plan constitution
         graph T1
         file verifications/T1.md ---\\nresult: failed\\n---\\n
         log a/a.jsonl
           10:00 task_completed T1",
        "states {T1:done}
         findings []",
    );
}

#[test]
fn the_end_of_a_long_history_decides() {
    let mut scene = "docs prd plan constitution\n graph T1\n log a/a.jsonl\n".to_owned();
    for minute in 0..60 {
        scene.push_str(&format!("08:{minute:02} task_started T1\n"));
        scene.push_str(&format!("08:{minute:02} task_failed T1\n"));
    }
    scene.push_str("09:00 task_completed T1\n 09:01 task_skipped T1\n log b/b.jsonl\n");
    for minute in 0..60 {
        scene.push_str(&format!("07:{minute:02} task_blocked T1\n"));
    }
    check(&scene, "states {T1:done}\n failures {}\n findings []");
}
