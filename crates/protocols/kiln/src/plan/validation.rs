//! The validation loop: what follows from a report, from a correction, and from the last correction.

use rekindle_model::{AgentTask, Ended, Plan, Step, Stop, StopKind};

use super::super::assess::{Judged, MOST_CORRECTIONS, assess};
use super::super::marks::{self, Left};
use super::super::memory::{CORRECTION_LOG, Memory};
use super::super::messages;
use super::super::prompts;
use super::super::table::{Branch, CONCLUSIONS, Conclusion, Judgment};
use super::super::values::{Stage, Status, Verdict};
use super::Planner;
use super::settle::MOST_ATTEMPTS;
use super::trouble::{Trouble, capitalized};

impl Planner<'_> {
    pub(super) fn settle_correction(&self, cycle: u32, task: &AgentTask, ended: &Ended) -> Plan {
        let attempt = task.attempt;
        let memory = &self.judged.project.memory;
        let (Ended::Failed { reason } | Ended::CheckFailed { reason, .. }) = ended else {
            return self.corrected(cycle);
        };
        let work = format!("correction cycle {cycle}/{MOST_CORRECTIONS}");
        let trouble = Trouble {
            sentence: format!("{} attempt {attempt} failed.", capitalized(&work)),
            work,
            verb: "failed",
            reason,
        };
        let memory = self.with_trouble(memory, task, &trouble);
        if attempt < MOST_ATTEMPTS {
            let order = |next: &Judged| Some(prompts::correction(next, attempt + 1));
            return self.send_with(&memory, "the correction is tried again", order);
        }
        let memory = memory.with_field("status", Status::Blocked.as_str());
        let reason = format!("correction cycle {cycle} did not succeed: {reason}");
        let stop = Stop::new(StopKind::Blocked, reason)
            .hint("`rekindle resume` shows the validation report and asks how to proceed");
        self.stop_with(&memory, "the correction failed", stop)
    }

    /// Records that a correction is done and enters validation again.
    pub(super) fn corrected(&self, cycle: u32) -> Plan {
        let done = format!("Correction cycle {cycle}/{MOST_CORRECTIONS} complete");
        let note = format!("{done}; validating again.");
        let done = self.event("correction_complete", &done);
        let memory = self
            .judged
            .project
            .memory
            .with_stage(Stage::Validation, Status::InProgress)
            .with_field("handoff_note", &note)
            .with_entry(CORRECTION_LOG, &done);
        self.enter_with(memory, "the correction is done")
    }

    /// Applies the result of Argus; `seen` is the mark of the files before it.
    pub(super) fn settle_validation(&self, seen: Option<&str>, ended: &Ended) -> Plan {
        let stops = |reason: &str| {
            let stop = Stop::new(StopKind::Blocked, reason)
                .hint("run `rekindle resume` to validate again")
                .hint("see `rekindle explain AGENT_FAILED`");
            self.plan(Vec::new(), stop)
        };
        if let Ended::Failed { reason } | Ended::CheckFailed { reason, .. } = ended {
            return stops(&format!("Argus did not finish: {reason}"));
        }
        let left = marks::left(&self.judged.project, seen);
        self.concluded(left).unwrap_or_else(|| match left {
            Left::NoVerdict => {
                stops("Argus returned, but .kiln/validation/report.md has no verdict")
            }
            Left::Nothing | Left::Reported(_) | Left::Noted(_) => {
                stops("Argus wrote no report: .kiln/validation/report.md is missing or unchanged")
            }
        })
    }

    /// Returns what follows from a verdict; `None` without one.
    pub(super) fn concluded(&self, left: Left) -> Option<Plan> {
        match left {
            Left::Nothing | Left::NoVerdict => None,
            Left::Reported(verdict) => Some(self.conclude(verdict)),
            Left::Noted(verdict) => {
                // An existing report is old, so its corrections do not count.
                let mut judged = self.judged.clone();
                judged.project.report = None;
                let planner = Planner {
                    judged: &judged,
                    now: self.now,
                };
                Some(planner.conclude(verdict))
            }
        }
    }

    fn conclude(&self, verdict: Verdict) -> Plan {
        let fields = &self.judged.project.fields;
        let conclusion = CONCLUSIONS.decide(Judgment {
            said: verdict,
            may_correct: fields.correction_cycle < MOST_CORRECTIONS,
        });
        match conclusion {
            Conclusion::Complete => {
                let context = match self.judged.inventory.len() {
                    0 => "The project is validated.".to_owned(),
                    n => format!("All {n} phases completed and validated."),
                };
                let memory = self
                    .completed("Protocol run completed successfully.")
                    .with_field("correction_cycle", "0")
                    .with_block("handoff_context", &context);
                let reason = "validation passed; the project is complete";
                let stop = Stop::new(StopKind::Done, reason);
                self.stop_with(&memory, "validation passed", stop)
            }
            Conclusion::Correct => self.correct(verdict),
            Conclusion::GiveUp => self.give_up(verdict),
        }
    }

    /// Starts Maestro to fix what validation found.
    fn correct(&self, verdict: Verdict) -> Plan {
        let project = &self.judged.project;
        let cycle = self.next_cycle();
        let n_tasks = project
            .report
            .as_ref()
            .map_or(0, |report| report.n_corrections);
        let context = format!(
            "Validation verdict: {}. Correction tasks: {n_tasks}. See .kiln/validation/report.md.",
            verdict.as_str()
        );
        let mut memory = self
            .caught_up()
            .with_stage(Stage::Execution, Status::InProgress)
            .with_field("correction_cycle", &cycle.to_string())
            .with_field(
                "handoff_note",
                &format!(
                    "Correction cycle {cycle}/{MOST_CORRECTIONS}: fixing validation failures."
                ),
            )
            .with_block("handoff_context", &context);
        // An interrupted correction is already in the log, as one cycle.
        if !self.is_begun_again() {
            let named = format!(
                "- Cycle {cycle}: {}, {n_tasks} correction tasks",
                verdict.as_str()
            );
            let begun = self.event(
                "correction_start",
                &format!("Correction cycle {cycle}/{MOST_CORRECTIONS} started"),
            );
            memory = memory
                .with_entry(CORRECTION_LOG, &named)
                .with_entry(CORRECTION_LOG, &begun);
        }
        self.send_with(&memory, "validation found failures", |next| {
            Some(prompts::correction(next, 1))
        })
    }

    /// Returns the number of the next correction, which may be an interrupted one.
    pub(super) fn next_cycle(&self) -> u32 {
        let cycle = self.judged.project.fields.correction_cycle;
        if self.is_begun_again() {
            cycle
        } else {
            cycle + 1
        }
    }

    /// Returns whether the next correction was started before and interrupted.
    fn is_begun_again(&self) -> bool {
        let fields = &self.judged.project.fields;
        fields.has_open_correction && fields.correction_cycle > 0
    }

    /// Validation failed after the last correction: a person decides.
    fn give_up(&self, verdict: Verdict) -> Plan {
        let cycle = self.judged.project.fields.correction_cycle;
        let memory = self
            .judged
            .project
            .memory
            .with_stage(Stage::Validation, Status::Blocked)
            .with_field("handoff_note", &format!("Validation failed after {cycle} correction cycles; operator intervention needed."))
            .with_block(
                "handoff_context",
                &format!("Validation still failing after {cycle} correction cycles. Verdict: {}.", verdict.as_str()),
            )
            .with_field("last_updated", &self.stamp());
        let next = assess(self.judged.project.with_memory(memory));
        let steps = vec![
            self.write(
                &next.project.memory,
                "validation failed after the last correction",
            ),
            Step::print(
                messages::validation(&next, Branch::Blocked),
                "the validation report",
            ),
        ];
        self.plan(steps, messages::failed_validation())
    }

    /// Returns the memory of a project that is complete.
    pub(super) fn completed(&self, note: &str) -> Memory {
        self.caught_up()
            .with_stage(Stage::Complete, Status::Complete)
            .with_field("phase_number", "null")
            .with_field("phase_name", "null")
            .with_field("completed_at", &self.stamp())
            .with_field("handoff_note", note)
    }

    fn event(&self, kind: &str, description: &str) -> String {
        format!("- [{}] [Kiln] [{kind}] — {description}", self.stamp())
    }
}

#[cfg(test)]
#[path = "validation_tests.rs"]
mod tests;
