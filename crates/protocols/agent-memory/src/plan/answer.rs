//! Plans for the answers of a person.

use rekindle_model::{Plan, Stop, StopKind, Then};
use serde_json::json;

use super::super::next::NextAction;
use super::super::phase::BasePhase;
use super::Planner;
use crate::messages::{APPROVAL, ESCALATION, PULL_REQUEST};

impl Planner<'_> {
    pub(super) fn answer(&self, question: &str, answer: &str) -> Plan {
        let (word, rest) = split(answer);
        match (question, word.as_str(), &self.run.next) {
            (APPROVAL, "approve" | "approve with", NextAction::AwaitApproval { .. }) => {
                let notes = if rest.is_empty() { "approve" } else { rest };
                let moved = self.transition(BasePhase::Execution, "user_approval", Some(notes));
                self.plan(vec![moved], Then::Again)
            }
            (APPROVAL, "revise", NextAction::AwaitApproval { .. }) => {
                let notes = format!("revise: {rest}");
                let moved = self.transition(BasePhase::Planning, "user_revision", Some(&notes));
                self.plan(vec![moved], self.step(Some(rest)))
            }
            (APPROVAL, "cancel", _) => {
                let record = self
                    .record("run_cancelled")
                    .details(json!({"reason": "cancelled at the approval gate"}));
                let step = self.append(&record, "the user ends the run");
                self.plan(
                    vec![step],
                    Stop::new(StopKind::Done, "the run is cancelled"),
                )
            }
            (ESCALATION, "retry" | "retry with", NextAction::EscalateUser(work)) => {
                self.execute(work, Some(rest).filter(|rest| !rest.is_empty()))
            }
            (ESCALATION, "skip", NextAction::EscalateUser(work)) => {
                let record = self
                    .record("task_skipped")
                    .task(&work.task)
                    .details(json!({"reason": "skipped by the user"}));
                let step = self.append(&record, format!("the user skips {}", work.task));
                self.plan(vec![step], Then::Again)
            }
            (ESCALATION, "abort", _) => self.plan(
                Vec::new(),
                Stop::new(StopKind::Blocked, "the user stopped here"),
            ),
            (PULL_REQUEST, "merged", NextAction::PresentPr) => {
                let moved = self.transition(BasePhase::Consolidation, "merged", None);
                self.plan(vec![moved], Then::Again)
            }
            (PULL_REQUEST, "skip consolidation", NextAction::PresentPr) => self.plan(
                vec![self.completed("the user skips consolidation")],
                Then::Again,
            ),
            // An answer to a question that the run no longer has: ask anew.
            _ => self.plan(Vec::new(), Then::Again),
        }
    }
}

/// Splits `revise: more tests` into the lowercase keyword and the rest.
fn split(answer: &str) -> (String, &str) {
    let (word, rest) = answer.split_once(':').unwrap_or((answer, ""));
    (word.trim().to_ascii_lowercase(), rest.trim())
}
