//! Plans for the end of an agent.

use rekindle_model::{AgentTask, Ended, Plan, Step, Stop, StopKind, Then};
use serde_json::{Value, json};

use super::super::layout::Artifact;
use super::super::phase::BasePhase;
use super::super::tasks::MOST_FAILURES;
use super::{Planner, Report};

impl Planner<'_> {
    pub(super) fn settle(&self, task: &AgentTask, ended: &Ended) -> Plan {
        match (task.role, &task.task) {
            ("executor", Some(id)) => self.settle_executor(id, task.attempt, ended),
            ("verifier", Some(id)) => self.settle_verifier(id, task.attempt, ended),
            _ => self.settle_step(task, ended),
        }
    }

    fn settle_executor(&self, id: &str, attempt: u32, ended: &Ended) -> Plan {
        let details = |reason: &str| json!({"attempt": attempt, "error": reason});
        match ended {
            Ended::Succeeded => {
                let record = self
                    .record("task_implemented")
                    .task(id)
                    .details(json!({"attempt": attempt}));
                let step = self.append(&record, format!("the agent says that {id} is implemented"));
                // A task that failed too often is never selected, so a retry of the user is
                // verified at once.
                let then = if attempt > MOST_FAILURES {
                    self.verifier(&self.work(id, attempt)).into()
                } else {
                    Then::Again
                };
                self.plan(vec![step], then)
            }
            Ended::Failed { reason } | Ended::CheckFailed { reason, .. } => {
                let record = self.record("task_failed").task(id).details(details(reason));
                let step = self.append(&record, format!("attempt {attempt} of {id} failed"));
                self.plan(vec![step], Then::Again)
            }
        }
    }

    fn settle_verifier(&self, id: &str, attempt: u32, ended: &Ended) -> Plan {
        let refused = |reason: &str| {
            let record = self
                .record("task_verification_failed")
                .task(id)
                .details(json!({"attempt": attempt, "reason": reason}));
            vec![self.append(&record, format!("{id} did not pass verification"))]
        };
        let steps = match (ended, self.documents.report) {
            (Ended::CheckFailed { check, reason }, _) => refused(&format!("`{check}`: {reason}")),
            (Ended::Failed { reason }, _) => refused(reason),
            (Ended::Succeeded, Some(Report::Failed)) => {
                refused("the verifier's report says failed")
            }
            (Ended::Succeeded, Some(Report::Blocked)) => {
                let record = self.record("task_blocked").task(id).details(
                    json!({"reason": "the verifier's report says blocked", "blocking": true}),
                );
                vec![self.append(&record, format!("{id} is blocked"))]
            }
            (Ended::Succeeded, Some(Report::Passed) | None) => {
                let verified = self
                    .record("task_verified")
                    .task(id)
                    .details(json!({"attempt": attempt}));
                let completed = self
                    .record("task_completed")
                    .task(id)
                    .details(json!({"attempt": attempt}));
                vec![
                    self.append(&verified, format!("{id} passed verification")),
                    self.append(&completed, format!("{id} is done")),
                ]
            }
        };
        self.plan(steps, Then::Again)
    }

    fn settle_step(&self, task: &AgentTask, ended: &Ended) -> Plan {
        let (Ended::Failed { reason } | Ended::CheckFailed { reason, .. }) = ended else {
            return self.plan(self.after_step(task), Then::Again);
        };
        let stop = Stop::new(
            StopKind::Blocked,
            format!("the {} failed: {reason}", task.role),
        )
        .hint("read the agent's output above, then try again: `rekindle resume`")
        .hint("see `rekindle explain AGENT_FAILED`");
        self.plan(Vec::new(), stop)
    }

    /// Returns the event after an agent's step, if its document exists.
    fn after_step(&self, task: &AgentTask) -> Vec<Step> {
        let has = |artifact| self.run.evidence.artifacts.contains(&artifact);
        let is_there = match task.role {
            "spec-writer" => has(Artifact::Prd),
            "memory-consolidator" => has(Artifact::Summary),
            _ => true,
        };
        let Some(Follows {
            event,
            details,
            why,
        }) = self.follows(task.role).filter(|_| is_there)
        else {
            return Vec::new();
        };
        let mut record = self.record(event);
        if let Some(details) = details {
            record = record.details(details);
        }
        vec![self.append(&record, why)]
    }

    /// Returns the event after the step of a role.
    pub(super) fn follows(&self, role: &str) -> Option<Follows> {
        let moves = |to, trigger| {
            let details = self.moved(to, trigger);
            Follows {
                event: "phase_transition",
                why: format!("the run moves to phase {}", details["to_phase"]),
                details: Some(details),
            }
        };
        match role {
            "spec-writer" if self.run.phase.base == BasePhase::Intake => {
                Some(moves(BasePhase::Planning, "prd_ready"))
            }
            "executor" => Some(moves(BasePhase::Cleanup, "small_task_done")),
            "verifier" => Some(moves(BasePhase::Cleanup, "all_tasks_finished")),
            "cleanup" => Some(Follows {
                event: "cleanup_completed",
                details: None,
                why: "cleanup is done".to_owned(),
            }),
            "memory-consolidator" => Some(Follows {
                event: "run_completed",
                details: Some(self.totals()),
                why: "memory is consolidated".to_owned(),
            }),
            _ => None,
        }
    }
}

/// An event that follows a step.
pub(super) struct Follows {
    pub(super) event: &'static str,
    pub(super) details: Option<Value>,
    pub(super) why: String,
}
