//! The decision: what a task's signals mean, as one table.
//!
//! Signals are already reconciled; here nothing is read. The rows stand in the seed's order of
//! precedence, and the first that applies decides, so that there is exactly one verdict for every
//! combination, which a test holds by trying them all.

use super::heartbeat::Tier;

/// What a task is classified as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Done,
    ReadyForIntegration,
    InProgress,
    RerunRequired,
    /// Never started; spends no retry.
    Pending,
    /// Behind a closed wave gate.
    Gated,
}

impl Class {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::ReadyForIntegration => "ready_for_integration",
            Self::InProgress => "in_progress",
            Self::RerunRequired => "rerun_required",
            Self::Pending => "pending",
            Self::Gated => "gated",
        }
    }
}

/// What the orchestrator's record orders for a task, where that is newer than the task's own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Override {
    None,
    Retry,
    Halt,
}

/// What the task list says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// It has not begun.
    NotStarted,
    /// It is at work, with a sign of life of this tier.
    Running(Tier),
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// It was told to stop, and did.
    Cancelled,
    /// Its status and its stage contradict each other.
    Contradictory,
}

/// What a worker's success is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// Artifacts, worktree and main all bear it out.
    Whole,
    /// `changed_ops.json` or a passing `verify_summary.json` is not there.
    NoArtifacts,
    /// There is no worktree to take it from.
    NoWorktree,
    /// The worktree has commits of its own, which workers never make.
    OwnCommits,
    /// The worktree holds other changes than the worker says.
    Disagrees,
    /// Main holds something at one of its paths that is neither the base's nor the worker's.
    Stranger,
}

/// Everything that decides about one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signals {
    /// A commit on main is its proof.
    pub(super) has_landed: bool,
    pub(super) ordered: Override,
    pub(super) word: Word,
    pub(super) proof: Proof,
    /// An earlier wave's gate is closed.
    pub(super) is_behind_gate: bool,
    /// A person has paused the phase.
    pub(super) is_paused: bool,
}

/// A class, and the rule that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) class: Class,
    pub(super) rule: Rule,
}

/// Which source decided, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    Landed,
    OrderedToHalt,
    OrderedToRetry,
    BehindGate,
    NeverStarted,
    Paused,
    Alive,
    Dead,
    Proven,
    ClaimWithoutArtifacts,
    ClaimWithoutWorktree,
    ClaimWithOwnCommits,
    ClaimDisagrees,
    StrangerOnMain,
    SaidFailed,
    SaidCancelled,
    Contradiction,
}

impl Rule {
    #[cfg(test)]
    pub(super) const ALL: [Self; 17] = [
        Self::Landed,
        Self::OrderedToHalt,
        Self::OrderedToRetry,
        Self::BehindGate,
        Self::NeverStarted,
        Self::Paused,
        Self::Alive,
        Self::Dead,
        Self::Proven,
        Self::ClaimWithoutArtifacts,
        Self::ClaimWithoutWorktree,
        Self::ClaimWithOwnCommits,
        Self::ClaimDisagrees,
        Self::StrangerOnMain,
        Self::SaidFailed,
        Self::SaidCancelled,
        Self::Contradiction,
    ];

