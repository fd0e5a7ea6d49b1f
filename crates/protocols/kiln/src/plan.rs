//! Verdict and intent to plan: the seed's steps in order, one round of the loop at a time.
//!
//! A resume opens with the banner, makes the one write of step 7, and enters the stage. Entering says
//! what the seed wants said and decides what follows. A round that follows sends somebody off, and
//! what came of it is settled in the memory before the stage is entered again, until a person is
//! needed or the project is complete. The memory is the only file that is changed.

mod answer;
mod enter;
mod handed;
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
use super::memory::{Memory, RESUME_LOG};
use super::names::{self, Helper};
use super::prompts;
use super::seen;
use super::table::{Branch, Pick};
use super::values::PhaseStatus;
use super::words;

/// Returns what is due, or `None` where the intent is none of this protocol's.
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

/// Returns the plan of a project that says only one thing and stops.
pub(super) fn only_says(name: &str, text: &str, intent: &Intent) -> Plan {
    let reason = text.lines().next().unwrap_or_default();
    let mut plan = plan_of(
        name,
        Vec::new(),
        stop(StopKind::BlockedAndSaid, reason, &[]),
    );
    match intent {
        Intent::Open => text.clone_into(&mut plan.before_asking),
        // The memory was lost or broken while the resume went on.
        Intent::GoOn { .. }
        | Intent::Settle { .. }
        | Intent::Answer { .. }
        | Intent::Checked { .. }
        | Intent::Finish { .. }
        | Intent::Checkpoint { .. }
        | Intent::Report(_) => plan
            .steps
            .push(says(text.to_owned(), "that the memory can not be followed")),
    }
    plan
}

struct Planner<'j> {
    judged: &'j Judged,
    now: Timestamp,
}

