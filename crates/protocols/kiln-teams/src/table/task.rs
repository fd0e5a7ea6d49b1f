//! The state of a task, from signals that [`assess`](crate::assess) has already reconciled.
//!
//! The rows are in the order of precedence.

use super::super::heartbeat::Tier;
use super::claim::Proof;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Value, inputs, table, values};

values! {
    /// What a task is classified as.
    Class {
        Done "done",
        ReadyForIntegration "ready_for_integration",
        InProgress "in_progress",
        RerunRequired "rerun_required",
        /// Never started; spends no retry.
        Pending "pending",
        /// Behind a closed wave gate.
        Gated "gated",
    }
}

values! {
    /// What STATE.md orders for a task, if that is newer than the task's own report.
    Override {
        None "nothing",
        Retry "retry",
        Halt "halt",
    }
}

/// What the task list says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// It has not started.
    NotStarted,
    /// It is running, with a heartbeat of this tier.
    Running(Tier),
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// It was asked to stop, and did.
    Cancelled,
    /// Its status and its stage contradict each other.
    Contradictory,
}

impl Value for Word {
    const ALL: &'static [Self] = &[
        Self::NotStarted,
        Self::Running(Tier::Healthy),
        Self::Running(Tier::Warning),
        Self::Running(Tier::Dead),
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
        Self::Contradictory,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::NotStarted => "not started",
            Self::Running(Tier::Healthy) => "running, healthy",
            Self::Running(Tier::Warning) => "running, late",
            Self::Running(Tier::Dead) => "running, silent",
            Self::Succeeded => "verified",
            Self::Failed => "failed",
            Self::Cancelled => "stopped",
            Self::Contradictory => "contradictory",
        }
    }
}

/// Everything except that it has not started.
const STARTED: &[Word] = &[
    Word::Running(Tier::Healthy),
    Word::Running(Tier::Warning),
    Word::Running(Tier::Dead),
    Word::Succeeded,
    Word::Failed,
    Word::Cancelled,
    Word::Contradictory,
];

const LIVE: &[Word] = &[Word::Running(Tier::Healthy), Word::Running(Tier::Warning)];

const RUNNING: &[Word] = &[
    Word::Running(Tier::Healthy),
    Word::Running(Tier::Warning),
    Word::Running(Tier::Dead),
];

values! {
    /// The sources, the most important first.
    Source {
        Main "main",
        State "STATE.md",
        TaskList "task list",
        Evidence "evidence",
        Worktree "worktree",
    }
}

inputs! {
    /// What decides the state of a task.
    Signals asked by When {
        /// A commit on main proves that it landed.
        has_landed: bool = "on main",
        ordered: Override = "STATE.md orders",
        word: Word = "task list says",
        proof: Proof = "proof",
        /// An earlier wave's gate is closed.
        is_behind_gate: bool = "behind a gate",
        /// A person has paused the phase.
        is_paused: bool = "paused",
    }
}

/// Which row decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
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

/// A class, and the rule that gave it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) rule: Rule,
    pub(crate) class: Class,
    /// The source that decided.
    pub(crate) by: Source,
    /// The rule as one sentence.
    pub(crate) sentence: &'static str,
    /// The ledger's reason for the retry that another run spends; `None` if it spends none.
    pub(crate) retry: Option<&'static str>,
    /// Whether the sources contradict each other, which is reported.
    pub(crate) is_inconsistent: bool,
}

const fn is(class: Class, rule: Rule, by: Source, sentence: &'static str) -> Verdict {
    Verdict {
        rule,
        class,
        by,
        sentence,
        retry: None,
        is_inconsistent: false,
    }
}

/// The task runs again and spends a retry, which the ledger gets with this reason.
const fn again(retry: &'static str, rule: Rule, by: Source, sentence: &'static str) -> Verdict {
    Verdict {
        retry: Some(retry),
        ..is(Class::RerunRequired, rule, by, sentence)
    }
}

/// The task runs again because sources contradict each other.
const fn inconsistent(rule: Rule, by: Source, sentence: &'static str) -> Verdict {
    Verdict {
        is_inconsistent: true,
        ..again("inconsistent", rule, by, sentence)
    }
}

