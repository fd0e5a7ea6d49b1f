//! The interface of a front end: it shows, reports and asks.

use camino::Utf8Path;
use jiff::Timestamp;
use rekindle_agents::Agent;
use rekindle_model::{
    AgentTask, Checks, Command, Ended, Finding, Offer, Plan, Question, Step, Stop, Summary,
    WorkflowId,
};
use rekindle_protocol::capability::Revision;
use rekindle_runner::{Output, Recovered, Watcher};

use crate::{Error, LastSession, Outline};

/// What a person said to a question that is answered with yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// It may be done.
    Yes,
    /// It may not.
    No,
    /// Nobody is there: standard input is at its end.
    Nobody,
}

impl Agreement {
    /// Returns whether it may be done; where nobody answered, that is an error.
    pub(crate) fn given(self) -> Result<bool, Error> {
        match self {
            Self::Yes => Ok(true),
            Self::No => Ok(false),
            Self::Nobody => Err(Error::NobodyAnswered),
        }
    }
}

/// What is shown before a person is asked to agree.
#[derive(Debug)]
pub struct Briefing<'a> {
    /// The workflow in one line.
    pub summary: &'a Summary,
    /// The findings.
    pub findings: &'a [Finding],
    /// The plan.
    pub plan: &'a Plan,
    /// Every command that runs if the person agrees.
    pub commands: &'a [Command],
    /// The digest of the plan.
    pub digest: &'a str,
    /// How the last session of a coding agent here ended, if that matters.
    pub last_session: Option<&'a LastSession>,
    /// What of it a person decides on, where the tasks are ours to run.
    pub outline: Option<&'a Outline>,
    /// What an empty answer means.
    pub enter: Enter,
    /// The current time.
    pub now: Timestamp,
}

/// A person's choice from a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The index, from 0.
    At(usize),
    /// A name.
    Named(String),
    /// None of them.
    Declined,
    /// Nobody answered.
    Nobody,
}

/// Progress of a resume.
#[derive(Debug)]
pub enum News<'a> {
    /// Warnings and notes before the first step.
    Findings(&'a [Finding]),
    /// Every command that runs once a person agrees.
    Commands(&'a [Command]),
    /// The unfinished steps of an interrupted command were finished.
    Recovered(&'a Recovered),
    /// Effects of a plan were applied.
    Applied(&'a [Step]),
    /// Others are at work, and the resume waits until they have ended.
    Watching(&'a Stop),
    /// Commands run in the project.
    Checking(&'a Checks),
    /// An agent is started.
    AgentStarts(&'a AgentTask),
    /// An agent that continues a session said something.
    Said(&'a str),
    /// An agent has ended.
    AgentEnded(&'a AgentTask, &'a Ended),
    /// An agent may not edit files, and nobody was asked whether it may.
    MayNotEdit {
        /// What is wrong.
        problem: &'a str,
        /// What helps.
        remedy: &'a str,
    },
    /// So many files have changes that no commit has; tasks start without them.
    Uncommitted(usize),
    /// The record of a new run is written, with so many files.
    Preparing(usize),
    /// git knows nobody who makes commits here, so they are rekindle's own.
    NoIdentity,
    /// A new run is started although its plan has an open one.
    AlsoOpen(&'a WorkflowId),
    /// The plan file of a run has changed, and the run goes on as it was planned.
    PlanChanged(&'a Utf8Path, &'a Revision),
    /// The plan file of a run has changed, and cannot be taken over because it is not a valid plan.
    PlanUnsound(&'a Utf8Path),
    /// The changes of a run's plan file were taken over.
    PlanTakenOver(&'a Utf8Path, &'a Revision),
    /// The user is told about a run, whatever else they look at.
    Notice {
        /// The run, in a few words.
        title: &'a str,
        /// What about it.
        text: &'a str,
        /// Whether the terminal rings.
        bell: bool,
        /// Whether the terminal asks the desktop to show it.
        desktop: bool,
    },
    /// The user could not be told about a run.
    NotNotified(&'a str),
    /// A cost limit is given that cannot be enforced: this agent does not report its cost.
    CostUntold(&'a Agent),
}

/// What an empty answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enter {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// A front end: the command line or the MCP server.
pub trait Face: Output + Watcher {
    /// Reports progress; goes to standard error.
    fn tell(&mut self, news: &News<'_>);

    /// Lets a person choose an open workflow; `is_one` says whether a name is valid.
    fn choose(&mut self, open: &[Summary], now: Timestamp, is_one: &dyn Fn(&str) -> bool)
    -> Choice;

    /// Asks whether to continue.
    fn confirm(&mut self, briefing: &Briefing<'_>) -> Agreement;

    /// Asks whether to start a new run.
    fn start(&mut self, outline: &Outline) -> Agreement;

    /// Asks whether a person accepts an offer of the protocol; no answer means no.
    fn accept(&mut self, offer: &Offer) -> bool;

    /// Asks for agreement to what the text says.
    fn agree(&mut self, text: &str) -> Agreement {
        self.propose(text, "Continue?", Enter::No)
    }

    /// Shows a text and asks a question that is answered with yes or no.
    fn propose(&mut self, text: &str, question: &str, enter: Enter) -> Agreement;

    /// Asks a protocol's question; `None` if nobody answers.
    fn answer(&mut self, question: &Question) -> Option<String>;
}