impl Planner<'_> {
    fn plan(&self, steps: Vec<Step>, then: Then) -> Plan {
        plan_of(self.judged.project.layout.name(), steps, then)
    }

    /// The banner, step 7, and the stage.
    ///
    /// The stage that is entered is the one that was read: step 7 makes every status `in_progress`.
    fn open(&self) -> Plan {
        let mut plan = self.taken_up().unwrap_or_else(|| self.entered());
        plan.before_asking
            .insert_str(0, &words::opening(self.judged));
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
                    self.write(&memory, "the project is taken up again"),
                    says(entry.text, "where the stage goes on"),
                ];
                if judged.helper() == Some(Helper::Argus) {
                    steps.push(self.asking());
                }
                let mut then = entry.then;
                if let Then::Ask(question) = &mut then {
                    words::ASKED_ONCE.clone_into(&mut question.unanswered);
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

    /// Sends off whoever the stage needs.
    fn go_on(&self) -> Plan {
        let judged = self.judged;
        match &judged.routing {
            Routing::Execution(execution) if execution.operator.is_none() => {
                let mut task = prompts::phase(judged, execution, 1);
                let mut steps = vec![self.sending(judged, Helper::Maestro)];
                if let Some(memory) = self.begun(execution) {
                    let named = words::named(execution.phase.number, &execution.phase.name);
                    // What Maestro finds is what is written here.
                    let begun = judged.project.with_memory(memory);
                    task.seen = Some(seen::before_phase(&begun, execution.phase.number));
                    steps.push(self.write(&begun.memory, &format!("{named} begins")));
                }
                self.plan(steps, Then::Agent(task))
            }
            Routing::Validation(Branch::Correction | Branch::Fresh) if self.is_to_correct() => {
                let task = prompts::correction(judged, 1);
                self.plan(
                    vec![self.sending(judged, Helper::Maestro)],
                    Then::Agent(task),
                )
            }
            Routing::Validation(Branch::Correction | Branch::Fresh) => {
                let task = prompts::validation(judged);
                self.plan(vec![self.sending(judged, Helper::Argus)], Then::Agent(task))
            }
            Routing::Brainstorm
            | Routing::Planning(_)
            | Routing::Execution(_)
            | Routing::NoPhases
            | Routing::PhasesMissing(_)
            | Routing::Validation(Branch::Blocked)
            | Routing::Complete => {
                // Somebody else moved the project to a point where a person is needed.
                let entry = enter(judged);
                let steps = vec![says(entry.text, "where the stage goes on")];
                self.plan(steps, entry.then)
            }
        }
    }

    /// Returns the memory of a phase that begins, as kiln writes it before it sends Maestro off.
    fn begun(&self, execution: &Execution) -> Option<Memory> {
        let project = &self.judged.project;
        let phase = &execution.phase;
        let mut memory = self
            .caught_up()
            .with_phase(phase.number, &phase.name, PhaseStatus::InProgress)
            .with_field("phase_number", &phase.number.to_string())
            .with_field("phase_name", &phase.name);
        // A note that somebody wrote says what to do, and stays until the phase completes.
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

    /// Writes the note of a phase that is under way, as kiln does when it begins, for a session that
    /// ends in the middle of one. A note that is there says more, and stays.
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
        let reason = format!("handoff_note: {note}");
        Some(self.plan(steps, stop(StopKind::Done, &reason, &[])))
    }

    /// Notes who is sent off with which quote, so that the next one gets the next.
    ///
    /// `judged` is what the order was made from: the quote that is noted must be the one it has.
    fn sending(&self, judged: &Judged, helper: Helper) -> Step {
        let quote = judged.quote(helper).map(|(quote, _)| quote);
        Step {
            action: Action::Append {
                log: Utf8PathBuf::from(layout::SPAWNS),
                record: names::sent(helper, quote, &self.stamp()),
            },
            why: format!("{} is sent off", helper.alias()),
        }
    }

    /// Enters the stage with a memory that is about to be written, in the same write.
    fn enter_with(&self, memory: Memory, why: &str) -> Plan {
        let next = assess(self.judged.project.with_memory(memory));
        let entry = enter(&next);
        let memory = entry.memory.with_field("last_updated", &self.stamp());
        let steps = vec![
            self.write(&memory, why),
            says(entry.text, "where the stage goes on"),
        ];
        self.plan(steps, entry.then)
    }

    /// Sends somebody off with a memory that is about to be written.
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
                self.plan(steps, Then::Agent(task))
            }
            None => self.plan(vec![step], Then::Again),
        }
    }

    /// Writes the memory and stops.
    fn stop_with(&self, memory: &Memory, why: &str, stop: Stop) -> Plan {
        let memory = memory.with_field("last_updated", &self.stamp());
        self.plan(vec![self.write(&memory, why)], Then::Stop(stop))
    }

    /// Returns the memory with the phases that the archive has completed without its knowledge.
    ///
    /// An executor can outlive the resume that sent it off; then nobody settled what it brought. The
    /// write of step 7 stays what it is, so this comes with the next one.
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
        Step {
            action: Action::Edit {
                path: project.memory_file(),
                before: project.memory.bytes().to_vec(),
                after: memory.bytes().to_vec(),
            },
            why: why.to_owned(),
        }
    }

    fn stamp(&self) -> String {
        rekindle_text::format_seconds(self.now)
    }
}

fn plan_of(name: &str, steps: Vec<Step>, then: Then) -> Plan {
    Plan {
        id: WorkflowId::new(crate::NAME, name),
        steps,
        log: Utf8PathBuf::new(),
        then,
        ahead: Vec::new(),
        before_asking: String::new(),
        permission: Permission::NotNeeded,
        without_agent: None,
        notes: Vec::new(),
    }
}

fn says(text: String, why: &str) -> Step {
    Step {
        action: Action::Print(text),
        why: why.to_owned(),
    }
}

/// Returns kiln's own words for a phase that is being worked on.
fn under_way(execution: &Execution) -> String {
    let phase = &execution.phase;
    format!("Executing phase {}: {}.", phase.number, phase.name)
}

fn stop(kind: StopKind, reason: &str, hints: &[&str]) -> Then {
    Then::Stop(ending(kind, reason, hints))
}

fn ending(kind: StopKind, reason: &str, hints: &[&str]) -> Stop {
    Stop {
        kind,
        reason: reason.to_owned(),
        hints: hints.iter().map(|hint| (*hint).to_owned()).collect(),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
