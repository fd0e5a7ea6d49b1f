//! Where a phase continues: the table's point, with its task or round of review.

use std::collections::{BTreeMap, BTreeSet};

use super::phase_state::{PhaseEvent, PhaseState};
use super::table::restart::{OPERATORS, Operator, RESTARTS, Reached, Trouble, Within};
use super::values::Event;

/// A rejected review is fixed and reviewed again this often; then a person decides.
const MOST_ROUNDS: u32 = 3;

/// The point where a phase continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Restart {
    pub(super) step: Lifecycle,
    /// The next task, as its prompt's file names it.
    pub(super) task: Option<String>,
    pub(super) review_round: Option<u32>,
    /// The position in the step, as an instruction to the executor.
    pub(super) how: String,
}

impl Restart {
    /// Returns whether every round that a review may have was rejected.
    pub(super) fn is_out_of_rounds(&self) -> bool {
        self.review_round.is_some_and(|round| round > MOST_ROUNDS)
    }
}

/// The steps of a phase, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lifecycle {
    Setup,
    Plan,
    Sharpen,
    Implement,
    Review,
    Complete,
    Reconcile,
    Archive,
}

impl Lifecycle {
    /// Returns the word.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Plan => "plan",
            Self::Sharpen => "sharpen",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Complete => "complete",
            Self::Reconcile => "reconcile",
            Self::Archive => "archive",
        }
    }
}

/// The tasks of a phase, from the files of its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskFiles {
    /// The numbers of `prompts/task_<NN>.md`, in order.
    pub(super) prompts: Vec<String>,
    /// Whether each existing `outputs/task_<NN>_output.md` reports success.
    pub(super) outputs: BTreeMap<String, bool>,
    /// Whether both planners have delivered.
    pub(super) has_both_plans: bool,
}

/// Decides where a phase continues; `is_retry` if it had failed and is tried again.
pub(super) fn restart(
    state: &PhaseState,
    files: &TaskFiles,
    debate_mode: u32,
    is_retry: bool,
) -> Restart {
    // A second setup starts a new run: events before it belong to another one.
    let is_again = state.n_runs() > 1;
    let state = &state.last_run();
    let is_progress = |event: &&PhaseEvent| !matches!(event.kind, Event::Error | Event::Halt);
    let Some(last) = state.events.iter().rfind(is_progress) else {
        return at(RESTARTS.last.then.step, RESTARTS.last.then.how);
    };
    let point = RESTARTS.decide(Reached {
        last: last.kind,
        has_both_plans: files.has_both_plans,
        debates: debate_mode > 1,
    });
    let in_round = |n_further: u32| {
        let round = round(state, last);
        Restart {
            review_round: Some(round.saturating_add(n_further)),
            ..at(
                point.step,
                &point.how.replace("{round}", &round.to_string()),
            )
        }
    };
    match point.within {
        Within::Whole => at(point.step, point.how),
        Within::FirstTask => Restart {
            task: files.prompts.first().cloned(),
            ..at(point.step, point.how)
        },
        Within::NextTask => implement(&Track::of(state, is_again), files, is_retry),
        Within::SameRound => in_round(0),
        Within::NextRound => in_round(1),
    }
}

/// Returns why a person must look at a phase before it continues.
pub(super) fn operator_reason(state: &PhaseState, restart: &Restart) -> Option<String> {
    let last = state.last().map(|event| event.kind);
    let operator = OPERATORS.decide(Trouble {
        is_out_of_rounds: restart.is_out_of_rounds(),
        is_marked: state.status == "needs-operator-review",
        has_failed: matches!(last, Some(Event::Error | Event::Halt)),
        is_past_review: restart.step >= Lifecycle::Complete,
    });
    match operator {
        Operator::Nobody => None,
        Operator::Rounds => Some(format!("{MOST_ROUNDS} review rounds were rejected")),
        Operator::Marked => Some("its state file says needs-operator-review".to_owned()),
    }
}

fn at(step: Lifecycle, how: &str) -> Restart {
    Restart {
        step,
        task: None,
        review_round: None,
        how: how.to_owned(),
    }
}

