//! Verdict and intent to plan: kiln's steps in order, one round of the loop at a time.
//!
//! A resume opens with the banner, makes the one edit of step 7, and enters the stage: it prints the
//! prescribed text and decides what follows. A later round starts an agent, and the result is written
//! to the memory before the stage is entered again, until a person is needed or the project is
//! complete. The memory is the only file that is changed.

mod answer;
mod enter;
mod handed_back;
mod settle;
mod trouble;
mod validation;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{
    Action, AgentTask, Intent, Permission, Plan, Step, Stop, StopKind, Then, WorkflowId,
};

use self::enter::{ahead, enter};
use self::trouble::is_routine;
use super::assess::{Execution, Judged, Routing, assess};
use super::layout;
use super::marks;
use super::memory::{Memory, RESUME_LOG};
use super::messages;
use super::names::{self, Helper};
use super::prompts;
use super::table::{Branch, Pick};
use super::values::PhaseStatus;

/// Returns what is due; `None` for an intent that kiln does not know.
pub(super) fn plan(judged: &Judged, now: Timestamp, intent: &Intent) -> Option<Plan> {
    let planner = Planner { judged, now };
    match intent {
        Intent::Open => Some(planner.open()),
        Intent::GoOn { .. } => Some(planner.go_on()),
        Intent::Settle { task, ended, .. } => Some(planner.settle(task, ended)),
        Intent::Answer {
            question, answer, ..
        } => Some(planner.answer(question, answer)),
        Intent::Checkpoint { .. } => planner.hand_off(),
        Intent::Checked { .. } | Intent::Finish { .. } | Intent::Report(_) => None,
    }
}

struct Planner<'j> {
    judged: &'j Judged,
    now: Timestamp,
}

