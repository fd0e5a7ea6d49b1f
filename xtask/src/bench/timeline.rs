//! Where the time of a run went, from the stamps of its events and the begin and end of its git processes.
//!
//! A worker and the orchestrator do one thing after the other for a task, and between any two of
//! them stands an event or a git process. So the pieces lie end to end: with one worker they add up to
//! the run, with two to twice the run. Nothing is measured here and nothing is read from the disk.

use std::collections::BTreeMap;

use super::git_trace::{Process, moment, text};

/// The events of a task whose stamps are needed, in their order.
const WORDS: [&str; 4] = [
    "task_claimed",
    "task_started",
    "task_implemented",
    "task_completed",
];

/// When the four words about a task were said, in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default)]
struct Said([Option<i64>; 4]);

/// The parts of a run, each a mean of one task.
#[derive(Debug)]
pub(super) struct Timeline {
    /// Order written and worker started.
    pub(super) order: Part,
    pub(super) worktree: Part,
    pub(super) agent: Part,
    pub(super) snapshot: Part,
    pub(super) removal: Part,
    /// Worker ended and the orchestrator turned to the delivery.
    pub(super) turn: Part,
    pub(super) landing: Part,
    pub(super) events: Part,
    /// What is missing to the wall time.
    pub(super) rest: Part,
    /// Milliseconds from the stamp of one event until it is on the disk.
    pub(super) one_event: f64,
    /// Milliseconds between two git processes that follow each other.
    pub(super) pause: f64,
}

/// One part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Part {
    /// Its share of the wall time of a task.
    pub(super) milliseconds: f64,
    /// How many git processes it has.
    pub(super) n_processes: f64,
    /// How often these synced.
    pub(super) n_syncs: f64,
}

/// Returns the parts of a run.
///
/// `logs` are the lines of all its events, `wall` the milliseconds of one task.
pub(super) fn timeline(
    logs: &str,
    processes: &[Process],
    jobs: u32,
    wall: f64,
) -> Result<Timeline, String> {
    let mut tasks = said(logs)
        .into_iter()
        .map(|(task, Said(said))| {
            let lacking = || format!("the run's log lacks a word on `{task}`");
            let [
                Some(claimed),
                Some(started),
                Some(implemented),
                Some(completed),
            ] = said
            else {
                return Err(lacking());
            };
            let said = [claimed, started, implemented, completed];
            Ok((task.to_owned(), said))
        })
        .collect::<Result<Vec<_>, String>>()?;
    tasks.sort_by_key(|(_, [.., completed])| *completed);
    let mut sums = Sums::default();
    let mut landed_before = i64::MIN;
    for (task, said) in &tasks {
        let steps = Steps::find(task, *said, landed_before, processes)
            .ok_or_else(|| format!("git's trace does not tell all steps of `{task}`"))?;
        sums.add(*said, &steps);
        landed_before = said[3];
    }
    let claims: Vec<i64> = sorted(tasks.iter().map(|(_, [claimed, ..])| *claimed));
    let followers = claims
        .iter()
        .skip(usize::try_from(jobs).unwrap_or(usize::MAX));
    for ((_, [.., completed]), claimed) in tasks.iter().zip(followers) {
        sums.order += claimed - completed;
        sums.n_orders += 1;
    }
    Ok(sums.timeline(jobs, wall))
}

/// Collects who said what when; a word that was said twice counts when it was said last.
fn said(logs: &str) -> BTreeMap<&str, Said> {
    let mut said: BTreeMap<&str, Said> = BTreeMap::new();
    for line in logs.lines() {
        let word = text(line, "event_type");
        let Some(at) = WORDS.iter().position(|known| Some(*known) == word) else {
            continue;
        };
        if let Some(task) = text(line, "task_id") {
            let time = text(line, "timestamp").and_then(moment);
            said.entry(task).or_default().0[at] = time;
        }
    }
    said
}

/// The git processes of one task.
struct Steps<'a> {
    made: &'a Process,
    /// Those in its worktree, up to the one that keeps the commit.
    snapshot: Vec<&'a Process>,
    /// Those after it.
    removal: Vec<&'a Process>,
    landing: Vec<&'a Process>,
}

