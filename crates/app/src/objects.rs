//! Converts results of use cases to the objects that leave the process: all front ends show the same ones.

use rekindle_model::StopKind;
use rekindle_wire::{
    AtWorkOut, CheckpointOut, Checkpoints, EventOut, Explained as ExplainedOut, Facts, FindingPage,
    Inspect, LastSessionOut, PlanOut, RequestOut, ResumeOut, Status, WorkflowOut,
};

use crate::{
    Explained, Inspected, LastSession, NextStep, Outcome, Overview, Planned, Project, Recorded,
    Resumed, Timeline,
};

impl Overview {
    /// Returns the object of `status`.
    pub fn object(&self, project: &Project) -> Status {
        Status {
            schema: "rekindle.status/1",
            project: project.folder.to_string(),
            workflows: self
                .workflows
                .iter()
                .map(|summary| {
                    let mut links = self.worked_on.iter();
                    let link = links.find(|(session, _)| *session == summary.id);
                    WorkflowOut {
                        worked_on: link.map(|(_, workflow)| workflow.to_string()),
                        ..rekindle_wire::workflow(summary, self.condition(summary))
                    }
                })
                .collect(),
            at_work: self
                .at_work
                .iter()
                .map(|(id, who)| AtWorkOut {
                    id: id.to_string(),
                    who: who.to_string(),
                })
                .collect(),
            next_command: self.next_step.as_ref().map(NextStep::command),
            last_session: self.last_session.as_ref().map(last_session),
        }
    }
}

fn last_session(last: &LastSession) -> LastSessionOut {
    LastSessionOut {
        agent: last.agent.map(|agent| agent.name().to_owned()),
        session: last.id.clone(),
        at: last.at.map(rekindle_text::format_seconds),
        state: last.fate.as_str().to_owned(),
        text: last.to_string(),
        processes: last.left.clone(),
    }
}

impl Inspected {
    /// Returns the object of `inspect`.
    pub fn object(&self) -> Inspect {
        let assessment = self.assessment();
        let of_sessions = self.last_session.as_ref().and_then(LastSession::finding);
        Inspect {
            schema: "rekindle.inspect/1",
            protocol: self.protocol.to_string(),
            id: assessment.id.as_ref().map(|id| id.name.clone()),
            state: assessment.state.as_str().to_owned(),
            findings: assessment
                .findings
                .iter()
                .chain(&of_sessions)
                .chain(&self.of_records)
                .map(rekindle_wire::finding)
                .collect(),
            facts: Facts(self.facts()),
        }
    }
}

impl Planned {
    /// Returns the object of `plan`.
    pub fn object(&self) -> PlanOut {
        let findings = &self.assessment.findings;
        let mut object = rekindle_wire::plan(&self.plan, &self.digest, findings, &self.commands);
        object.unfinished.clone_from(&self.unfinished);
        object
    }
}

/// The object of `explain`, in its two forms.
#[derive(Debug)]
pub enum ExplainedObject {
    /// Of a task.
    Task(ExplainedOut),
    /// Of a code.
    Code(FindingPage),
}

impl Explained {
    /// Returns the object of `explain`.
    pub fn object(&self) -> ExplainedObject {
        match self {
            Self::Task(explanation) => ExplainedObject::Task(ExplainedOut::from(explanation)),
            Self::Code(code) => ExplainedObject::Code(FindingPage {
                schema: "rekindle.finding/1",
                code: code.to_string(),
                severity: code.severity().as_str().to_owned(),
                page: code.page().to_owned(),
            }),
        }
    }
}

impl Recorded {
    /// Returns the object of `event`, `heartbeat` and `checkpoint`.
    pub fn object(self) -> EventOut {
        EventOut {
            schema: "rekindle.event/1",
            id: self.id.to_string(),
            log: self.log.into_string(),
            record: self.record,
            notes: self.finished.into_iter().chain(self.notes).collect(),
        }
    }
}

impl Timeline {
    /// Returns the object of `checkpoints`.
    pub fn object(&self) -> Checkpoints {
        Checkpoints {
            schema: "rekindle.checkpoints/1",
            id: self.id.to_string(),
            checkpoints: self.checkpoints.iter().map(CheckpointOut::from).collect(),
        }
    }
}

impl Resumed {
    /// Returns the object of `resume`; `text` is what the protocol printed.
    pub fn object(self, text: String) -> ResumeOut {
        let mut out = ResumeOut {
            schema: "rekindle.resume/1",
            id: self.id.map(|id| id.to_string()),
            outcome: String::new(),
            summary: String::new(),
            text,
            agent: None,
            question: None,
            hints: Vec::new(),
            findings: self.findings.iter().map(rekindle_wire::finding).collect(),
            requests: self.requests.iter().map(RequestOut::from).collect(),
            finished: self.finished,
        };
        let (outcome, summary) = match self.outcome {
            Outcome::Nothing => ("nothing", "nothing to resume here".to_owned()),
            Outcome::Declined => ("declined", "nothing was changed".to_owned()),
            Outcome::Ran(ending) => (
                "done",
                format!(
                    "{} landed",
                    rekindle_text::count(ending.tally.landed, "task")
                ),
            ),
            Outcome::Stopped(stop) => {
                out.hints = stop.hints;
                let word = match stop.kind {
                    StopKind::Done | StopKind::Said => "done",
                    StopKind::Waiting | StopKind::OthersAtWork => "waiting",
                    StopKind::Blocked | StopKind::BlockedAndSaid => "blocked",
                };
                (word, stop.reason)
            }
            Outcome::AgentNeeded(task) => {
                let summary = task.summary.clone();
                out.agent = Some(rekindle_wire::agent(&task));
                out.hints = task.by_hand;
                ("agent_needed", summary)
            }
            Outcome::Unanswered(question) => {
                out.question = Some(rekindle_wire::question(&question));
                ("waiting", question.unanswered)
            }
        };
        outcome.clone_into(&mut out.outcome);
        out.summary = summary;
        out
    }
}