impl Planner<'_> {
    fn plan(&self, steps: Vec<Step>, then: impl Into<Then>) -> Plan {
        let id = WorkflowId::new(crate::NAME, self.judged.project.layout.name());
        let mut plan = Plan::new(id, steps, then);
        plan.permission = Permission::NotNeeded;
        plan
    }

    /// Returns the banner, step 7, and the stage as it was read: step 7 makes every status `in_progress`.
    fn open(&self) -> Plan {
        let mut plan = self.returned_work().unwrap_or_else(|| self.entered());
        plan.before_asking
            .insert_str(0, &messages::opening(self.judged));
        plan
    }

    fn entered(&self) -> Plan {
        let judged = self.judged;
        let entry = enter(judged);
        let mut plan = match judged.routing {
            Routing::Complete => Plan {
                before_asking: entry.text,
                ..self.plan(Vec::new(), entry.then)
            },
            Routing::Brainstorm
            | Routing::Planning(_)
            | Routing::Execution(_)
            | Routing::NoPhases
            | Routing::PhasesMissing(_)
            | Routing::Validation(_) => {
                let memory = self.resumed(&entry.memory.with_field("status", "in_progress"));
                let mut steps = vec![
                    self.write(&memory, "the project is resumed"),
                    enters(entry.text),
                ];
                if judged.helper() == Some(Helper::Argus) {
                    steps.push(self.asking());
                }
                let mut then = entry.then;
                if let Then::Ask(question) = &mut then {
                    messages::ASKED_ONCE.clone_into(&mut question.unanswered);
                }
                self.plan(steps, then)
            }
        };
        plan.ahead = ahead(judged);
        plan
    }

    /// Returns a memory with the time and the line of this resume.
    fn resumed(&self, memory: &Memory) -> Memory {
        let stamp = self.stamp();
        memory
            .with_field("last_updated", &stamp)
            .with_entry(RESUME_LOG, &format!("- Resumed: {stamp}"))
    }

    /// Starts the agent that the stage needs.
    fn go_on(&self) -> Plan {
        let judged = self.judged;
        match &judged.routing {
            Routing::Execution(execution) if execution.operator.is_none() => {
                let mut task = prompts::phase(judged, execution, 1);
                let mut steps = vec![self.sending(judged, Helper::Maestro)];
                if let Some(memory) = self.begun(execution) {
                    let named = messages::named(execution.phase.number, &execution.phase.name);
                    // Maestro finds what is written here.
                    let begun = judged.project.with_memory(memory);
                    task.seen = Some(marks::before_phase(&begun, execution.phase.number));
                    steps.push(self.write(&begun.memory, &format!("{named} starts")));
                }
                self.plan(steps, task)
            }
            Routing::Validation(Branch::Correction | Branch::Fresh) if self.is_to_correct() => {
                let steps = vec![self.sending(judged, Helper::Maestro)];
                self.plan(steps, prompts::correction(judged, 1))
            }
            Routing::Validation(Branch::Correction | Branch::Fresh) => {
                let steps = vec![self.sending(judged, Helper::Argus)];
                self.plan(steps, prompts::validation(judged))
            }
            Routing::Brainstorm
            | Routing::Planning(_)
            | Routing::Execution(_)
            | Routing::NoPhases
            | Routing::PhasesMissing(_)
            | Routing::Validation(Branch::Blocked)
            | Routing::Complete => {
                // Another program moved the project to a point where a person is needed.
                let entry = enter(judged);
                self.plan(vec![enters(entry.text)], entry.then)
            }
        }
    }

    /// Returns the memory of a phase that starts, as kiln writes it before Maestro starts.
    fn begun(&self, execution: &Execution) -> Option<Memory> {
        let project = &self.judged.project;
        let phase = &execution.phase;
        let mut memory = self
            .caught_up()
            .with_phase(phase.number, &phase.name, PhaseStatus::InProgress)
            .with_field("phase_number", &phase.number.to_string())
            .with_field("phase_name", &phase.name);
        // A note with instructions stays until the phase completes.
        let is_new = execution.reason == Pick::LowestPending;
        let is_new = is_new && !project.states.contains_key(&phase.number);
        if is_new && is_routine(&project.fields.handoff_note) {
            memory = memory.with_field("handoff_note", &under_way(execution));
        }
        if memory == project.memory {
            return None;
        }
        Some(memory.with_field("last_updated", &self.stamp()))
    }

    /// Writes the note of a phase in progress for a session that ends in it, unless there is a note.
    fn hand_off(&self) -> Option<Plan> {
        let project = &self.judged.project;
        let Routing::Execution(execution) = &self.judged.routing else {
            return None;
        };
        let is_silent = project.fields.handoff_note.is_empty();
        if execution.reason != Pick::InProgress || !is_silent {
            return None;
        }
        let note = under_way(execution);
        let memory = project
            .memory
            .with_field("handoff_note", &note)
            .with_field("last_updated", &self.stamp());
        let steps = vec![self.write(&memory, "a session ends in the middle of the phase")];
        let stop = Stop::new(StopKind::Done, format!("handoff_note: {note}"));
        Some(self.plan(steps, stop))
    }

    /// Logs the agent that is started and its quote, so that the next agent gets the next quote.
    ///
    /// `judged` must be what the task was made from, so that the logged quote is the one in the task.
    fn sending(&self, judged: &Judged, helper: Helper) -> Step {
        let quote = judged.quote(helper).map(|(quote, _)| quote);
        let record = names::started(helper, quote, &self.stamp());
        self.log(record, format!("{} is started", helper.alias()))
    }

    /// Appends a line to our own log.
    fn log(&self, record: String, why: impl Into<String>) -> Step {
        let log = Utf8PathBuf::from(layout::SPAWNS);
        Step::new(Action::Append { log, record }, why)
    }

    /// Enters the stage with a changed memory, in the same write.
    fn enter_with(&self, memory: Memory, why: &str) -> Plan {
        let next = assess(self.judged.project.with_memory(memory));
        let entry = enter(&next);
        let memory = entry.memory.with_field("last_updated", &self.stamp());
        let steps = vec![self.write(&memory, why), enters(entry.text)];
        self.plan(steps, entry.then)
    }

    /// Starts an agent with a changed memory.
    fn send_with(
        &self,
        memory: &Memory,
        why: &str,
        order: impl Fn(&Judged) -> Option<AgentTask>,
    ) -> Plan {
        let memory = memory.with_field("last_updated", &self.stamp());
        let next = assess(self.judged.project.with_memory(memory));
        let step = self.write(&next.project.memory, why);
        match order(&next) {
            Some(task) => {
                let steps = vec![step, self.sending(&next, Helper::Maestro)];
                self.plan(steps, task)
            }
            None => self.plan(vec![step], Then::Again),
        }
    }

    /// Writes the memory and stops.
    fn stop_with(&self, memory: &Memory, why: &str, stop: Stop) -> Plan {
        let memory = memory.with_field("last_updated", &self.stamp());
        self.plan(vec![self.write(&memory, why)], stop)
    }

    /// Returns the memory with the phases completed that only the archive knows.
    ///
    /// An executor can outlive the resume that started it, which then did not record its result. The
    /// edit of step 7 is prescribed, so this comes with the next one.
    fn caught_up(&self) -> Memory {
        let project = &self.judged.project;
        let proven = self.judged.inventory.iter().filter(|phase| {
            project.archived.contains(&phase.number)
                && project.memory.phase_status(phase.number) != Some(PhaseStatus::Completed)
        });
        proven.fold(project.memory.clone(), |memory, phase| {
            memory.with_phase(phase.number, &phase.name, PhaseStatus::Completed)
        })
    }

    fn write(&self, memory: &Memory, why: &str) -> Step {
        let project = &self.judged.project;
        let edit = Action::Edit {
            path: project.memory_file(),
            before: project.memory.bytes().to_vec(),
            after: memory.bytes().to_vec(),
        };
        Step::new(edit, why)
    }

    fn stamp(&self) -> String {
        rekindle_text::format_seconds(self.now)
    }
}

/// Returns the step that prints the text of a stage.
fn enters(text: String) -> Step {
    Step::print(text, "the stage is entered")
}

/// Returns kiln's own note for a phase in progress.
fn under_way(execution: &Execution) -> String {
    let phase = &execution.phase;
    format!("Executing phase {}: {}.", phase.number, phase.name)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
