//! Decides what may start and land, as a pure state machine.
//!
//! The board identifies tasks by their index in the plan. It is given events
//! and returns what is due; it has no effects and no clock.

use std::time::Duration;

use rekindle_model::{Delivery, FailureKind, Kill, Standing, WorkTask};
use rekindle_text::times;

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// It can start when its dependencies have landed.
    Open,
    /// An attempt is running.
    Running { attempt: u32 },
    /// An attempt's delivery waits to land.
    Delivered { attempt: u32, delivery: Delivery },
    /// It is on the branch.
    Landed,
    /// It was skipped.
    Skipped,
    /// It needs a person.
    Blocked { reason: String },
}

/// What the board knows about a task, besides its state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    state: State,
    failures: u32,
    conflicts: u32,
    /// How often its worker or agent was killed from outside.
    interruptions: u32,
    /// Whether its agent last reached a limit whose end was already past.
    hurried: bool,
    /// The highest attempt number so far.
    attempts: u32,
}

/// The state of all tasks of a run.
#[derive(Debug)]
pub(crate) struct Board {
    needs: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
    /// Tasks that share a declared file, which do not run in parallel.
    neighbors: Vec<Vec<usize>>,
    entries: Vec<Entry>,
    retries: u32,
    /// The number of dependencies of each task that have not landed.
    missing: Vec<usize>,
    /// Open tasks whose dependencies have all landed, in plan order.
    ready: std::collections::BTreeSet<usize>,
    delivered: std::collections::BTreeSet<usize>,
    running: std::collections::BTreeSet<usize>,
}

/// The consequence of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// The task is retried.
    Retry,
    /// The task is given up; it needs a person.
    GiveUp { reason: String },
}

/// A task whose workers are killed this often counts as the cause.
const MOST_INTERRUPTIONS: u32 = 10;
/// How often a conflict is handed back.
const MOST_CONFLICTS: u32 = 1;
/// How long to wait if an agent's limit has no known end.
const LIMIT_WAIT: Duration = Duration::from_secs(300);
/// How long to wait if the end of a limit is past, for clocks that differ slightly.
const LIMIT_OVER: Duration = Duration::from_secs(1);

impl Board {
    /// Returns the board from a run's record; git and locks come after.
    pub(crate) fn new(tasks: &[WorkTask], retries: u32) -> Self {
        let needs: Vec<Vec<usize>> = tasks.iter().map(|task| task.needs.clone()).collect();
        let mut dependents = vec![Vec::new(); tasks.len()];
        for (task, needs) in needs.iter().enumerate() {
            for &need in needs {
                dependents[need].push(task);
            }
        }
        let entries = tasks.iter().map(|task| Entry::new(task, retries)).collect();
        let mut board = Self {
            missing: needs.iter().map(Vec::len).collect(),
            needs,
            dependents,
            neighbors: neighbors(tasks),
            entries,
            retries,
            ready: [].into(),
            delivered: [].into(),
            running: [].into(),
        };
        board.count();
        board
    }

    /// Counts the missing dependencies; later changes update the counts one by one.
    fn count(&mut self) {
        for task in 0..self.entries.len() {
            let missing = self.needs[task]
                .iter()
                .filter(|&&need| self.entries[need].state != State::Landed);
            self.missing[task] = missing.count();
        }
        for task in 0..self.entries.len() {
            self.place(task);
        }
    }

    /// Adds a task to the sets of its state.
    fn place(&mut self, task: usize) {
        let state = &self.entries[task].state;
        let set = |set: &mut std::collections::BTreeSet<usize>, is_in: bool| {
            if is_in {
                set.insert(task);
            } else {
                set.remove(&task);
            }
        };
        set(
            &mut self.ready,
            *state == State::Open && self.missing[task] == 0,
        );
        set(
            &mut self.delivered,
            matches!(state, State::Delivered { .. }),
        );
        set(&mut self.running, matches!(state, State::Running { .. }));
    }

    fn set(&mut self, task: usize, state: State) {
        let was_landed = self.entries[task].state == State::Landed;
        let is_landed = state == State::Landed;
        self.entries[task].state = state;
        self.place(task);
        if was_landed == is_landed {
            return;
        }
        for dependent in self.dependents[task].clone() {
            if is_landed {
                self.missing[dependent] -= 1;
            } else {
                self.missing[dependent] += 1;
            }
            self.place(dependent);
        }
    }

    pub(crate) fn state(&self, task: usize) -> &State {
        &self.entries[task].state
    }

