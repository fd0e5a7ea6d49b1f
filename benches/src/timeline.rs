//! Where the time of a run went, from the timestamps of its events and of its git processes.
//!
//! A worker and the orchestrator do one thing after another for a task, with an event or a git process
//! between any two of them. So the parts add up to the run with one worker, and to twice the run with two.
//! This module neither measures nor reads files.

use std::collections::BTreeMap;

use crate::git_trace::{Process, moment, text};

/// The events that delimit the parts, in their order.
const EVENTS: [&str; 4] = [
    "task_claimed",
    "task_started",
    "task_implemented",
    "task_completed",
];

/// The timestamps of these events of one task, in microseconds since 1970.
type Stamps = [i64; 4];

/// The names of the parts, and how each is computed.
pub(crate) const PARTS: [(&str, &str); 9] = [
    (
        "order written, worker started",
        "`task_completed` to `task_claimed` of the next task, less an event",
    ),
    (
        "worktree made",
        "`task_claimed` to `task_started`, less an event",
    ),
    (
        "agent started and ended",
        "`task_started` to the first git process in the worktree, less an event and a pause",
    ),
    (
        "snapshot and commit",
        "from there to the end of `git update-ref`, with the pause before",
    ),
    ("worktree removed", "from there to `task_implemented`"),
    (
        "worker ended, orchestrator notified",
        "`task_implemented` to the first git process of the landing, less an event and a pause",
    ),
    (
        "landing",
        "from there to `task_completed`, with the pause before",
    ),
    ("synced events, four per task", "four times an event"),
    (
        "rest: start and end of the run",
        "wall time less all of the above",
    ),
];

/// A run, as means of one task.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// The wall time in milliseconds.
    pub(crate) wall: f64,
    /// As in [`PARTS`].
    pub(crate) parts: [Part; 9],
    /// Milliseconds from the timestamp of an event until it is synced.
    pub(crate) one_event: f64,
    /// Milliseconds between two git processes.
    pub(crate) pause: f64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part {
    /// Its share of the wall time of a task.
    pub(crate) milliseconds: f64,
    /// The number of git processes.
    pub(crate) n_processes: f64,
    /// How often these synced.
    pub(crate) n_syncs: f64,
}

/// Returns the parts of a run.
///
/// `logs` has the lines of all its events, and `wall` is the milliseconds of one task.
pub(crate) fn timeline(
    logs: &str,
    processes: &[Process],
    jobs: u32,
    wall: f64,
) -> Result<Timeline, String> {
    let mut tasks = Vec::new();
    for (task, stamps) in stamps(logs) {
        let [
            Some(claimed),
            Some(started),
            Some(implemented),
            Some(completed),
        ] = stamps
        else {
            return Err(format!("the log lacks an event of `{task}`"));
        };
        tasks.push((task, [claimed, started, implemented, completed]));
    }
    tasks.sort_by_key(|(_, [.., completed])| *completed);
    let mut sums = Sums::default();
    let mut landed_before = i64::MIN;
    for (task, stamps) in &tasks {
        let steps = Steps::find(task, *stamps, landed_before, processes)
            .ok_or_else(|| format!("git's trace lacks a step of `{task}`"))?;
        sums.add(*stamps, &steps);
        landed_before = stamps[3];
    }
    let mut claims: Vec<i64> = tasks.iter().map(|(_, [claimed, ..])| *claimed).collect();
    claims.sort_unstable();
    let n_workers = usize::try_from(jobs).unwrap_or(usize::MAX);
    for ((_, [.., completed]), claimed) in tasks.iter().zip(claims.iter().skip(n_workers)) {
        sums.spans[0] += claimed - completed;
        sums.n_orders += 1;
    }
    Ok(sums.timeline(jobs, wall))
}

/// Collects the timestamps by task; the last event of a kind counts.
fn stamps(logs: &str) -> BTreeMap<&str, [Option<i64>; 4]> {
    let mut stamps: BTreeMap<&str, [Option<i64>; 4]> = BTreeMap::new();
    for line in logs.lines() {
        let kind = text(line, "event_type");
        let at = EVENTS.iter().position(|known| Some(*known) == kind);
        if let (Some(at), Some(task)) = (at, text(line, "task_id")) {
            let time = text(line, "timestamp").and_then(moment);
            stamps.entry(task).or_default()[at] = time;
        }
    }
    stamps
}

/// The git processes of one task.
struct Steps<'a> {
    made: &'a Process,
    /// Those of its worker, up to the one that saves the commit.
    snapshot: Vec<&'a Process>,
    /// Those after it.
    removal: Vec<&'a Process>,
    landing: Vec<&'a Process>,
}

