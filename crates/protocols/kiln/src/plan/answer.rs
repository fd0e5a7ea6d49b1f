//! The effects of a person's answers.

use rekindle_model::{Action, Plan, Step, Stop, StopKind, Then};

use super::super::layout;
use super::super::messages;
use super::super::values::{Stage, Status};
use super::Planner;

impl Planner<'_> {
    pub(super) fn answer(&self, question: &str, answer: &str) -> Plan {
        let answer = answer.trim().to_ascii_lowercase();
        match (question, answer.as_str()) {
            (messages::VALIDATION, "retry validation") => self.retry_validation(),
            (messages::VALIDATION, "fix manually") => self.fix_manually(),
            (messages::VALIDATION, "mark complete") => self.mark_complete(),
            (messages::COMPLETE, "1") => {
                let stop = Stop::new(StopKind::Waiting, "run /kiln:start in this directory");
                self.plan(
                    Vec::new(),
                    stop.hint("`/kiln:start` is a command of your coding agent; the memory of this project stays until you archive it"),
                )
            }
            (messages::COMPLETE, "2") => self.review(layout::DECISIONS),
            (messages::COMPLETE, "3") => self.review(layout::PITFALLS),
            (messages::COMPLETE, "4") => self.archive(),
            // An answer to a question that is no longer asked.
            _ => self.plan(Vec::new(), Then::Again),
        }
    }

    /// Validates again; the corrections that were made still count.
    fn retry_validation(&self) -> Plan {
        let memory = self
            .judged
            .project
            .memory
            .with_stage(Stage::Validation, Status::InProgress)
            .with_field(
                "handoff_note",
                "Validation is retried by the operator's choice.",
            )
            .with_field("last_updated", &self.stamp());
        let steps = vec![
            self.write(&memory, "the operator retries validation"),
            self.asking(),
        ];
        self.plan(steps, Then::Again)
    }

    /// Leaves the fix to the person; the next resume validates a paused project afresh.
    fn fix_manually(&self) -> Plan {
        let memory = self
            .judged
            .project
            .memory
            .with_stage(Stage::Validation, Status::Paused)
            .with_field(
                "handoff_note",
                "The operator fixes the validation failures manually; validate again afterwards.",
            );
        let stop = Stop::new(StopKind::Waiting, "fix the validation failures by hand")
            .hint("when they are fixed, `rekindle resume` validates again");
        self.stop_with(&memory, "the operator fixes it manually", stop)
    }

    fn mark_complete(&self) -> Plan {
        let memory = self.completed("Marked complete by the operator after validation had failed.");
        let stop = Stop::new(StopKind::Done, "the project is marked complete");
        self.stop_with(&memory, "the operator marks it complete", stop)
    }

    fn review(&self, name: &str) -> Plan {
        let text = messages::document(self.judged, name);
        let stop = Stop::new(StopKind::Done, format!("end of {name}"));
        self.plan(vec![Step::print(text, name)], stop)
    }

    /// Archives the memory, so that a new project can start here.
    fn archive(&self) -> Plan {
        if let Some(target) = &self.judged.project.linked_to {
            // A user keeps the memory elsewhere by choice.
            let reason = format!("the memory is a link to `{target}`, so it was not moved");
            let stop = Stop::new(StopKind::Waiting, reason)
                .hint("move that folder yourself and remove the link; nothing was changed");
            return self.plan(Vec::new(), stop);
        }
        let stamp = self.now.strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        let from = self.judged.project.memory_dir.clone();
        let Some(to) = self.judged.project.layout.archived_memory(&stamp) else {
            return self.plan(Vec::new(), Then::Again);
        };
        let reason = format!("the memory is archived in `{to}`");
        let why = "the memory of the complete project is archived";
        let step = Step::new(Action::MoveFolder { from, to }, why);
        let stop = Stop::new(StopKind::Done, reason);
        self.plan(
            vec![step],
            stop.hint("`/kiln:start` starts a new project here"),
        )
    }
}
