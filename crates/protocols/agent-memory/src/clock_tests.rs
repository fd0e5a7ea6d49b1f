//! A clock that jumps forwards or backwards never undoes a later event.

use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;
use rekindle_model::{Delivery, FailureKind, Happened, Kill, Moment, Victim};
use serde_json::json;

use super::fold::Folded;
use super::record::Record;
use super::scene_tests::{RUN, Scene, in_run};
use super::{AgentMemory, read};
use rekindle_protocol::capability::Engine as _;

/// Something that a writer of ours records: in which log, of which task and attempt.
#[derive(Debug, Clone)]
struct Word {
    log: usize,
    task: usize,
    attempt: u32,
    kind: u8,
}

const LOGS: [&str; 4] = [
    "orchestrator/a",
    "orchestrator/b",
    "executor-1/c",
    "rekindle/d",
];
const TASKS: [&str; 2] = ["T1", "T2"];

fn happened(kind: u8) -> Option<Happened> {
    Some(match kind {
        0 => Happened::Claimed,
        1 => Happened::Started {
            base: "b".to_owned(),
        },
        2 => Happened::Implemented(Delivery::default()),
        3 => Happened::Failed {
            reason: "r".to_owned(),
            kind: FailureKind::Conflict,
        },
        4 => Happened::Completed {
            commit: "c".to_owned(),
        },
        5 => Happened::Blocked {
            reason: "r".to_owned(),
        },
        6 => Happened::Interrupted(Kill {
            victim: Victim::Worker,
            signal: None,
        }),
        _ => return None,
    })
}

/// Returns the line of an event.
fn line(word: &Word, at: Moment) -> String {
    let task = TASKS[word.task];
    if let Some(happened) = happened(word.kind) {
        return AgentMemory.record(RUN, "x", task, word.attempt, &happened, at);
    }
    match word.kind {
        7 => Record::new("task_ready", RUN, at).task(task).line(),
        8 => Record::new("task_skipped", RUN, at).task(task).line(),
        9 => Record::new("session_resumed", RUN, at).line(),
        10 => Record::new("run_completed", RUN, at).line(),
        n => Record::new("phase_transition", RUN, at)
            .details(json!({"from_phase": 1, "to_phase": n - 10}))
            .line(),
    }
}

/// Writes the events one after the other, each by a writer who has read all earlier ones.
fn written(words: &[Word], clock: impl Fn(usize) -> Timestamp) -> Folded {
    let mut logs: BTreeMap<usize, String> = BTreeMap::new();
    let fold = |logs: &BTreeMap<usize, String>| {
        let mut world = Scene::new("docs prd").world;
        for (log, lines) in logs {
            let log = in_run(RUN, &format!("events/{}.jsonl", LOGS[*log]));
            world = world.file(log, lines);
        }
        let evidence = read::evidence(&world);
        evidence.runs[0].folded.clone()
    };
    for (number, word) in words.iter().enumerate() {
        let at = Moment::next(clock(number), fold(&logs).latest);
        let log = logs.entry(word.log).or_default();
        log.push_str(&line(word, at));
        log.push('\n');
    }
    fold(&logs)
}

/// Returns the folded events, without their times.
fn meaning(folded: &Folded) -> String {
    let tasks: Vec<String> = folded
        .tasks
        .iter()
        .map(|(id, task)| {
            format!(
                "{id}: {:?} {} {:?} {} {:?} {:?}",
                task.decided.map(|decided| decided.event),
                task.failures,
                task.trials,
                task.attempts,
                task.last_failed,
                task.landed.is_some(),
            )
        })
        .collect();
    let moves: Vec<i64> = folded.transitions.iter().map(|moved| moved.to).collect();
    format!("{tasks:?} {moves:?} {:?} {}", folded.ended, folded.reopened)
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    let word = (0..LOGS.len(), 0..TASKS.len(), 1..3_u32, 0..14_u8);
    let word = word.prop_map(|(log, task, attempt, kind)| Word {
        log,
        task,
        attempt,
        kind,
    });
    prop::collection::vec(word, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_clock_values_means_the_same_as_a_steady_clock(
        words in words(),
        clocks in prop::collection::vec(prop_oneof![
            0..4_000_000_000_i64,
            1_768_900_000..1_768_900_003_i64,
            Just(1_768_900_000_i64),
        ], 14),
    ) {
        let steady = |number: usize| {
            let seconds = 1_768_900_000 + i64::try_from(number).unwrap_or_default();
            Timestamp::from_second(seconds).unwrap()
        };
        let jumping = |number: usize| Timestamp::from_second(clocks[number]).unwrap();
        prop_assert_eq!(meaning(&written(&words, jumping)), meaning(&written(&words, steady)));
    }
}

#[test]
fn the_last_activity_is_the_clock_at_the_last_event() {
    let word = |kind: u8| Word {
        log: usize::from(kind % 2),
        task: 0,
        attempt: 1,
        kind,
    };
    let words = [word(0), word(1), word(4)];
    let clock = [
        "2026-01-19T10:00:00Z",
        "2030-01-01T00:00:00Z",
        "2026-01-19T11:00:00Z",
    ];
    let folded = written(&words, |number| clock[number].parse().unwrap());
    assert_eq!(folded.last_activity, Some(clock[2].parse().unwrap()));
    assert!(folded.latest > Some(clock[1].parse().unwrap()));
}
