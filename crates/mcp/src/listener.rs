//! The face of a resume over MCP: keeps what is said, and answers nothing itself.
//!
//! The plan was agreed to before. A protocol's questions are for the person at the client.

use jiff::Timestamp;
use rekindle_app::{
    Agreement, Briefing, Choice, Enter, Event, Face, LeftOut, News, Outline, Output, RunView,
    Watcher,
};
use rekindle_model::{Action, Offer, Question, Step, Summary};

use crate::person::Person;
use crate::quote::{is_plain, quoted};

/// Keeps what a resume has to say.
#[derive(Default)]
pub(crate) struct Listener {
    /// The text that the protocol printed.
    pub(crate) printed: String,
    /// What the agent must know or do, one line each.
    pub(crate) hints: Vec<String>,
    /// The one who answers the questions of a protocol.
    person: Option<Person>,
}

impl Listener {
    /// Returns one with the person who answers, if the client can ask one.
    pub(crate) fn of(person: Option<Person>) -> Self {
        Self {
            person,
            ..Self::default()
        }
    }
}

impl Output for Listener {
    fn print(&mut self, text: &str) {
        self.printed.push_str(text);
    }
}

// No workers are started over MCP, so there is nothing to watch.
impl Watcher for Listener {
    fn progress(&mut self, _: &Event<'_>) {}

    fn checkout_changed(&mut self, _: &[String]) {}

    fn left_out(&mut self, _: &LeftOut<'_>) {}

    fn view(&mut self, _: &RunView) {}
}

impl Face for Listener {
    fn tell(&mut self, news: &News<'_>) {
        match news {
            News::Applied(steps) => self.hints.extend(steps.iter().filter_map(for_the_host)),
            News::Recovered(recovered) => {
                self.hints.extend(rekindle_app::finished(recovered));
            }
            // Findings are part of the plan; the rest is about agents that are not started over MCP.
            News::Findings(_)
            | News::Commands(_)
            | News::Watching(_)
            | News::Checking(_)
            | News::AgentStarts(_)
            | News::Said(_)
            | News::AgentEnded(..)
            | News::MayNotEdit { .. }
            | News::Preparing(_)
            | News::NoIdentity
            | News::AlsoOpen(_)
            | News::Notice { .. }
            | News::NotNotified(_)
            | News::PlanChanged(..)
            | News::PlanUnsound(_)
            | News::PlanTakenOver(..)
            | News::Uncommitted(_)
            | News::CostUntold(_) => {}
        }
    }

    fn choose(&mut self, _: &[Summary], _: Timestamp, _: &dyn Fn(&str) -> bool) -> Choice {
        Choice::Nobody
    }

    fn confirm(&mut self, _: &Briefing<'_>) -> Agreement {
        Agreement::Nobody
    }

    fn start(&mut self, _: &Outline) -> Agreement {
        Agreement::Nobody
    }

    fn accept(&mut self, _: &Offer) -> bool {
        false
    }

    fn propose(&mut self, _: &str, _: &str, _: Enter) -> Agreement {
        Agreement::Nobody
    }

    fn answer(&mut self, question: &Question) -> Option<String> {
        self.person.as_ref()?.answers(question)
    }
}

/// Returns a request that only the host can carry out; the host is the caller.
fn for_the_host(step: &Step) -> Option<String> {
    match &step.action {
        Action::AskHost { who, what } if is_plain(who) => {
            Some(format!("send `{what}` to {who}, because {}", step.why))
        }
        Action::AskHost { who, what } => Some(format!(
            "send `{what}` to the recipient named below, because {}\n{}",
            step.why,
            quoted("the task list", who)
        )),
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
