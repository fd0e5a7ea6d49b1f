//! A plan is data: what is shown is what is confirmed, and what is confirmed is what is run.
//!
//! A resume is a loop. In each round a protocol reads fresh evidence and an [`Intent`] (why it is
//! asked), and answers with effects and with what follows [`Then`]: an agent runs, a person is asked,
//! the next round starts, or the resume stops. Every round reads the results from disk again.

use camino::Utf8PathBuf;

use crate::{Action, Question, WorkflowId};

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
    /// Returns a plan of some effects and what follows, for which rekindle asks permission.
    pub fn new(id: WorkflowId, steps: Vec<Step>, then: impl Into<Then>) -> Self {
        Self {
            id,
            steps,
            log: Utf8PathBuf::new(),
            then: then.into(),
            ahead: Vec::new(),
            before_asking: String::new(),
            permission: Permission::Ask,
            without_agent: None,
            notes: Vec::new(),
        }
    }

    /// Returns a plan without effects.
    pub fn only(id: WorkflowId, then: impl Into<Then>) -> Self {
        Self::new(id, Vec::new(), then)
    }

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

/// A protocol's own question whether to continue, answered with yes, no or "details".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The question, to the letter.
    pub question: String,
    /// What is shown to a person who asks for details.
    pub details: String,
    /// Offers of the protocol; each is asked after the person agrees, and no answer means no.
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
    /// Why it is due, as a clause ("the run is resumed").
    pub why: String,
}

impl Step {
    /// Returns an effect with its reason.
    pub fn new(action: Action, why: impl Into<String>) -> Self {
        Self {
            action,
            why: why.into(),
        }
    }

    /// Returns a step that prints a text.
    pub fn print(text: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(Action::Print(text.into()), why)
    }

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
    /// An agent is started; the protocol settles the result.
    Agent(AgentTask),
    /// A person is asked; the protocol takes the answer.
    Ask(Question),
    /// Workers do the tasks that the case has ready; then the evidence is read again.
    Workers,
    /// Commands are run in the project; the protocol takes how they ended.
    Check(Checks),
    /// The evidence is read again and planned again.
    Again,
    /// The resume is over.
    Stop(Stop),
}

impl From<Stop> for Then {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<AgentTask> for Then {
    fn from(task: AgentTask) -> Self {
        Self::Agent(task)
    }
}

impl From<Question> for Then {
    fn from(question: Question) -> Self {
        Self::Ask(question)
    }
}

/// Commands that must succeed in the project before the workflow continues.
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
    /// How a caller that does the work itself reports the result, one sentence each; what rekindle
    /// starts an agent for it records by itself.
    pub by_hand: Vec<String>,
    /// What the protocol saw before the work, in its own form, so that it can tell afterwards what the
    /// work has changed. Nobody is told it.
    pub seen: Option<String>,
}

impl AgentTask {
    /// Returns the first attempt at something for an agent, without a task of the workflow.
    pub fn new(role: &'static str, summary: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            role,
            task: None,
            attempt: 1,
            summary: summary.into(),
            prompt: prompt.into(),
            checks: Vec::new(),
            by_hand: Vec::new(),
            seen: None,
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

impl Stop {
    /// Returns an end without hints.
    pub fn new(kind: StopKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            hints: Vec::new(),
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// Kinds of end, which decide the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// Everything is done.
    Done,
    /// Everything is done, and the protocol has printed that itself.
    Said,
    /// It waits for a person, as intended.
    Waiting,
    /// Others work on it; it continues when they have ended.
    OthersAtWork,
    /// It cannot continue.
    Blocked,
    /// It cannot continue, and the protocol has printed that itself.
    BlockedAndSaid,
}

impl StopKind {
    /// Returns whether the workflow cannot continue.
    pub const fn is_blocked(self) -> bool {
        match self {
            Self::Blocked | Self::BlockedAndSaid => true,
            Self::Done | Self::Said | Self::Waiting | Self::OthersAtWork => false,
        }
    }
}