impl<'a> Steps<'a> {
    fn find(
        task: &str,
        [_, _, implemented, completed]: Stamps,
        landed_before: i64,
        processes: &'a [Process],
    ) -> Option<Self> {
        let of_worktree = |process: &&Process, word: &str| {
            process.command == "worktree"
                && process.arguments.contains(&format!("\"{word}\""))
                && process.arguments.contains(&format!("/{task}\""))
        };
        let made = processes.iter().find(|one| of_worktree(one, "add"))?;
        // It runs in the main worktree, as do all that follow and name the commit.
        let named = format!("/{task}/");
        let is_save =
            |one: &&Process| one.command == "update-ref" && one.arguments.contains(&named);
        let saved = processes.iter().find(is_save)?;
        let commit = saved.arguments.split('"').find(|word| is_id(word))?;
        let folder = format!("/{task}");
        let is_workers = |one: &&Process| {
            one.worktree.ends_with(&folder)
                || one.begin < implemented && one.arguments.contains(commit)
        };
        let (snapshot, mut removal): (Vec<&Process>, Vec<_>) = processes
            .iter()
            .filter(is_workers)
            .partition(|one| one.begin <= saved.begin);
        removal.extend(processes.iter().filter(|one| of_worktree(one, "remove")));
        // The orchestrator works in the main worktree, on one task at a time.
        let of_others = |one: &Process| match one.command.as_str() {
            "worktree" => true,
            "rev-list" => !one.arguments.contains(commit),
            "update-ref" => one.arguments.split('"').any(is_id),
            _ => false,
        };
        let start = implemented.max(landed_before);
        let landing: Vec<&Process> = processes
            .iter()
            .filter(|one| one.worktree == made.worktree && !of_others(one))
            .filter(|one| (start..completed).contains(&one.begin))
            .collect();
        (!landing.is_empty()).then_some(Self {
            made,
            snapshot,
            removal,
            landing,
        })
    }
}

/// Returns whether a word is the id of a commit.
fn is_id(word: &str) -> bool {
    word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Microseconds and counts of all tasks together.
#[derive(Default)]
struct Sums {
    n_tasks: u32,
    n_orders: u32,
    /// From the first event of a task to the next git process.
    first_event: i64,
    /// The parts before events and pauses are separated.
    spans: [i64; 7],
    pauses: i64,
    n_pauses: u32,
    /// Processes and syncs of the parts.
    counts: [(u32, u32); 7],
}

impl Sums {
    fn add(&mut self, [claimed, started, implemented, completed]: Stamps, steps: &Steps<'_>) {
        let Steps {
            made,
            snapshot,
            removal,
            landing,
        } = steps;
        let (first, saved) = (snapshot[0], snapshot[snapshot.len() - 1]);
        self.n_tasks += 1;
        self.first_event += made.begin - claimed;
        let spans = [
            0,
            started - claimed,
            first.begin - started,
            saved.end - first.begin,
            implemented - saved.end,
            landing[0].begin - implemented,
            completed - landing[0].begin,
        ];
        for (sum, span) in self.spans.iter_mut().zip(spans) {
            *sum += span;
        }
        for pair in snapshot.windows(2) {
            self.pauses += pair[1].begin - pair[0].end;
            self.n_pauses += 1;
        }
        let groups: [&[&Process]; 7] = [&[], &[made], &[], snapshot, removal, &[], landing];
        for ((n_processes, n_syncs), group) in self.counts.iter_mut().zip(groups) {
            *n_processes += group.iter().map(|one| one.n_processes).sum::<u32>();
            *n_syncs += group.iter().map(|one| one.n_syncs).sum::<u32>();
        }
    }

    /// Separates events and pauses from the parts.
    fn timeline(&self, jobs: u32, wall: f64) -> Timeline {
        let n_tasks = f64::from(self.n_tasks);
        let pause = milliseconds(self.pauses) / f64::from(self.n_pauses);
        let one_event = milliseconds(self.first_event) / n_tasks - pause;
        // Several workers share the wall time.
        let share = |all: f64| all / n_tasks / f64::from(jobs);
        let n_orders = f64::from(self.n_orders);
        // How many events each span contains, and how many pauses it gains.
        let corrections = [
            (n_orders, 0.0),
            (n_tasks, 0.0),
            (n_tasks, -n_tasks),
            (0.0, n_tasks),
            (0.0, 0.0),
            (n_tasks, -n_tasks),
            (0.0, n_tasks),
        ];
        let mut parts = [Part::default(); 9];
        let spans = self.spans.iter().zip(&self.counts).zip(corrections);
        for (part, ((span, counts), (n_events, n_pauses))) in parts.iter_mut().zip(spans) {
            let span = milliseconds(*span) - n_events * one_event + n_pauses * pause;
            part.milliseconds = share(span);
            part.n_processes = f64::from(counts.0) / n_tasks;
            part.n_syncs = f64::from(counts.1) / n_tasks;
        }
        parts[7].milliseconds = share((3.0 * n_tasks + n_orders) * one_event);
        parts[8].milliseconds = wall - parts.iter().map(|part| part.milliseconds).sum::<f64>();
        Timeline {
            wall,
            parts,
            one_event,
            pause,
        }
    }
}

fn milliseconds(microseconds: i64) -> f64 {
    // Half an hour fits, and no run here takes that long.
    i32::try_from(microseconds).map_or(f64::NAN, f64::from) / 1000.0
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