/// Finds the next incomplete task; without one the phase is reviewed.
fn implement(track: &Track, files: &TaskFiles, is_retry: bool) -> Restart {
    let succeeded = |task: &String| {
        let by_output = files.outputs.get(task).copied() == Some(true) && track.may_have(task);
        number(task).is_some_and(|number| track.succeeded.contains(&number)) || by_output
    };
    let failed = |task: &String| number(task).is_some_and(|number| track.failed.contains(&number));
    let n_failed = files
        .prompts
        .iter()
        .filter(|task| failed(task) && !succeeded(task))
        .count();
    // The phase continues if at most half of the tasks fail; a retry repeats the failed ones.
    let may_continue = n_failed * 2 <= files.prompts.len() && !is_retry;
    let is_open = |task: &&String| !(succeeded(task) || (may_continue && failed(task)));
    if let Some(task) = files.prompts.iter().find(is_open) {
        return Restart {
            task: Some(task.clone()),
            ..at(
                Lifecycle::Implement,
                &format!("task {task} is the first that is not done"),
            )
        };
    }
    if files.prompts.is_empty() && !track.is_complete {
        let open = track.open.map(|number| format!("{number:02}"));
        return Restart {
            task: open,
            ..at(
                Lifecycle::Implement,
                "continue with the first task that is not done",
            )
        };
    }
    Restart {
        review_round: Some(1),
        ..at(Lifecycle::Review, "every task was done: review")
    }
}

/// The tasks, from the events.
#[derive(Debug, Default)]
struct Track {
    succeeded: BTreeSet<u32>,
    failed: BTreeSet<u32>,
    /// The last task that was started and has not ended.
    open: Option<u32>,
    /// Whether the implementation was reported complete.
    is_complete: bool,
    /// The highest task that was started, if events name any.
    furthest: Option<u32>,
    /// Whether the phase had an earlier run, which outputs may belong to.
    is_again: bool,
}

impl Track {
    fn of(state: &PhaseState, is_again: bool) -> Self {
        let mut track = Self {
            is_again,
            ..Self::default()
        };
        for event in &state.events {
            let task = after(&event.description, "task");
            if is_of_task(event.kind) {
                track.furthest = track.furthest.max(task);
            }
            match (event.kind, task) {
                (Event::TaskStart | Event::TaskRetry, Some(task)) => {
                    track.open = Some(task);
                    track.failed.remove(&task);
                    track.is_complete = false;
                }
                (Event::TaskSuccess, Some(task)) => {
                    track.succeeded.insert(task);
                    track.failed.remove(&task);
                    track.open.take_if(|open| *open == task);
                }
                (Event::TaskFail, Some(task)) => {
                    track.failed.insert(task);
                    track.open.take_if(|open| *open == task);
                }
                (Event::TaskSuccess, None) => {
                    track.is_complete = event.description.starts_with("Implementation complete");
                }
                _ => {}
            }
        }
        track
    }

    /// Returns whether an output can belong to this run: tasks are done in order, so an output of a
    /// later task was left by an earlier phase or run.
    fn may_have(&self, task: &str) -> bool {
        let is_ahead = self
            .furthest
            .is_some_and(|furthest| number(task).is_none_or(|number| number > furthest));
        !self.is_again && !is_ahead
    }
}

fn is_of_task(event: Event) -> bool {
    matches!(
        event,
        Event::TaskStart | Event::TaskRetry | Event::TaskSuccess | Event::TaskFail
    )
}

/// Returns the round of an event: from its description, else by counting reviews.
fn round(state: &PhaseState, event: &PhaseEvent) -> u32 {
    let before = state
        .events
        .iter()
        .take_while(|other| other.line <= event.line);
    let begun = before
        .filter(|other| other.kind == Event::ReviewStart)
        .count();
    after(&event.description, "round")
        .filter(|round| *round > 0)
        .unwrap_or_else(|| u32::try_from(begun).unwrap_or(u32::MAX).max(1))
}

/// Returns the number after a word, as in `Starting task 03`.
fn after(text: &str, word: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let places = lower.match_indices(word).map(|(at, _)| at + word.len());
    places.filter_map(|at| lower.get(at..)).find_map(|rest| {
        let digits = rest.trim_start_matches([' ', '_', '#', '-']);
        let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
        digits.get(..n_digits)?.parse().ok()
    })
}

fn number(task: &str) -> Option<u32> {
    task.parse().ok()
}

#[cfg(test)]
#[path = "restart_tests.rs"]
mod tests;
