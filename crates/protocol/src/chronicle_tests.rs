use proptest::prelude::*;
use serde_json::json;

use super::*;

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
}

fn history(events: &[(i64, &str, &str, Option<&str>, Value)]) -> History {
    let mut chronicle = Chronicle::new(["T1", "T2"]);
    for (minute, actor, event, task, details) in events {
        chronicle.hear(at(*minute), actor, event, *task, details);
    }
    let mut history = History::default();
    chronicle.finish(&mut history);
    history
}

fn minutes(time: Timestamp) -> i64 {
    (time.as_second() - 1_800_000_000) / 60
}

fn told(history: &History) -> Vec<String> {
    let span = |from: Timestamp, to: Option<Timestamp>| {
        let to = to.map_or("…".to_owned(), |to| minutes(to).to_string());
        format!("{}–{to}", minutes(from))
    };
    let lives = history.lives.iter();
    let lives =
        lives.map(|life| format!("life {} {}", span(life.from, life.to), life.end.as_str()));
    let waits = history.waits.iter();
    let waits = waits.map(|wait| format!("wait {}", span(wait.from, wait.to)));
    let attempts = history.attempts.iter().map(|one| {
        let landed = one.landed.map(|at| format!(" landed {}", minutes(at)));
        format!(
            "T{}.{} {} {}{}",
            one.task + 1,
            one.number,
            span(one.from, one.to),
            one.end.as_str(),
            landed.unwrap_or_default()
        )
    });
    lives.chain(waits).chain(attempts).collect()
}

const BOSS: &str = "orchestrator";

#[test]
fn an_attempt_that_is_found_dead_ended_when_its_orchestrator_did() {
    let n = |n: u32| json!({"attempt": n});
    let seen = json!({"last_seen": at(9).to_string(), "rebooted": true});
    let history = history(&[
        (0, BOSS, "run_started", None, json!({})),
        (1, "e1", "task_claimed", Some("T1"), n(1)),
        (8, "e1", "heartbeat", Some("T1"), n(1)),
        (2, "e2", "task_claimed", Some("T2"), n(1)),
        (20, "e2", "task_implemented", Some("T2"), n(1)),
        (30, BOSS, "session_resumed", None, seen),
        (31, BOSS, "task_completed", Some("T2"), n(1)),
        (31, BOSS, "attempt_interrupted", Some("T1"), n(1)),
        (32, "e1", "task_claimed", Some("T1"), n(2)),
        (40, "e1", "usage_limited", Some("T1"), n(2)),
        (50, "e1", "task_claimed", Some("T1"), n(3)),
    ]);
    assert_eq!(
        told(&history),
        [
            "life 0–9 restarted",
            "life 30–… alive",
            "wait 40–50",
            "T1.1 1–9 killed",
            "T1.2 32–40 limited",
            "T1.3 50–… running",
            "T2.1 2–20 done landed 31",
        ]
    );
}

#[test]
fn without_a_stamp_a_life_ends_with_the_last_event_before_the_resume() {
    let history = history(&[
        (0, BOSS, "task_started", Some("T1"), json!({})),
        (5, BOSS, "task_failed", Some("T1"), json!({"error": "no"})),
        (9, BOSS, "session_resumed", None, json!({})),
        (9, BOSS, "task_started", Some("T1"), json!({})),
        (12, BOSS, "task_verified", Some("T1"), json!({})),
        (13, BOSS, "task_completed", Some("T1"), json!({})),
        (14, BOSS, "run_completed", None, json!({})),
    ]);
    assert_eq!(
        told(&history),
        [
            "life 0–5 interrupted",
            "life 9–14 finished",
            "T1.1 0–5 failed",
            "T1.2 9–12 done landed 13",
        ]
    );
}

#[test]
fn many_heartbeats_are_thinned_out() {
    let beats =
        (0..5000).map(|minute| (minute, "e1", "heartbeat", Some("T1"), json!({"attempt": 1})));
    let history = history(&beats.collect::<Vec<_>>());
    let beats = &history.attempts[0].beats;
    assert!(beats.len() <= MOST_BEATS, "{}", beats.len());
    assert_eq!(beats[0], at(0));
}

#[test]
fn a_life_ends_no_earlier_than_its_last_deed_whatever_its_stamp_says() {
    for (stamped, expect) in [(0, 5), (5, 5), (9, 9), (40, 30)] {
        let seen = json!({"last_seen": at(stamped).to_string(), "stopped": true});
        let history = history(&[
            (0, BOSS, "run_started", None, json!({})),
            (5, "e1", "task_claimed", Some("T1"), json!({"attempt": 1})),
            (20, "e1", "heartbeat", Some("T1"), json!({"attempt": 1})),
            (30, BOSS, "session_resumed", None, seen),
        ]);
        let life = history.lives[0];
        assert_eq!(life.to.map(minutes), Some(expect), "{stamped}");
        assert_eq!(life.end, LifeEnd::Stopped);
    }
}

proptest! {
    /// Whatever was written, and in whichever order.
    #[test]
    fn two_attempts_at_a_task_never_overlap_and_none_is_left_out(
        events in proptest::collection::vec(
            (0_i64..100, 0_usize..11, 0_usize..2, proptest::option::of(1_u32..5), any::<bool>()),
            0..40,
        ),
    ) {
        const NAMES: [&str; 11] = [
            "task_claimed", "task_started", "heartbeat", "task_implemented", "task_completed",
            "task_failed", "usage_limited", "attempt_stopped", "attempt_interrupted",
            "session_resumed", "run_completed",
        ];
        let mut chronicle = Chronicle::new(["T1", "T2"]);
        let mut named = std::collections::BTreeSet::new();
        for (minute, name, task, attempt, boss) in events {
            let details = attempt.map_or(json!({}), |attempt| json!({"attempt": attempt}));
            let actor = if boss { BOSS } else { "e1" };
            chronicle.hear(at(minute), actor, NAMES[name], Some(["T1", "T2"][task]), &details);
            if let Some(attempt) = attempt.filter(|_| name < 9) {
                named.insert((task, attempt));
            }
        }
        let mut history = History::default();
        chronicle.finish(&mut history);
        for pair in history.attempts.windows(2) {
            let (one, other) = (&pair[0], &pair[1]);
            prop_assert!((one.task, one.number) < (other.task, other.number));
            if one.task == other.task {
                prop_assert!(one.to.is_some_and(|to| to <= other.from));
            }
        }
        for one in &history.attempts {
            prop_assert!(one.to.is_none_or(|to| to >= one.from));
            named.remove(&(one.task, one.number));
        }
        prop_assert!(named.is_empty());
        for pair in history.lives.windows(2) {
            prop_assert!(pair[0].to.is_some_and(|to| pair[0].from <= to && to <= pair[1].from));
        }
    }
}
