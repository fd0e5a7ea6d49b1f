//! Why a protocol is asked for a plan.

use camino::Utf8PathBuf;

use crate::{AgentTask, Checks};

/// Why a plan is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// A person resumes the workflow.
    Open,
    /// The resume continues with the next round.
    GoOn {
        /// The log that this resume writes.
        log: Utf8PathBuf,
    },
    /// An agent that a plan asked for has ended.
    Settle {
        /// The log that this resume writes.
        log: Utf8PathBuf,
        /// What it was asked to do.
        task: AgentTask,
        /// How it ended.
        ended: Ended,
    },
    /// A person has answered a plan's question.
    Answer {
        /// The log that this resume writes.
        log: Utf8PathBuf,
        /// The id of the question.
        question: &'static str,
        /// Whether the question was about what keeps the workflow from being resumed.
        is_about_a_blocker: bool,
        /// The answer.
        answer: String,
    },
    /// The commands that a plan asked for have been run.
    Checked {
        /// The log that this resume writes.
        log: Utf8PathBuf,
        /// What was asked for.
        checks: Checks,
        /// How they ended.
        ended: Ended,
    },
    /// All tasks have landed.
    Finish {
        /// The log that this resume writes.
        log: Utf8PathBuf,
        /// The last commit of the run's branch.
        tip: String,
    },
    /// A person wants a checkpoint.
    Checkpoint {
        /// What they say about it.
        note: String,
    },
    /// A worker or a script reports an event.
    Report(Report),
}

impl Intent {
    /// Returns how the agent ended, if one has.
    pub const fn ended(&self) -> Option<&Ended> {
        match self {
            Self::Settle { ended, .. } => Some(ended),
            Self::Open
            | Self::GoOn { .. }
            | Self::Answer { .. }
            | Self::Checked { .. }
            | Self::Finish { .. }
            | Self::Checkpoint { .. }
            | Self::Report(_) => None,
        }
    }
}

/// An event that a worker or a script reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What happened, in the protocol's words.
    pub event: String,
    /// Who reports it.
    pub actor: String,
    /// The task it is about.
    pub task: Option<String>,
    /// More about it, as the text of one JSON object.
    pub details: Option<String>,
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It reported success, and every check passed.
    Succeeded,
    /// It reported failure, or its program could not be started.
    Failed {
        /// One sentence.
        reason: String,
    },
    /// It reported success, but a check failed.
    CheckFailed {
        /// The command.
        check: String,
        /// How it ended.
        reason: String,
    },
}
