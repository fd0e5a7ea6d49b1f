//! What a task's signals mean.
//!
//! Signals are already reconciled; here nothing is read. The rows stand in the seed's order of
//! precedence.

use super::super::heartbeat::Tier;
use super::claim::Proof;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Row, Table, Value, inputs, values};

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
    /// What the orchestrator's record orders for a task, where that is newer than the task's own word.
    Override {
        None "nothing",
        Retry "retry",
        Halt "halt",
    }
}

/// What the task list says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
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
            Self::NotStarted => "not begun",
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

/// Everything but that it has not begun.
const BEGUN: &[Word] = &[
    Word::Running(Tier::Healthy),
    Word::Running(Tier::Warning),
    Word::Running(Tier::Dead),
    Word::Succeeded,
    Word::Failed,
    Word::Cancelled,
    Word::Contradictory,
];

const RUNNING: &[Word] = &[
    Word::Running(Tier::Healthy),
    Word::Running(Tier::Warning),
    Word::Running(Tier::Dead),
];

values! {
    /// The sources in the order in which they count.
    Source {
        Main "main",
        State "STATE.md",
        TaskList "task list",
        Evidence "evidence",
        Worktree "worktree",
    }
}

inputs! {
    /// Everything that decides about one task.
    Signals asked by When {
        /// A commit on main is its proof.
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
    /// The ledger's reason for the retry that running the task again spends; none where it spends none.
    pub(crate) retry: Option<&'static str>,
    /// Whether the sources contradict each other, which a person is told.
    pub(crate) is_inconsistent: bool,
}

impl Verdict {
    const fn new(rule: Rule, class: Class, by: Source, sentence: &'static str) -> Self {
        Self {
            rule,
            class,
            by,
            sentence,
            retry: None,
            is_inconsistent: false,
        }
    }

    const fn again(
        rule: Rule,
        by: Source,
        retry: Option<&'static str>,
        sentence: &'static str,
    ) -> Self {
        Self {
            retry,
            ..Self::new(rule, Class::RerunRequired, by, sentence)
        }
    }

    const fn inconsistent(rule: Rule, by: Source, sentence: &'static str) -> Self {
        Self {
            is_inconsistent: true,
            ..Self::again(rule, by, Some("inconsistent"), sentence)
        }
    }
}

impl rekindle_protocol::table::Verdict for Verdict {
    const COLUMNS: &'static [&'static str] =
        &["task is", "decided by", "because", "spends a retry"];

    fn shown(&self) -> Vec<String> {
        let retry = self
            .retry
            .map_or_else(String::new, |word| format!("`{word}`"));
        vec![
            format!("`{}`", self.class.as_str()),
            self.by.as_str().to_owned(),
            self.sentence.to_owned(),
            retry,
        ]
    }
}

const fn row(when: When, source: &'static str, then: Verdict) -> Row<Signals, Verdict> {
    Row { when, then, source }
}

/// What a worker's success is worth has a row each.
const fn claim(proof: Proof, source: &'static str, then: Verdict) -> Row<Signals, Verdict> {
    let when = When {
        word: Is(Word::Succeeded),
        proof: Is(proof),
        ..When::ANY
    };
    row(when, source, then)
}

