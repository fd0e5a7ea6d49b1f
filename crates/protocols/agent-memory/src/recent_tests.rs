//! Tests of what a hook finds and opens among thousands of runs.

use jiff::{SignedDuration, Timestamp};
use rekindle_world::{MemoryWorld, Recorder};

use rekindle_protocol::capability::Finished;

use super::*;

const SUMMARY: &str =
    "# Run Summary: orders\n\n## Outcome\n\nsuccess\n\n## Statistics\n\n- Tasks: 1/1\n";

fn began(minute: usize) -> Timestamp {
    let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    noon + SignedDuration::from_mins(i64::try_from(minute).unwrap())
}

fn name(minute: usize) -> String {
    let stamp = began(minute).strftime("%Y%m%d-%H%M").to_string();
    format!("{stamp}-orders-a1b2")
}

/// The files of a run.
#[derive(Clone, Copy)]
enum Run {
    /// It has events and no end.
    Open,
    /// An event closed it, and it has no summary.
    Ended,
    /// It has its summary, and its events have an end.
    Closed,
    /// So has this one, and a session was started after that.
    Reopened,
}

fn with(world: MemoryWorld, minute: usize, run: Run) -> MemoryWorld {
    let folder = layout::run_folder(&name(minute));
    let line = |kind: &str, hour: u32| {
        format!(
            "{{\"event_type\":\"{kind}\",\"timestamp\":\"2026-03-01T{hour:02}:00:00Z\",\"actor\":\"orchestrator\",\"details\":{{}}}}\n"
        )
    };
    let mut log = line("session_resumed", 9);
    let (is_ended, is_summed_up, last) = match run {
        Run::Open => (false, false, began(minute)),
        Run::Ended => (true, false, began(minute)),
        Run::Closed => (true, true, began(minute)),
        Run::Reopened => (true, true, began(minute) + SignedDuration::from_hours(1)),
    };
    if is_ended {
        log += &line("run_completed", 10);
    }
    if let Run::Reopened = run {
        log += &line("session_resumed", 11);
    }
    let logs = folder.join("events/orchestrator");
    let world = world
        .file(folder.join("prd.md"), SUMMARY)
        .file(logs.join("a.jsonl"), log)
        .written_at(logs, last);
    if !is_summed_up {
        return world;
    }
    let summary = folder.join("summary.md");
    world
        .file(&summary, SUMMARY)
        .written_at(summary, began(minute) + SignedDuration::from_secs(1))
}

fn runs(n: usize, run: impl Fn(usize) -> Run) -> MemoryWorld {
    let world = MemoryWorld::new("/w", began(n));
    (0..n).fold(world, |world, minute| with(world, minute, run(minute)))
}

/// Returns the open runs, how many were not read, and how many files and folders were opened.
fn opened(world: &MemoryWorld) -> (Vec<String>, usize, usize) {
    let (open, n_opened) = look(world, &Finished::new());
    let names = open.workflows.into_iter().map(|summary| summary.id.name);
    (names.collect(), open.unread, n_opened)
}

/// Looks for open runs; returns also how many files and folders were opened.
fn look(world: &MemoryWorld, finished: &Finished) -> (Open, usize) {
    let since = Timestamp::MIN;
    let recorder = Recorder::new(world);
    let open = AgentMemory.open(&recorder, &Known { since, finished });
    let recording = String::from_utf8(recorder.finish()).unwrap();
    let opens = |line: &&str| {
        ["list", "contents", "end"].map(|kind| line.starts_with(&format!("{{\"ask\":{{\"{kind}\"")))
            != [false; 3]
    };
    let n_opened = recording.lines().filter(opens).count();
    (open, n_opened)
}

#[test]
fn runs_that_an_earlier_look_found_ended_are_not_opened_again() {
    let world = |n: usize| {
        runs(n, |minute| match minute {
            7 => Run::Open,
            _ => Run::Ended,
        })
    };
    let (first, n_first) = look(&world(700), &Finished::new());
    let (again, n_again) = look(&world(700), &first.finished);
    assert_eq!(
        again.finished,
        Finished::new(),
        "nothing new is worth recording"
    );
    assert_eq!(again.workflows, first.workflows);
    assert_eq!((again.unread, first.unread), (0, 0));
    assert_eq!(first.finished.len(), 700 - 17);
    assert_eq!(first.workflows.len(), 1);
    // A listing and a log for each.
    assert_eq!(n_first - n_again, 2 * first.finished.len());
    // With enough new ones all are recorded again, the old ones by their names.
    let (later, _) = look(&world(800), &first.finished);
    assert_eq!(later.finished.len(), 800 - 17);
    assert_eq!(later.finished[&name(8)], "");
    assert_ne!(later.finished[&name(750)], "");
    // Of the newest a log that has grown, or a new one, is looked at again.
    let grown = layout::run_folder(&name(650)).join("events/orchestrator");
    let resumed = "{\"event_type\":\"session_resumed\",\"timestamp\":\"2026-03-01T11:00:00Z\",\"actor\":\"orchestrator\",\"details\":{}}\n";
    for (log, at) in [("a.jsonl", began(650)), ("b.jsonl", began(651))] {
        let world = world(700)
            .file(grown.join(log), resumed)
            .written_at(&grown, at);
        let (open, _) = look(&world, &first.finished);
        let open: Vec<String> = open.workflows.into_iter().map(|it| it.id.name).collect();
        assert_eq!(open, [name(7), name(650)], "{log}");
    }
}

#[test]
fn does_not_open_finished_runs() {
    let of = |n: usize| {
        opened(&runs(n, |minute| match minute {
            0 => Run::Open,
            _ => Run::Closed,
        }))
    };
    let (few, many) = (of(50), of(300));
    assert_eq!(few, (vec![name(0)], 0, few.2));
    assert_eq!(many, few);
}

#[test]
fn finds_a_reopened_run_by_its_session() {
    let world = runs(300, |minute| match minute {
        7 => Run::Reopened,
        _ => Run::Closed,
    });
    let (open, unread, _) = opened(&world);
    assert_eq!((open, unread), (vec![name(7)], 0));
}

#[test]
fn opens_only_the_last_log_of_runs_closed_by_an_event() {
    let of = |n: usize| {
        opened(&runs(n, |minute| match minute {
            0 | 7 => Run::Open,
            _ => Run::Ended,
        }))
    };
    let (few, many) = (of(100), of(500));
    assert_eq!((few.0, few.1), (vec![name(0), name(7)], 0));
    assert_eq!((many.0, many.1), (vec![name(0), name(7)], 0));
    // A listing and a log for each.
    assert_eq!(many.2, few.2 + 2 * 400);
}

#[test]
fn reads_the_newest_open_runs_and_counts_the_rest() {
    let (open, unread, _) = opened(&runs(500, |_| Run::Open));
    assert_eq!(open.len() + unread, 500);
    assert_eq!(open.last(), Some(&name(499)));
    assert!(unread > 0);
}

#[test]
fn opens_only_the_requested_run() {
    let of = |n: usize| {
        let world = runs(n, |_| Run::Open);
        let recorder = Recorder::new(&world);
        let ask = Ask {
            name: Some(name(3)),
            alone: true,
            ..Ask::default()
        };
        let case = AgentMemory.inspect(&recorder, &ask);
        assert_eq!(case.assessment().id.as_ref().unwrap().name, name(3));
        String::from_utf8(recorder.finish())
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(of(5), of(50));
}