impl rekindle_protocol::table::Verdict for Verdict {
    const COLUMNS: &'static [&'static str] =
        &["task is", "decided by", "because", "spends a retry"];

    fn shown(&self) -> Vec<String> {
        let code = |word| format!("`{word}`");
        vec![
            code(self.class.as_str()),
            self.by.as_str().to_owned(),
            self.sentence.to_owned(),
            self.retry.map(code).unwrap_or_default(),
        ]
    }
}

table! {
    /// The state of each task. A task that never started cannot be ordered to retry; its gate applies.
    pub(crate) static TASKS: Signals, asked by When => Verdict;
    "The state of a task",
    "Every task of the list is exactly one of these; everything else in the folder of worktrees is `orphaned`.";
    [has_landed: Is(true)] => is(Class::Done, Rule::Landed, Source::Main, "a commit of its own on main proves that it landed, whatever other sources say"), "main comes before every other source";
    [ordered: Is(Override::Halt), word: In(STARTED)] => again("ordered", Rule::OrderedToHalt, Source::State, "STATE.md orders a halt that is newer than the task's heartbeat, and STATE.md comes first"), "STATE.md comes before the task list";
    [ordered: Is(Override::Retry), word: In(STARTED)] => again("ordered", Rule::OrderedToRetry, Source::State, "STATE.md orders a retry that is newer than the task's heartbeat, and STATE.md comes first"), "STATE.md comes before the task list";
    [word: Is(Word::NotStarted), is_behind_gate: Is(true)] => is(Class::Gated, Rule::BehindGate, Source::TaskList, "it has not started, and the gate of an earlier wave is closed"), "a closed gate holds back its wave";
    [word: Is(Word::NotStarted)] => is(Class::Pending, Rule::NeverStarted, Source::TaskList, "it has not started, so no retry is spent on it"), "a task that never started spends no retry";
    [word: In(RUNNING), is_paused: Is(true)] => is(Class::InProgress, Rule::Paused, Source::State, "the phase is paused, so silence does not count"), "a pause suspends the limits of heartbeats";
    [word: In(LIVE)] => is(Class::InProgress, Rule::Alive, Source::TaskList, "its heartbeat is recent enough for its stage"), "a recent heartbeat means a live worker";
    [word: Is(Word::Running(Tier::Dead))] => again("dead-worker", Rule::Dead, Source::TaskList, "its heartbeat is older than its stage allows, or cannot be read"), "an old heartbeat means a dead worker";
    [word: Is(Word::Succeeded), proof: Is(Proof::Whole)] => is(Class::ReadyForIntegration, Rule::Proven, Source::Evidence, "the task list says verified, and the artifacts, the worktree and main confirm it"), "a success needs proof";
    [word: Is(Word::Succeeded), proof: Is(Proof::NoArtifacts)] => inconsistent(Rule::ClaimWithoutArtifacts, Source::Evidence, "the task list says verified, but changed_ops.json or a passing verify_summary.json is missing"), "a success without proof is run again";
    [word: Is(Word::Succeeded), proof: Is(Proof::NoWorktree)] => inconsistent(Rule::ClaimWithoutWorktree, Source::Worktree, "the task list says verified, but the worktree with its work is missing"), "a success without proof is run again";
    [word: Is(Word::Succeeded), proof: Is(Proof::OwnCommits)] => inconsistent(Rule::ClaimWithOwnCommits, Source::Worktree, "its worktree has commits of its own, which workers never make"), "a success without proof is run again";
    [word: Is(Word::Succeeded), proof: Is(Proof::Disagrees)] => inconsistent(Rule::ClaimDisagrees, Source::Evidence, "the worktree and changed_ops.json name different paths"), "a success without proof is run again";
    [word: Is(Word::Succeeded), proof: Is(Proof::Stranger)] => again("inconsistent", Rule::StrangerOnMain, Source::Main, "one of its paths on main has content that is neither the base's nor the worker's"), "a success without proof is run again";
    [word: Is(Word::Failed)] => again("failed", Rule::SaidFailed, Source::TaskList, "the task list says that it failed"), "a failed task is run again";
    [word: Is(Word::Cancelled)] => is(Class::RerunRequired, Rule::SaidCancelled, Source::TaskList, "it was asked to stop and did, which spends no retry"), "a requested stop spends no retry";
    else [word: Is(Word::Contradictory)] => inconsistent(Rule::Contradiction, Source::TaskList, "the task list's status and stage contradict each other"), "a contradictory task is run again";
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