    pub(crate) fn n_running(&self) -> usize {
        self.running.len()
    }

    /// Returns the first task that may start, in plan order.
    pub(crate) fn startable(&self) -> Option<usize> {
        self.ready.iter().find(|task| self.is_free(**task)).copied()
    }

    /// Returns whether a task may start.
    pub(crate) fn may_start(&self, task: usize) -> bool {
        self.ready.contains(&task) && self.is_free(task)
    }

    /// Returns whether no task that declares one of its files is at work.
    fn is_free(&self, task: usize) -> bool {
        let at_work = |neighbor: &usize| {
            matches!(
                self.entries[*neighbor].state,
                State::Running { .. } | State::Delivered { .. }
            )
        };
        !self.neighbors[task].iter().any(at_work)
    }

    /// Returns the first delivery in plan order.
    pub(crate) fn landable(&self) -> Option<(usize, u32, Delivery)> {
        let &task = self.delivered.first()?;
        match &self.entries[task].state {
            State::Delivered { attempt, delivery } => Some((task, *attempt, delivery.clone())),
            State::Open
            | State::Running { .. }
            | State::Landed
            | State::Skipped
            | State::Blocked { .. } => None,
        }
    }

    /// Returns the number of the next attempt of a task.
    pub(crate) fn next_attempt(&self, task: usize) -> u32 {
        self.entries[task].attempts.saturating_add(1)
    }

    pub(crate) fn started(&mut self, task: usize, attempt: u32) {
        let entry = &mut self.entries[task];
        entry.attempts = entry.attempts.max(attempt);
        self.set(task, State::Running { attempt });
    }

    pub(crate) fn delivered(&mut self, task: usize, attempt: u32, delivery: Delivery) {
        let entry = &mut self.entries[task];
        entry.attempts = entry.attempts.max(attempt);
        self.set(task, State::Delivered { attempt, delivery });
    }

    pub(crate) fn landed(&mut self, task: usize) {
        self.set(task, State::Landed);
    }

    pub(crate) fn blocked(&mut self, task: usize, reason: String) {
        self.set(task, State::Blocked { reason });
    }

    /// Reopens a task that is recorded as done without a commit.
    pub(crate) fn reopened(&mut self, task: usize) {
        self.set(task, State::Open);
    }

    /// Records that an attempt number was used, so that the next is higher.
    pub(crate) fn attempt_seen(&mut self, task: usize, attempt: u32) {
        let entry = &mut self.entries[task];
        entry.attempts = entry.attempts.max(attempt);
    }

    /// An attempt reported a failure.
    pub(crate) fn failed(&mut self, task: usize, reason: &str, kind: FailureKind) -> Next {
        let entry = &mut self.entries[task];
        entry.failures = entry.failures.saturating_add(1);
        entry.hurried = false;
        if kind == FailureKind::Conflict {
            entry.conflicts += 1;
        }
        let next = if entry.conflicts > MOST_CONFLICTS {
            let reason = format!("it conflicts again with landed work: {reason}");
            Next::GiveUp { reason }
        } else if entry.failures > self.retries {
            let reason = format!("it failed {}: {reason}", times(entry.failures));
            Next::GiveUp { reason }
        } else {
            Next::Retry
        };
        match &next {
            Next::Retry => self.set(task, State::Open),
            Next::GiveUp { reason } => self.blocked(task, reason.clone()),
        }
        next
    }

    /// An attempt ended without a report: its worker or agent was killed.
    pub(crate) fn interrupted(&mut self, task: usize, kill: Kill) -> Next {
        let entry = &mut self.entries[task];
        entry.interruptions += 1;
        if entry.interruptions > MOST_INTERRUPTIONS {
            let reason = format!("{}; the last time {kill}", lost(entry.interruptions));
            self.blocked(task, reason.clone());
            return Next::GiveUp { reason };
        }
        self.set(task, State::Open);
        Next::Retry
    }

    /// An attempt reached its agent's limit, which ends after this time, if known. Returns how long to wait.
    pub(crate) fn limited(&mut self, task: usize, until: Option<Duration>) -> Duration {
        self.put_back(task);
        let entry = &mut self.entries[task];
        let is_over = until == Some(Duration::ZERO);
        // A limit that continues after its own end must not be retried without a pause.
        let again = std::mem::replace(&mut entry.hurried, is_over);
        match until {
            Some(wait) if !is_over => wait,
            Some(_) if !again => LIMIT_OVER,
            Some(_) | None => LIMIT_WAIT,
        }
    }

