//! What a use case asks of a face: to show, to tell, and to put questions.

use jiff::Timestamp;
use rekindle_agents::Agent;
use rekindle_model::{
    AgentTask, Checks, Command, Ended, Finding, Offer, Plan, Question, Step, Stop, Summary,
};
use rekindle_runner::{Output, Recovered, Watcher};

use crate::LastSession;

/// What is shown before a person is asked whether to go on.
#[derive(Debug)]
pub struct Briefing<'a> {
    /// The workflow in one line.
    pub summary: &'a Summary,
    /// What was noticed.
    pub findings: &'a [Finding],
    /// What a yes sets going.
    pub plan: &'a Plan,
    /// Every command that a yes lets run.
    pub commands: &'a [Command],
    /// The digest of all it was made from.
    pub digest: &'a str,
    /// How the last session of a coding agent here ended, where that is worth knowing.
    pub last_session: Option<&'a LastSession>,
    /// The time, for ages.
    pub now: Timestamp,
}

/// What a person chose of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The one at this place, from 0.
    At(usize),
    /// A name.
    Named(String),
    /// None of them.
    Declined,
    /// Nobody is there.
    Nobody,
}

/// What happens while a resume goes on.
#[derive(Debug)]
pub enum News<'a> {
    /// Warnings and notes before anything is done.
    Findings(&'a [Finding]),
    /// Every command that is run once a person agrees.
    Commands(&'a [Command]),
    /// What an earlier rekindle had begun was finished.
    Recovered(&'a Recovered),
    /// Effects of a plan were carried out.
    Applied(&'a [Step]),
    /// Others are at work, and the resume stays until they have ended.
    Watching(&'a Stop),
    /// Commands are run in the project.
    Checking(&'a Checks),
    /// An agent is started.
    AgentStarts(&'a AgentTask),
    /// An agent has ended.
    AgentEnded(&'a AgentTask, &'a Ended),
    /// A limit of money is given that can not hold: this agent's output tells no cost.
    CostUntold(&'a Agent),
}

/// A face: the command line, or whatever else shows and asks.
pub trait Face: Output + Watcher {
    /// Tells of something; goes to standard error.
    fn tell(&mut self, news: &News<'_>);

    /// Lets a person choose among open workflows; `is_one` tells whether a name is one's.
    fn choose(&mut self, open: &[Summary], now: Timestamp, is_one: &dyn Fn(&str) -> bool)
    -> Choice;

    /// Asks whether to go on; no answer is a no.
    fn confirm(&mut self, briefing: &Briefing<'_>) -> bool;

    /// Asks whether a person accepts an offer of the protocol; no answer is a no.
    fn accept(&mut self, offer: &Offer) -> bool;

    /// Asks whether what the text says may be done; no answer is a no.
    fn agree(&mut self, text: &str) -> bool;

    /// Puts a protocol's question; `None` when nobody answers.
    fn answer(&mut self, question: &Question) -> Option<String>;
}
