//! What follows from a person's answer.

use rekindle_model::{Plan, QuestionKind, StopKind, Then};
use serde_json::json;

use super::super::next::NextAction;
use super::super::phase::SeedPhase;
use super::{Planner, stop};

impl Planner<'_> {
    pub(super) fn answer(&self, question: QuestionKind, answer: &str) -> Plan {
        let (word, rest) = split(answer);
        match (question, word.as_str(), &self.run.next) {
            (
                QuestionKind::Approval,
                "approve" | "approve with",
                NextAction::AwaitApproval { .. },
            ) => {
                let notes = if rest.is_empty() { "approve" } else { rest };
                let moved = self.transition(SeedPhase::Execution, "user_approval", Some(notes));
                self.plan(vec![moved], Then::Again)
            }
            (QuestionKind::Approval, "revise", NextAction::AwaitApproval { .. }) => {
                let notes = format!("revise: {rest}");
                let moved = self.transition(SeedPhase::Planning, "user_revision", Some(&notes));
                self.plan(vec![moved], Then::Agent(self.step(Some(rest))))
            }
            (QuestionKind::Approval, "cancel", _) => {
                let record = self
                    .record("run_cancelled")
                    .details(json!({"reason": "cancelled at the approval gate"}));
                let step = self.append(&record, "the user ends the run");
                self.plan(vec![step], stop(StopKind::Done, "the run is cancelled", []))
            }
            (QuestionKind::Escalation, "retry" | "retry with", NextAction::EscalateUser(work)) => {
                self.execute(work, Some(rest).filter(|rest| !rest.is_empty()))
            }
            (QuestionKind::Escalation, "skip", NextAction::EscalateUser(work)) => {
                let record = self
                    .record("task_skipped")
                    .task(&work.task)
                    .details(json!({"reason": "skipped by the user"}));
                let step = self.append(&record, format!("the user skips {}", work.task));
                self.plan(vec![step], Then::Again)
            }
            (QuestionKind::Escalation, "abort", _) => self.plan(
                Vec::new(),
                stop(StopKind::Blocked, "the user ends it here", []),
            ),
            (QuestionKind::PullRequest, "merged", NextAction::PresentPr) => {
                let moved = self.transition(SeedPhase::Consolidation, "merged", None);
                self.plan(vec![moved], Then::Again)
            }
            (QuestionKind::PullRequest, "skip consolidation", NextAction::PresentPr) => self.plan(
                vec![self.completed("the user skips consolidation")],
                Then::Again,
            ),
            // Anything else, or an answer to a question that the run no longer has: ask anew.
            (
                QuestionKind::Approval
                | QuestionKind::Escalation
                | QuestionKind::PullRequest
                | QuestionKind::FailedValidation
                | QuestionKind::CompleteProject
                | QuestionKind::ResumeWorkflow
                | QuestionKind::CorruptState
                | QuestionKind::MissingPlan
                | QuestionKind::PlanReview
                | QuestionKind::CircuitBreaker,
                _,
                _,
            ) => self.plan(Vec::new(), Then::Again),
        }
    }
}

/// Splits `revise: more tests` into the lowercase word and the rest.
fn split(answer: &str) -> (String, &str) {
    let (word, rest) = answer.split_once(':').unwrap_or((answer, ""));
    (word.trim().to_ascii_lowercase(), rest.trim())
}