    /// An attempt was stopped by a person or has to wait; it does not count as a failure.
    pub(crate) fn put_back(&mut self, task: usize) {
        self.set(task, State::Open);
    }

    pub(crate) fn tally(&self) -> Tally {
        let count = |wanted: fn(&State) -> bool| {
            self.entries
                .iter()
                .filter(|entry| wanted(&entry.state))
                .count()
        };
        let landed = count(|state| *state == State::Landed);
        let skipped = count(|state| *state == State::Skipped);
        let blocked = count(|state| matches!(state, State::Blocked { .. }));
        let running = self.running.len();
        Tally {
            landed,
            running,
            blocked,
            left: self.entries.len() - landed - skipped - blocked - running,
            total: self.entries.len(),
            skipped,
        }
    }

    /// Returns the open tasks that need others which have not landed, with those, in plan order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (usize, Vec<usize>)> {
        let open = (0..self.entries.len())
            .filter(|task| self.entries[*task].state == State::Open && self.missing[*task] > 0);
        open.map(|task| {
            let is_missing = |need: &usize| self.entries[*need].state != State::Landed;
            let needs = self.needs[task].iter().copied();
            (task, needs.filter(is_missing).collect())
        })
    }

    /// Returns the tasks that were given up, with their reasons, in plan order.
    pub(crate) fn given_up(&self) -> impl Iterator<Item = (usize, &str)> {
        self.entries
            .iter()
            .enumerate()
            .filter_map(|(task, entry)| match &entry.state {
                State::Blocked { reason } => Some((task, reason.as_str())),
                State::Open
                | State::Running { .. }
                | State::Delivered { .. }
                | State::Landed
                | State::Skipped => None,
            })
    }
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Landed.
    pub landed: usize,
    /// Running.
    pub running: usize,
    /// Waiting for a person.
    pub blocked: usize,
    /// Skipped.
    pub skipped: usize,
    /// Not started, or waiting to land.
    pub left: usize,
    /// All.
    pub total: usize,
}

impl Entry {
    fn new(task: &WorkTask, retries: u32) -> Self {
        let reason = || {
            task.reason
                .clone()
                .unwrap_or_else(|| "it needs a task that was skipped".to_owned())
        };
        let failures = task.failures;
        let state = match task.standing {
            Standing::Open if task.unreachable => State::Blocked {
                reason: "it needs a task that the plan lacks".to_owned(),
            },
            // The orchestrator died after the last failure and before it gave up the task.
            Standing::Open if failures > retries => State::Blocked {
                reason: format!("it failed {}: {}", times(failures), reason()),
            },
            Standing::Open if task.conflicts > MOST_CONFLICTS => State::Blocked {
                reason: format!("it conflicts again with landed work: {}", reason()),
            },
            Standing::Open if task.interruptions > MOST_INTERRUPTIONS => State::Blocked {
                reason: lost(task.interruptions),
            },
            Standing::Open => State::Open,
            // Whether it is alive is decided by its claim, which is checked next.
            Standing::AtWork => State::Blocked {
                reason: "its worker is gone".to_owned(),
            },
            Standing::Blocked => State::Blocked { reason: reason() },
            Standing::Skipped => State::Skipped,
            Standing::Done => State::Landed,
        };
        Self {
            state,
            failures: task.failures,
            conflicts: task.conflicts,
            interruptions: task.interruptions,
            hurried: false,
            attempts: task.attempts,
        }
    }
}

fn lost(interruptions: u32) -> String {
    format!("it was lost {}", times(interruptions))
}

/// Returns for each task the others that declare one of its files.
fn neighbors(tasks: &[WorkTask]) -> Vec<Vec<usize>> {
    let mut owners: std::collections::HashMap<&str, Vec<usize>> = std::collections::HashMap::new();
    for (task, entry) in tasks.iter().enumerate() {
        for file in &entry.files {
            owners.entry(file).or_default().push(task);
        }
    }
    let mut neighbors = vec![std::collections::BTreeSet::new(); tasks.len()];
    for sharing in owners.values() {
        // A file that every task declares would make the number of pairs quadratic, and means nothing.
        if sharing.len() > 64 {
            continue;
        }
        for &task in sharing {
            neighbors[task].extend(sharing.iter().copied().filter(|&other| other != task));
        }
    }
    neighbors
        .into_iter()
        .map(|set| set.into_iter().collect())
        .collect()
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
