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
    /// How permission for this plan is obtained.
    pub permission: Permission,
    /// Where there is no agent, nothing of this is done and the resume ends with this.
    pub without_agent: Option<Stop>,
    /// Lines for rekindle's own logs and requests to the host. They change nothing of the workflow, so
    /// nobody is asked about them, and a resume that can only wait makes them too.
    pub notes: Vec<Step>,
}

impl Plan {
    /// Returns what the host is to send, to whom and why, in order.
    pub fn requests(&self) -> impl Iterator<Item = Request> + '_ {
        let steps = self.notes.iter().chain(&self.steps);
        steps.filter_map(Step::request)
    }

    /// Returns the protocol's own question for permission, where it has one.
    pub const fn confirmation(&self) -> Option<&Confirmation> {
        match &self.permission {
            Permission::AskWith(confirmation) => Some(confirmation),
            Permission::Ask | Permission::NotNeeded => None,
        }
    }
}

/// A message that only the host of a workflow can send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who is to get it.
    pub recipient: String,
    /// The message, in the protocol's word.
    pub request: String,
    /// Why it is due, as a clause.
    pub why: String,
}

/// How permission for a plan is obtained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// rekindle asks in its own words.
    Ask,
    /// The protocol has its own words for the question.
    AskWith(Confirmation),
    /// The protocol prescribes that nobody is asked.
    NotNeeded,
}

/// A protocol's own question whether to go on, answered with yes, no or "details".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The question, to the letter.
    pub question: String,
    /// What is shown to a person who asks for details.
    pub details: String,
    /// What else a person may want to have done; each is asked after a yes, and no answer is a no.
    pub offers: Vec<Offer>,
}

/// Something that a resume can do as well, if a person wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What it is.
    pub kind: OfferKind,
    /// The question as it is put, answered with yes or no.
    pub question: String,
}

/// The offers that protocols make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferKind {
    /// Move what is not needed from the session to its archive.
    CompactSession,
    /// Give a checkpoint that is old and still valid the time of now.
    UpdateTimestamp,
}

/// One effect and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The effect.
    pub action: Action,
    /// Why it is due, as a clause ("the run is taken up again").
    pub why: String,
}

impl Step {
    /// Returns what the host is to send, if that is the effect.
    pub fn request(&self) -> Option<Request> {
        match &self.action {
            Action::AskHost { who, what } => Some(Request {
                recipient: who.clone(),
                request: what.clone(),
                why: self.why.clone(),
            }),
            Action::Append { .. }
            | Action::Create { .. }
            | Action::Edit { .. }
            | Action::MoveFolder { .. }
            | Action::MoveFile { .. }
            | Action::Land(_)
            | Action::EndWorker { .. }
            | Action::Print(_) => None,
        }
    }
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
    /// How a caller tells what came of it who does the work itself, each a sentence; what rekindle
    /// starts an agent for it records by itself.
    pub by_hand: Vec<String>,
    /// What the protocol saw before the work, in its own form, so that it can tell afterwards what the
    /// work has changed. Nobody is told it.
    pub seen: Option<String>,
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It said success, and so did every check.
    Succeeded,
    /// It said failure, or there is no such program.
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
    /// The answer `no` to a question that offers nothing else to do instead: all stays as it is.
    pub const LEAVE: &'static str = "Leave";

    /// Returns an answer as the protocol knows it, or `None` if it is not understood.
    ///
    /// `revise: FEEDBACK` understands `revise: anything`; the word before the colon decides. Of a list
    /// of labels the number, the whole label or its first word will do.
    pub fn understood(&self, answer: &str) -> Option<String> {
        if let Some(meant) = self.yes_or_no(answer) {
            return Some(meant.to_owned());
        }
        if self.kind.is_list() {
            let said = answer.trim().to_ascii_lowercase();
            let means = |(number, label): (usize, &str)| {
                let label = label.to_ascii_lowercase();
                said == number.to_string()
                    || said == label
                    || label.split(' ').next() == Some(&said)
            };
            let mut labels = (1..).zip(self.answers.iter().map(|(label, _)| *label));
            return labels
                .find(|label| means(*label))
                .map(|(_, label)| label.to_owned());
        }
        let word = |text: &str| {
            let (word, rest) = text.split_once(':').unwrap_or((text, ""));
            (word.trim().to_ascii_lowercase(), !rest.trim().is_empty())
        };
        let (said, has_rest) = word(answer);
        let is_known = self.answers.iter().any(|(known, _)| {
            let (known, wants_rest) = word(known);
            said == known && (has_rest || !wants_rest)
        });
        is_known.then(|| answer.to_owned())
    }

