//! Cases in which nothing can be resumed: a choice is open, or reading ended early.

use rekindle_model::{
    Assessment, Checkpoint, Finding, Intent, Next, Plan, Progress, State, Summary, Then,
};
use rekindle_world::World;

use super::assess::assess;
use super::read::{Halt, Why};
use super::{documents, facts, findings, id, listed, messages, plan, record};
use rekindle_protocol::capability::CheckpointList;
use rekindle_protocol::{Belongings, Case, Unreadable};

/// How many features are named that may have been meant.
const MOST_NEAR: usize = 3;

/// Returns the case of features of which none was named.
pub(super) fn unchosen(features: &[String], workflows: Vec<Summary>) -> Unreadable {
    Unreadable::new(Assessment {
        id: None,
        state: State::Choice,
        workflows,
        findings: Vec::new(),
        facts: facts::choice(features),
    })
}

/// A feature that cannot be read any further.
pub(super) struct Halted {
    assessment: Assessment,
    halt: Halt,
    text: String,
}

impl Halted {
    pub(super) fn new(halt: Halt, mut workflows: Vec<Summary>) -> Self {
        let findings = findings::halted(&halt);
        let (id, state) = match (&halt.why, &halt.feature) {
            (Why::BadName { .. }, _) => (None, State::Unknown),
            (_, None) => (None, State::Nothing),
            (_, Some(feature)) => {
                let id = id(feature);
                if !workflows.iter().any(|known| known.id == id) {
                    workflows.push(unknown(id.clone(), &findings));
                }
                let is_known = halt.is_known;
                let state = if is_known {
                    State::Corrupt
                } else {
                    State::Unknown
                };
                (Some(id), state)
            }
        };
        let text = messages::halted(&halt, &findings);
        let assessment = Assessment {
            id,
            state,
            workflows,
            facts: facts::halted(&halt),
            findings,
        };
        Self {
            assessment,
            halt,
            text,
        }
    }
}

fn unknown(id: rekindle_model::WorkflowId, findings: &[Finding]) -> Summary {
    let why = findings.first().map(|why| why.message.as_str());
    let next = Next::new("start", why.unwrap_or_default());
    Summary::new(id, State::Unknown, "unknown", Progress::default(), next)
}

impl Case for Halted {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        let name = self.halt.feature.as_deref()?;
        // A new checkpoint repairs a session that has no readable one.
        if let (Intent::Checkpoint { note }, Some(feature)) = (intent, &self.halt.standing) {
            return Some(record::checkpoint(&assess((**feature).clone()), note));
        }
        let mut reasons = self.assessment.findings.iter();
        let reason = reasons.next().map_or("", |finding| &finding.message);
        let mut plan = plan::only_says(name, reason, &self.text);
        // A name is taken whole, so one that was meant is only named.
        if let Then::Stop(stop) = &mut plan.then {
            let near = self.halt.near.iter().take(MOST_NEAR);
            let hints = near.map(|near| format!("`rekindle resume {}`", messages::typed(near)));
            stop.hints.extend(hints);
        }
        Some(plan)
    }

    fn refusal(&self) -> Option<&str> {
        Some(&self.text)
    }

    fn belongings(&self) -> Belongings {
        let documents = match (&self.halt.feature, &self.halt.session_path) {
            (Some(feature), Some(session)) => documents(feature, session),
            (Some(_), None) | (None, _) => Vec::new(),
        };
        Belongings {
            documents,
            ..Belongings::default()
        }
    }

    fn checkpoints(&self) -> Option<&dyn CheckpointList> {
        Some(self)
    }
}

impl CheckpointList for Halted {
    fn list(&self) -> Vec<Checkpoint> {
        let path = self.halt.session_path.clone().unwrap_or_default();
        let standing = self.halt.standing.as_ref();
        let zone = standing.map_or(jiff::tz::TimeZone::UTC, |feature| feature.zone.clone());
        listed(&self.halt.checkpoints, &path, &zone)
    }

    fn timeline(&self) -> Option<String> {
        self.halt.session_path.as_ref()?;
        Some(messages::timeline(&self.halt.checkpoints))
    }

    fn archive(&self) -> Option<Plan> {
        None
    }
}
