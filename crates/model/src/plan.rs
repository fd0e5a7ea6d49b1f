//! A plan is data: what is shown is what is confirmed, and what is confirmed is what is run.
//!
//! A resume is a loop. A protocol looks at fresh evidence and an [`Intent`]
//! (why it is asked) and answers with the effects that are due and what is to
//! happen [`Then`]: an agent runs, a person is asked, the loop goes round
//! again, or it stops. Whatever an agent or a person brought about is read
//! from disk at the next round, never remembered.

use camino::Utf8PathBuf;

use crate::{Action, WorkflowId};

/// Why a plan is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// A person wants the workflow to go on.
    Open,
    /// The resume that was opened goes round again; its events go into `log`.
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
        /// What was asked.
        question: QuestionKind,
        /// What was said.
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
    /// A worker or a script tells of something that happened.
    Report(Report),
}

/// Something that a worker or a script tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What happened, in the protocol's words.
    pub event: String,
    /// Who tells it.
    pub actor: String,
    /// The task it is about.
    pub task: Option<String>,
    /// More about it, as the text of one JSON object.
    pub details: Option<String>,
}

/// What is to be done now, and then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The workflow.
    pub id: WorkflowId,
    /// The effects, in order.
    pub steps: Vec<Step>,
    /// The log that this resume writes from here on.
    pub log: Utf8PathBuf,
    /// What happens after the effects.
    pub then: Then,
    /// What is to be expected in the rounds after this one, each a sentence.
    pub ahead: Vec<String>,
    /// What the protocol says on standard output before a person is asked.
    pub before_asking: String,
    /// How the protocol itself asks whether this may be done, where it has words for that.
    pub confirmation: Option<Confirmation>,
    /// Where there is no agent, nothing of this is done and the resume ends with this.
    pub without_agent: Option<Stop>,
}

/// A protocol's own question whether to go on, answered with yes, no or "details".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The question, to the letter.
    pub question: String,
    /// What is shown to a person who asks for details.
    pub details: String,
}

/// One effect and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The effect.
    pub action: Action,
    /// Why it is due, as a clause ("the run is taken up again").
    pub why: String,
}

/// What happens after a plan's effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// An agent is started; the protocol settles what came of it.
    Agent(AgentTask),
    /// A person is asked; the protocol takes the answer.
    Ask(Question),
    /// Workers do the tasks that the case has ready; then the evidence is read again.
    Workers,
    /// Commands are run in the project; the protocol takes how they ended.
    Check(Checks),
    /// The evidence is read again and planned anew.
    Again,
    /// The resume is over.
    Stop(Stop),
}

/// Commands that must succeed in the project before the workflow goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checks {
    /// What they are the check of, in the protocol's words.
    pub of: String,
    /// The commands, in order; the first that fails ends it.
    pub commands: Vec<String>,
}

/// Work for an agent program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTask {
    /// Who is needed, in the protocol's words (`executor`, `planner`).
    pub role: &'static str,
    /// The workflow's task, where it is one.
    pub task: Option<String>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// One sentence for a person.
    pub summary: String,
    /// What the agent is told.
    pub prompt: String,
    /// Commands that must succeed afterwards for the work to count.
    pub checks: Vec<String>,
    /// What the protocol saw before the work, in its own form, so that it can tell afterwards what the
    /// work has changed. Nobody is told it.
    pub seen: Option<String>,
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It said success, and so did every check.
    Succeeded,
    /// It said failure, or could not be started.
    Failed {
        /// One sentence.
        reason: String,
    },
    /// It said success but a check of its work did not.
    CheckFailed {
        /// The command.
        check: String,
        /// How it ended.
        reason: String,
    },
}

/// A question that only a person can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Which question it is.
    pub kind: QuestionKind,
    /// The question as it is put.
    pub text: String,
    /// The answers that are understood, with what each does.
    pub answers: Vec<(&'static str, &'static str)>,
    /// What is told when nobody answers.
    pub unanswered: String,
    /// Whether a resume that was told not to ask ends here instead of waiting for an answer.
    pub may_stay_open: bool,
}

impl Question {
    /// Returns whether an answer is one of those that are understood.
    ///
    /// `revise: FEEDBACK` understands `revise: anything`; the word before the colon decides.
    pub fn understands(&self, answer: &str) -> bool {
        let word = |text: &str| {
            let (word, rest) = text.split_once(':').unwrap_or((text, ""));
            (word.trim().to_ascii_lowercase(), !rest.trim().is_empty())
        };
        let (said, has_rest) = word(answer);
        self.answers.iter().any(|(known, _)| {
            let (known, wants_rest) = word(known);
            said == known && (has_rest || !wants_rest)
        })
    }
}

/// The questions that protocols put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// May the planned work be executed?
    Approval,
    /// What is to happen with a task that failed too often?
    Escalation,
    /// May the run move to its last phase?
    PullRequest,
    /// What is to happen after validation failed too often?
    FailedValidation,
    /// What is to happen with a project that is complete?
    CompleteProject,
}

/// Why a resume is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Of what kind.
    pub kind: StopKind,
    /// One sentence.
    pub reason: String,
    /// What to do next, each a line.
    pub hints: Vec<String>,
}

/// Kinds of end, which decide the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// All is done.
    Done,
    /// All is done, and the protocol has said so itself: nothing more is said.
    Said,
    /// It waits for a person, and that is in order.
    Waiting,
    /// Others are at work on it; it goes on when they have ended.
    OthersAtWork,
    /// It can not go on.
    Blocked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_understood_by_its_word_and_may_need_more() {
        let question = Question {
            kind: QuestionKind::Approval,
            text: String::new(),
            answers: vec![
                ("approve", ""),
                ("revise: FEEDBACK", ""),
                ("skip consolidation", ""),
            ],
            unanswered: String::new(),
            may_stay_open: false,
        };
        for good in [
            "approve",
            " Approve ",
            "revise: more tests",
            "skip consolidation",
        ] {
            assert!(question.understands(good), "{good}");
        }
        for bad in ["", "yes", "revise", "revise:", "revised: x"] {
            assert!(!question.understands(bad), "{bad}");
        }
    }
}