/// What each task is.
pub(crate) static TASKS: Table<Signals, Verdict> = Table {
    title: "The state of a task",
    about: "Every task of the list is exactly one of these; everything else in the folder of worktrees is `orphaned`.",
    rows: &[
        row(
            When {
                has_landed: Is(true),
                ..When::ANY
            },
            "main comes before every other source",
            Verdict::new(
                Rule::Landed,
                Class::Done,
                Source::Main,
                "a commit of its own on main is the proof that it landed, whatever else is said",
            ),
        ),
        // A task that never began can not be ordered to be tried again; its gate still holds.
        row(
            When {
                ordered: Is(Override::Halt),
                word: In(BEGUN),
                ..When::ANY
            },
            "STATE.md comes before the task list",
            Verdict::again(
                Rule::OrderedToHalt,
                Source::State,
                Some("ordered"),
                "STATE.md orders a halt that is newer than the task's heartbeat, and STATE.md comes first",
            ),
        ),
        row(
            When {
                ordered: Is(Override::Retry),
                word: In(BEGUN),
                ..When::ANY
            },
            "STATE.md comes before the task list",
            Verdict::again(
                Rule::OrderedToRetry,
                Source::State,
                Some("ordered"),
                "STATE.md orders a retry that is newer than the task's heartbeat, and STATE.md comes first",
            ),
        ),
        row(
            When {
                word: Is(Word::NotStarted),
                is_behind_gate: Is(true),
                ..When::ANY
            },
            "a closed gate holds back its wave",
            Verdict::new(
                Rule::BehindGate,
                Class::Gated,
                Source::TaskList,
                "it has not begun, and the gate of an earlier wave is closed",
            ),
        ),
        row(
            When {
                word: Is(Word::NotStarted),
                ..When::ANY
            },
            "a task that never started spends no retry",
            Verdict::new(
                Rule::NeverStarted,
                Class::Pending,
                Source::TaskList,
                "it has not begun, so no retry is spent on it",
            ),
        ),
        row(
            When {
                word: In(RUNNING),
                is_paused: Is(true),
                ..When::ANY
            },
            "a pause suspends the limits of heartbeats",
            Verdict::new(
                Rule::Paused,
                Class::InProgress,
                Source::State,
                "the phase is paused on purpose, so silence is no death",
            ),
        ),
        row(
            When {
                word: In(&[Word::Running(Tier::Healthy), Word::Running(Tier::Warning)]),
                ..When::ANY
            },
            "a recent heartbeat means a live worker",
            Verdict::new(
                Rule::Alive,
                Class::InProgress,
                Source::TaskList,
                "its heartbeat is young enough for its stage",
            ),
        ),
        row(
            When {
                word: Is(Word::Running(Tier::Dead)),
                ..When::ANY
            },
            "an old heartbeat means a dead worker",
            Verdict::again(
                Rule::Dead,
                Source::TaskList,
                Some("dead-worker"),
                "its heartbeat is older than its stage allows, or can not be read",
            ),
        ),
        claim(
            Proof::Whole,
            "a success needs proof",
            Verdict::new(
                Rule::Proven,
                Class::ReadyForIntegration,
                Source::Evidence,
                "the task list says verified, and the artifacts, the worktree and main bear it out",
            ),
        ),
        claim(
            Proof::NoArtifacts,
            "a success without proof is run again",
            Verdict::inconsistent(
                Rule::ClaimWithoutArtifacts,
                Source::Evidence,
                "the task list says verified, but changed_ops.json and a passing verify_summary.json are not both there",
            ),
        ),
        claim(
            Proof::NoWorktree,
            "a success without proof is run again",
            Verdict::inconsistent(
                Rule::ClaimWithoutWorktree,
                Source::Worktree,
                "the task list says verified, but there is no worktree to take its work from",
            ),
        ),
        claim(
            Proof::OwnCommits,
            "a success without proof is run again",
            Verdict::inconsistent(
                Rule::ClaimWithOwnCommits,
                Source::Worktree,
                "its worktree has commits of its own, which workers never make",
            ),
        ),
        claim(
            Proof::Disagrees,
            "a success without proof is run again",
            Verdict::inconsistent(
                Rule::ClaimDisagrees,
                Source::Evidence,
                "the worktree and changed_ops.json name different paths",
            ),
        ),
        claim(
            Proof::Stranger,
            "a success without proof is run again",
            Verdict::again(
                Rule::StrangerOnMain,
                Source::Main,
                Some("inconsistent"),
                "main holds something at one of its paths that is neither the base's nor the worker's",
            ),
        ),
        row(
            When {
                word: Is(Word::Failed),
                ..When::ANY
            },
            "a failed task is run again",
            Verdict::again(
                Rule::SaidFailed,
                Source::TaskList,
                Some("failed"),
                "the task list says that it failed",
            ),
        ),
        row(
            When {
                word: Is(Word::Cancelled),
                ..When::ANY
            },
            "a requested stop spends no retry",
            Verdict::again(
                Rule::SaidCancelled,
                Source::TaskList,
                None,
                "it was told to stop and did, which spends no retry",
            ),
        ),
    ],
    last: row(
        When {
            word: Is(Word::Contradictory),
            ..When::ANY
        },
        "a contradictory task is run again",
        Verdict::inconsistent(
            Rule::Contradiction,
            Source::TaskList,
            "the task list's status and stage contradict each other",
        ),
    ),
};

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
