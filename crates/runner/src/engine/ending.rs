//! The result of a call of the engine.

use rekindle_model::{Work, WorkTask};

use super::board::{Board, State};
use super::ledger::Ledger;
use super::{Cost, HeldBack, Tally};

/// The result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The progress.
    pub tally: Tally,
    /// Tasks that landed and changed nothing, in plan order; those of earlier orchestrators too.
    pub unchanged: Vec<String>,
    /// Tasks that need a person.
    pub given_up: Vec<GivenUp>,
    /// Whether a person ended it.
    pub stopped: bool,
    /// Whether it ended because the cost limit was reached.
    pub over_budget: bool,
    /// Why the agent did not start, so that no attempt could succeed.
    pub cannot_start: Option<String>,
    /// How many attempts were started by this orchestrator.
    pub attempts: u32,
    /// How many attempts the whole run has had, by all orchestrators.
    pub all_attempts: usize,
    /// What the whole run has cost, by what the agents said.
    pub cost: Cost,
    /// The branch on which its tasks land.
    pub branch: String,
    /// The last commit of the branch.
    pub tip: String,
    /// Files of the checkout, relative to the project, that no commit has as they are and that a merge of
    /// the branch would overwrite.
    pub in_the_way: Vec<String>,
}

/// A task that needs a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Its id.
    pub task: String,
    /// The reason.
    pub reason: String,
    /// Dependencies that it will not get.
    pub behind: Option<Skipped>,
}

/// A skipped task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its id.
    pub task: String,
    /// Whether the plan itself skips it, which no event can change.
    pub by_plan: bool,
}

impl Ending {
    /// Returns the result of a run that another rekindle worked on, by the run's record.
    pub fn of(work: &Work) -> Self {
        let (tally, given_up) = standing(work);
        let ledger = Ledger::new(&work.tasks);
        Self {
            tally,
            unchanged: Vec::new(),
            given_up,
            stopped: false,
            over_budget: false,
            cannot_start: None,
            attempts: 0,
            all_attempts: ledger.attempts(),
            cost: ledger.cost(),
            branch: work.settings.branch.clone(),
            tip: work.last_commit.clone().unwrap_or_default(),
            in_the_way: Vec::new(),
        }
    }
}

/// Returns how far a run is by its record.
pub(crate) fn standing(work: &Work) -> (Tally, Vec<GivenUp>) {
    let board = Board::new(&work.tasks, work.settings.retries);
    (board.tally(), given_up(&work.tasks, &board))
}

/// Returns how far a run is by its record if these attempts are at work, and the tasks that cannot start.
pub(crate) fn standing_with(
    work: &Work,
    running: impl Iterator<Item = (usize, u32)>,
) -> (Tally, Vec<HeldBack>) {
    let mut board = Board::new(&work.tasks, work.settings.retries);
    for (task, attempt) in running {
        board.started(task, attempt);
    }
    (board.tally(), held_back(&work.tasks, &board))
}

/// So many tasks that wait for others are named.
const MOST_WAITING: usize = 3;

/// Returns the tasks that cannot start: those that are given up, and the first ones that wait for others.
pub(super) fn held_back(tasks: &[WorkTask], board: &Board) -> Vec<HeldBack> {
    let given_up = given_up(tasks, board).into_iter().map(|task| HeldBack {
        task: task.task,
        why: format!("cannot start: {}", task.reason),
    });
    let waiting = board.waiting().take(MOST_WAITING).map(|(task, needs)| {
        let needs: Vec<&str> = needs.iter().map(|need| tasks[*need].id.as_str()).collect();
        HeldBack {
            task: tasks[task].id.clone(),
            why: format!("waits for {}", needs.join(", ")),
        }
    });
    given_up.chain(waiting).collect()
}

/// Returns the tasks that need a person, in plan order.
pub(super) fn given_up(tasks: &[WorkTask], board: &Board) -> Vec<GivenUp> {
    let given_up = board.given_up().map(|(task, reason)| {
        let mut needs = tasks[task].needs.iter().copied();
        let skipped = needs.find(|need| *board.state(*need) == State::Skipped);
        GivenUp {
            task: tasks[task].id.clone(),
            reason: match skipped {
                Some(need) => format!("it needs `{}`, which was skipped", tasks[need].id),
                None => reason.to_owned(),
            },
            behind: skipped.map(|need| Skipped {
                task: tasks[need].id.clone(),
                by_plan: tasks[need].left_out_by_plan,
            }),
        }
    });
    given_up.collect()
}