impl<'a> Steps<'a> {
    fn find(
        task: &str,
        [_, _, implemented, completed]: [i64; 4],
        landed_before: i64,
        processes: &'a [Process],
    ) -> Option<Self> {
        let named = format!("/{task}\"");
        let is_about = |process: &&Process, word: &str| {
            process.command == "worktree"
                && process.arguments.contains(&format!("\"{word}\""))
                && process.arguments.contains(&named)
        };
        let made = processes.iter().find(|one| is_about(one, "add"))?;
        let folder = format!("/{task}");
        let inside: Vec<&Process> = processes
            .iter()
            .filter(|one| one.worktree.ends_with(&folder))
            .collect();
        let kept = inside.iter().position(|one| one.command == "update-ref")?;
        let (snapshot, removal) = inside.split_at(kept + 1);
        let removed = processes.iter().filter(|one| is_about(one, "remove"));
        // The orchestrator works in the folder in which the worktree was asked for, on one task at a time.
        let begins = implemented.max(landed_before);
        let landing: Vec<&Process> = processes
            .iter()
            .filter(|one| one.worktree == made.worktree && one.command != "worktree")
            .filter(|one| (begins..completed).contains(&one.begin))
            .collect();
        (!landing.is_empty()).then(|| Self {
            made,
            snapshot: snapshot.to_vec(),
            removal: removal.iter().copied().chain(removed).collect(),
            landing,
        })
    }
}

/// Microseconds and counts of all tasks together.
#[derive(Default)]
struct Sums {
    n_tasks: u32,
    order: i64,
    n_orders: u32,
    /// From the first event to the git process after it.
    first_event: i64,
    worktree: i64,
    agent: i64,
    snapshot: i64,
    removal: i64,
    turn: i64,
    landing: i64,
    pauses: i64,
    n_pauses: u32,
    /// Processes and syncs of worktree, snapshot, removal and landing.
    counts: [(u32, u32); 4],
}

impl Sums {
    fn add(&mut self, [claimed, started, implemented, completed]: [i64; 4], steps: &Steps<'_>) {
        let (first, kept) = (steps.snapshot[0], steps.snapshot[steps.snapshot.len() - 1]);
        let landing = steps.landing[0];
        self.n_tasks += 1;
        self.first_event += steps.made.begin - claimed;
        self.worktree += started - claimed;
        self.agent += first.begin - started;
        self.snapshot += kept.end - first.begin;
        self.removal += implemented - kept.end;
        self.turn += landing.begin - implemented;
        self.landing += completed - landing.begin;
        for pair in steps.snapshot.windows(2) {
            self.pauses += pair[1].begin - pair[0].end;
            self.n_pauses += 1;
        }
        let groups = [
            std::slice::from_ref(&steps.made),
            steps.snapshot.as_slice(),
            steps.removal.as_slice(),
            steps.landing.as_slice(),
        ];
        for ((n_processes, n_syncs), group) in self.counts.iter_mut().zip(groups) {
            *n_processes += group.iter().map(|one| one.n_processes).sum::<u32>();
            *n_syncs += group.iter().map(|one| one.n_syncs).sum::<u32>();
        }
    }

    /// Takes events and pauses between processes out of the pieces in which they lie.
    fn timeline(&self, jobs: u32, wall: f64) -> Timeline {
        let n_tasks = f64::from(self.n_tasks);
        let pause = milliseconds(self.pauses) / f64::from(self.n_pauses);
        let one_event = milliseconds(self.first_event) / n_tasks - pause;
        // Several workers share the wall time.
        let share = |all: f64| all / n_tasks / f64::from(jobs);
        let part = |sum: i64, n_events: u32, n_pauses: f64, counts: (u32, u32)| Part {
            milliseconds: share(
                milliseconds(sum) - f64::from(n_events) * one_event + n_pauses * n_tasks * pause,
            ),
            n_processes: f64::from(counts.0) / n_tasks,
            n_syncs: f64::from(counts.1) / n_tasks,
        };
        let (each, none) = (self.n_tasks, (0, 0));
        let [of_worktree, of_snapshot, of_removal, of_landing] = self.counts;
        let mut timeline = Timeline {
            order: part(self.order, self.n_orders, 0.0, none),
            worktree: part(self.worktree, each, 0.0, of_worktree),
            agent: part(self.agent, each, -1.0, none),
            snapshot: part(self.snapshot, 0, 1.0, of_snapshot),
            removal: part(self.removal, 0, 0.0, of_removal),
            turn: part(self.turn, each, -1.0, none),
            landing: part(self.landing, 0, 1.0, of_landing),
            events: Part {
                milliseconds: share(f64::from(3 * each + self.n_orders) * one_event),
                ..Part::default()
            },
            rest: Part::default(),
            one_event,
            pause,
        };
        timeline.rest.milliseconds = wall - timeline.sum();
        timeline
    }
}

impl Timeline {
    /// Returns the milliseconds of all parts together.
    pub(super) fn sum(&self) -> f64 {
        [
            self.order,
            self.worktree,
            self.agent,
            self.snapshot,
            self.removal,
            self.turn,
            self.landing,
            self.events,
            self.rest,
        ]
        .iter()
        .map(|part| part.milliseconds)
        .sum()
    }
}

fn sorted(times: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut times: Vec<i64> = times.collect();
    times.sort_unstable();
    times
}

fn milliseconds(microseconds: i64) -> f64 {
    // Half an hour fits, and no run here takes that long.
    i32::try_from(microseconds).map_or(f64::NAN, f64::from) / 1000.0
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
