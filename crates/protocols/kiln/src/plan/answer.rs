//! What a person's answers do.

use rekindle_model::{Action, Plan, Step, StopKind, Then};

use super::super::layout;
use super::super::values::{Stage, Status};
use super::super::words;
use super::{Planner, ending, says, stop};

impl Planner<'_> {
    pub(super) fn answer(&self, question: &str, answer: &str) -> Plan {
        let answer = answer.trim().to_ascii_lowercase();
        match (question, answer.as_str()) {
            (words::VALIDATION, "retry validation") => self.retry_validation(),
            (words::VALIDATION, "fix manually") => self.fix_manually(),
            (words::VALIDATION, "mark complete") => self.mark_complete(),
            (words::COMPLETE, "1") => {
                let hints = [
                    "`/kiln:start` is a command of your coding agent; the memory of this project stays until you archive it",
                ];
                self.plan(
                    Vec::new(),
                    stop(
                        StopKind::Waiting,
                        "run /kiln:start in this directory",
                        &hints,
                    ),
                )
            }
            (words::COMPLETE, "2") => self.review(layout::DECISIONS),
            (words::COMPLETE, "3") => self.review(layout::PITFALLS),
            (words::COMPLETE, "4") => self.archive(),
            // An answer to a question that is not asked any more.
            _ => self.plan(Vec::new(), Then::Again),
        }
    }

    /// Validates once more; the corrections that were made still count.
    fn retry_validation(&self) -> Plan {
        let memory = self
            .judged
            .project
            .memory
            .with_field("stage", Stage::Validation.as_str())
            .with_field("status", Status::InProgress.as_str())
            .with_field(
                "handoff_note",
                "Validation is retried by the operator's choice.",
            )
            .with_field("last_updated", &self.stamp());
        let steps = vec![
            self.write(&memory, "the operator wants validation retried"),
            self.asking(),
        ];
        self.plan(steps, Then::Again)
    }

    /// Leaves it to the person; a paused project is validated afresh by the next resume.
    fn fix_manually(&self) -> Plan {
        let memory = self
            .judged
            .project
            .memory
            .with_field("stage", Stage::Validation.as_str())
            .with_field("status", Status::Paused.as_str())
            .with_field(
                "handoff_note",
                "The operator fixes the validation failures manually; validate again afterwards.",
            );
        let hints = ["when it is fixed, `rekindle resume` validates again"];
        let stop = ending(
            StopKind::Waiting,
            "the validation failures are yours to fix",
            &hints,
        );
        self.stop_with(&memory, "the operator fixes it manually", stop)
    }

    fn mark_complete(&self) -> Plan {
        let memory = self.completed("Marked complete by the operator after validation had failed.");
        let stop = ending(StopKind::Done, "the project is marked complete", &[]);
        self.stop_with(&memory, "the operator marks it complete", stop)
    }

    fn review(&self, name: &str) -> Plan {
        let text = words::document(self.judged, name);
        let steps = vec![says(text, name)];
        self.plan(
            steps,
            stop(StopKind::Done, &format!("that is all of {name}"), &[]),
        )
    }

    /// Moves the memory away, so that a new project can begin here; nothing of it is lost.
    fn archive(&self) -> Plan {
        if let Some(target) = &self.judged.project.linked_to {
            // What a user keeps elsewhere by choice is not moved from there.
            let reason = format!("the memory is a link to `{target}`, so it was left where it is");
            let hints = ["move that folder yourself and remove the link; nothing was changed"];
            return self.plan(Vec::new(), stop(StopKind::Waiting, &reason, &hints));
        }
        let stamp = self.now.strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        let from = self.judged.project.memory_dir.clone();
        let Some(to) = self.judged.project.layout.archived_memory(&stamp) else {
            return self.plan(Vec::new(), Then::Again);
        };
        let reason = format!("the memory is archived in `{to}`");
        let step = Step {
            action: Action::MoveFolder { from, to },
            why: "the memory of the complete project is archived".to_owned(),
        };
        let hints = ["`/kiln:start` begins a new project here"];
        self.plan(vec![step], stop(StopKind::Done, &reason, &hints))
    }
}