    /// Returns the answer that `y`, `yes`, `n` or `no` means, where the question can be answered so.
    fn yes_or_no(&self, answer: &str) -> Option<&'static str> {
        let labels = || self.answers.iter().map(|(label, _)| *label);
        let no = match self.kind {
            QuestionKind::ResumeWorkflow | QuestionKind::CircuitBreaker => labels().next_back()?,
            QuestionKind::CorruptState | QuestionKind::PlanReview => Self::LEAVE,
            QuestionKind::Approval
            | QuestionKind::Escalation
            | QuestionKind::PullRequest
            | QuestionKind::FailedValidation
            | QuestionKind::CompleteProject
            | QuestionKind::MissingPlan => return None,
        };
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => labels().next(),
            "n" | "no" => Some(no),
            _ => None,
        }
    }

    /// Returns the answer of a resume that was told to go on without asking, where there is one.
    pub fn recommended(&self) -> Option<&'static str> {
        let first = self.answers.first().map(|(label, _)| *label);
        first.filter(|_| self.kind.is_list() && !self.may_stay_open)
    }
}

/// The questions that protocols put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// May the planned work be executed?
    Approval,
    /// May the plan that is shown be carried out?
    PlanReview,
    /// What is to happen with a task that failed too often?
    Escalation,
    /// May the run move to its last phase?
    PullRequest,
    /// What is to happen after validation failed too often?
    FailedValidation,
    /// What is to happen with a project that is complete?
    CompleteProject,
    /// Is an interrupted workflow to go on, to make room for a new one, or to stay as it is?
    ResumeWorkflow,
    /// What is to happen with a state that can not be read?
    CorruptState,
    /// What is to happen with a workflow whose plan is not there?
    MissingPlan,
    /// Is a workflow to go on that has taken more steps than one of its size should?
    CircuitBreaker,
}

impl QuestionKind {
    /// Returns whether the answers are labels of a list, the recommended one first.
    pub const fn is_list(self) -> bool {
        match self {
            Self::ResumeWorkflow
            | Self::CorruptState
            | Self::MissingPlan
            | Self::CircuitBreaker => true,
            Self::Approval
            | Self::PlanReview
            | Self::Escalation
            | Self::PullRequest
            | Self::FailedValidation
            | Self::CompleteProject => false,
        }
    }

    /// Returns the word above the question, where the protocol prescribes one.
    pub const fn header(self) -> Option<&'static str> {
        match self {
            Self::ResumeWorkflow => Some("Resume"),
            Self::Approval
            | Self::PlanReview
            | Self::Escalation
            | Self::PullRequest
            | Self::FailedValidation
            | Self::CompleteProject
            | Self::CorruptState
            | Self::MissingPlan
            | Self::CircuitBreaker => None,
        }
    }

    /// Returns whether the question is about what keeps the workflow from being resumed.
    pub const fn is_about_a_blocker(self) -> bool {
        match self {
            Self::CorruptState | Self::MissingPlan => true,
            Self::Approval
            | Self::PlanReview
            | Self::Escalation
            | Self::PullRequest
            | Self::FailedValidation
            | Self::CompleteProject
            | Self::ResumeWorkflow
            | Self::CircuitBreaker => false,
        }
    }

    /// Returns whether the workflow could not be carried on as long as nobody answers.
    pub const fn fails_unanswered(self) -> bool {
        match self {
            // A task failed for good, and nobody said what is to happen with it.
            Self::Escalation | Self::CorruptState | Self::MissingPlan | Self::CircuitBreaker => {
                true
            }
            Self::Approval
            | Self::PlanReview
            | Self::PullRequest
            | Self::FailedValidation
            | Self::CompleteProject
            | Self::ResumeWorkflow => false,
        }
    }
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
    /// It cannot go on, and the protocol has said so itself: nothing more is said.
    BlockedAndSaid,
}

impl StopKind {
    /// Returns whether the workflow cannot go on.
    pub const fn is_blocked(self) -> bool {
        match self {
            Self::Blocked | Self::BlockedAndSaid => true,
            Self::Done | Self::Said | Self::Waiting | Self::OthersAtWork => false,
        }
    }
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
            assert_eq!(question.understood(good).as_deref(), Some(good));
        }
        for bad in ["", "yes", "1", "revise", "revise:", "revised: x"] {
            assert_eq!(question.understood(bad), None, "{bad}");
        }
        assert_eq!(question.recommended(), None);
    }

    #[test]
    fn of_a_list_the_number_the_label_or_its_first_word_will_do() {
        let question = Question {
            kind: QuestionKind::ResumeWorkflow,
            text: String::new(),
            answers: vec![
                ("Resume (recommended)", ""),
                ("Start fresh", ""),
                ("Abort", ""),
            ],
            unanswered: String::new(),
            may_stay_open: false,
        };
        let table = [
            ("1", Some("Resume (recommended)")),
            (" RESUME ", Some("Resume (recommended)")),
            ("resume (Recommended)", Some("Resume (recommended)")),
            ("2", Some("Start fresh")),
            ("start", Some("Start fresh")),
            ("start fresh", Some("Start fresh")),
            ("3", Some("Abort")),
            ("abort", Some("Abort")),
            ("", None),
            ("0", None),
            ("4", None),
            ("fresh", None),
            ("start over", None),
            ("y", Some("Resume (recommended)")),
        ];
        for (said, known) in table {
            assert_eq!(question.understood(said).as_deref(), known, "{said}");
        }
        assert_eq!(question.recommended(), Some("Resume (recommended)"));
    }
}