    /// Returns the rule as one sentence.
    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::Landed => {
                "a commit of its own on main is the proof that it landed, whatever else is said"
            }
            Self::OrderedToHalt => {
                "STATE.md orders a halt that is newer than the task's heartbeat, and STATE.md comes first"
            }
            Self::OrderedToRetry => {
                "STATE.md orders a retry that is newer than the task's heartbeat, and STATE.md comes first"
            }
            Self::BehindGate => "it has not begun, and the gate of an earlier wave is closed",
            Self::NeverStarted => "it has not begun, so no retry is spent on it",
            Self::Paused => "the phase is paused on purpose, so silence is no death",
            Self::Alive => "its heartbeat is young enough for its stage",
            Self::Dead => "its heartbeat is older than its stage allows, or can not be read",
            Self::Proven => {
                "the task list says verified, and the artifacts, the worktree and main bear it out"
            }
            Self::ClaimWithoutArtifacts => {
                "the task list says verified, but changed_ops.json and a passing verify_summary.json are not both there"
            }
            Self::ClaimWithoutWorktree => {
                "the task list says verified, but there is no worktree to take its work from"
            }
            Self::ClaimWithOwnCommits => {
                "its worktree has commits of its own, which workers never make"
            }
            Self::ClaimDisagrees => "the worktree and changed_ops.json name different paths",
            Self::StrangerOnMain => {
                "main holds something at one of its paths that is neither the base's nor the worker's"
            }
            Self::SaidFailed => "the task list says that it failed",
            Self::SaidCancelled => "it was told to stop and did, which spends no retry",
            Self::Contradiction => "the task list's status and stage contradict each other",
        }
    }

    /// Returns the word that the ledger gets as the reason of a retry.
    pub(super) const fn ledger_status(self) -> &'static str {
        match self {
            Self::Dead => "dead-worker",
            Self::SaidFailed => "failed",
            Self::SaidCancelled => "canceled",
            Self::OrderedToRetry | Self::OrderedToHalt => "ordered",
            Self::Landed
            | Self::BehindGate
            | Self::NeverStarted
            | Self::Paused
            | Self::Alive
            | Self::Proven
            | Self::ClaimWithoutArtifacts
            | Self::ClaimWithoutWorktree
            | Self::ClaimWithOwnCommits
            | Self::ClaimDisagrees
            | Self::StrangerOnMain
            | Self::Contradiction => "inconsistent",
        }
    }

    /// Whether running the task again after this spends one of its retries.
    pub(super) fn spends_retry(self) -> bool {
        self != Self::SaidCancelled
    }
}

/// Decides about one task.
pub(super) fn decide(signals: Signals) -> Verdict {
    let verdict = |class, rule| Verdict { class, rule };
    if signals.has_landed {
        return verdict(Class::Done, Rule::Landed);
    }
    // A task that never began can not be ordered to be tried again; its gate still holds.
    let has_begun = signals.word != Word::NotStarted;
    match signals.ordered {
        Override::Halt if has_begun => {
            return verdict(Class::RerunRequired, Rule::OrderedToHalt);
        }
        Override::Retry if has_begun => {
            return verdict(Class::RerunRequired, Rule::OrderedToRetry);
        }
        Override::None | Override::Halt | Override::Retry => {}
    }
    match signals.word {
        Word::NotStarted if signals.is_behind_gate => verdict(Class::Gated, Rule::BehindGate),
        Word::NotStarted => verdict(Class::Pending, Rule::NeverStarted),
        Word::Running(_) if signals.is_paused => verdict(Class::InProgress, Rule::Paused),
        Word::Running(Tier::Healthy | Tier::Warning) => verdict(Class::InProgress, Rule::Alive),
        Word::Running(Tier::Dead) => verdict(Class::RerunRequired, Rule::Dead),
        Word::Succeeded => match signals.proof {
            Proof::Whole => verdict(Class::ReadyForIntegration, Rule::Proven),
            Proof::NoArtifacts => verdict(Class::RerunRequired, Rule::ClaimWithoutArtifacts),
            Proof::NoWorktree => verdict(Class::RerunRequired, Rule::ClaimWithoutWorktree),
            Proof::OwnCommits => verdict(Class::RerunRequired, Rule::ClaimWithOwnCommits),
            Proof::Disagrees => verdict(Class::RerunRequired, Rule::ClaimDisagrees),
            Proof::Stranger => verdict(Class::RerunRequired, Rule::StrangerOnMain),
        },
        Word::Failed => verdict(Class::RerunRequired, Rule::SaidFailed),
        Word::Cancelled => verdict(Class::RerunRequired, Rule::SaidCancelled),
        Word::Contradictory => verdict(Class::RerunRequired, Rule::Contradiction),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
