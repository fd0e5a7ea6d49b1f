//! What is recorded after Maestro or Argus has returned, and what follows.
//!
//! A phase is complete when there is proof, not because its executor says so. Otherwise it gets one
//! more attempt; then the project is blocked until a person looks at it.

use rekindle_model::{AgentTask, Ended, Plan, Stop, StopKind, Then};
use rekindle_text::excerpt;

use super::super::assess::{Judged, Routing, assess};
use super::super::layout;
use super::super::marks;
use super::super::messages;
use super::super::names::Helper;
use super::super::prompts;
use super::super::values::{Event, PhaseStatus, Stage, Status};
use super::trouble::{Trouble, capitalized};
use super::{Planner, enters};

/// How often an executor is started for the same work in one resume.
pub(super) const MOST_ATTEMPTS: u32 = 2;

impl Planner<'_> {
    pub(super) fn settle(&self, task: &AgentTask, ended: &Ended) -> Plan {
        let work = task.task.as_deref().unwrap_or_default();
        let number = |prefix: &str| {
            work.strip_prefix(prefix)
                .and_then(|number| number.parse().ok())
        };
        match (
            Helper::of(task.role),
            number("phase-"),
            number("correction-"),
        ) {
            (Some(Helper::Maestro), Some(phase), _) => self.settle_phase(phase, task, ended),
            (Some(Helper::Maestro), None, Some(cycle)) => {
                self.settle_correction(cycle, task, ended)
            }
            (Some(Helper::Argus), _, _) => self.settle_validation(task.seen.as_deref(), ended),
            (Some(Helper::Maestro), None, None) | (None, _, _) => {
                self.plan(Vec::new(), Then::Again)
            }
        }
    }

    fn settle_phase(&self, number: u32, task: &AgentTask, ended: &Ended) -> Plan {
        let judged = self.judged;
        let attempt = task.attempt;
        let name = judged.phase(number).map_or("", |phase| phase.name.as_str());
        let named = messages::named(number, name);
        let mut memory = self
            .caught_up()
            .with_field("phase_number", &number.to_string())
            .with_field("phase_name", name);
        // Only validation completes a project, whatever an executor writes.
        if judged.project.fields.stage == Stage::Complete {
            memory = memory.with_stage(Stage::Execution, Status::InProgress);
        }
        if is_complete(judged, number, task, ended) {
            let memory = memory
                .with_phase(number, name, PhaseStatus::Completed)
                .with_field(
                    "handoff_note",
                    &format!("Phase {number} complete; ready for next phase."),
                )
                .with_block("handoff_context", &completed_context(judged, number, name));
            return self.enter_with(memory, &format!("{named} is complete"));
        }
        let reason = not_complete(judged, number, ended);
        let status = match ended {
            Ended::Succeeded if attempt < MOST_ATTEMPTS => PhaseStatus::InProgress,
            Ended::Succeeded | Ended::Failed { .. } | Ended::CheckFailed { .. } => {
                PhaseStatus::Failed
            }
        };
        let trouble = Trouble {
            work: format!("phase {number}"),
            verb: "did not complete",
            reason: &reason,
            sentence: format!(
                "{} attempt {attempt} did not complete.",
                capitalized(&named)
            ),
        };
        let memory = memory.with_phase(number, name, status);
        let memory = self.with_trouble(&memory, task, &trouble);
        let next = assess(judged.project.with_memory(memory.clone()));
        if let (Routing::Execution(execution), true) = (&next.routing, attempt < MOST_ATTEMPTS)
            && execution.phase.number == number
            && execution.operator.is_none()
        {
            let line = messages::status_line(&next, execution);
            let why = format!("{named} is tried again");
            let mut plan = self.send_with(&memory, &why, |next| match &next.routing {
                Routing::Execution(execution) => Some(prompts::phase(next, execution, attempt + 1)),
                Routing::Brainstorm
                | Routing::Planning(_)
                | Routing::NoPhases
                | Routing::PhasesMissing(_)
                | Routing::Validation(_)
                | Routing::Complete => None,
            });
            plan.steps.push(enters(line));
            return plan;
        }
        let memory = memory
            .with_phase(number, name, PhaseStatus::Failed)
            .with_field("status", Status::Blocked.as_str());
        let reason = format!("{named} did not complete: {reason}");
        let stop = Stop::new(StopKind::Blocked, reason)
            .hint("read Maestro's output above and the handoff note in MEMORY.md, then run `rekindle resume` again")
            .hint("see `rekindle explain AGENT_FAILED`");
        self.stop_with(&memory, &format!("{named} failed"), stop)
    }
}

/// Returns whether there is proof that a phase is complete.
fn is_complete(judged: &Judged, number: u32, task: &AgentTask, ended: &Ended) -> bool {
    let project = &judged.project;
    // The archive is made after the merge, so it counts even if its maker failed afterwards.
    if project.archived.contains(&number) {
        return true;
    }
    if *ended != Ended::Succeeded {
        return false;
    }
    let is_noted = judged
        .phase(number)
        .is_some_and(|phase| phase.status == PhaseStatus::Completed);
    // Without a log there is only the results file, which an earlier attempt may have left.
    let has_results = match project.states.get(&number) {
        None => marks::has_new_results(project, number, task.seen.as_deref()),
        Some(state) => {
            let last = state.last().map(|event| event.kind);
            let is_merged = matches!(last, Some(Event::Merge | Event::ReconcileComplete));
            let is_there = project.results.get(&number);
            (state.status == "complete" || is_merged)
                && is_there.is_some_and(|text| !text.trim().is_empty())
        }
    };
    is_noted || has_results
}

fn not_complete(judged: &Judged, number: u32, ended: &Ended) -> String {
    match ended {
        Ended::Failed { reason } | Ended::CheckFailed { reason, .. } => reason.clone(),
        Ended::Succeeded => {
            let summary = layout::shown_in_kiln(&layout::phase_summary(number));
            let state = judged.project.states.get(&number);
            let last = state.and_then(|state| state.last());
            let last = last.map_or_else(String::new, |event| {
                format!("; its last event is {}", event.kind.as_str())
            });
            format!("Maestro returned, but {summary} is missing{last}")
        }
    }
}

/// Describes what a phase built, from its summary.
fn completed_context(judged: &Judged, number: u32, name: &str) -> String {
    let named = capitalized(&messages::named(number, name));
    let summary = judged.project.summaries.get(&number);
    let built = summary
        .map_or("", String::as_str)
        .lines()
        .skip_while(|line| line.trim_end() != "## What Was Built")
        .skip(1)
        .take_while(|line| !line.starts_with('#'))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(5);
    let first = format!("{named} completed successfully.");
    let lines = built.map(|line| excerpt(line, 300));
    [first]
        .into_iter()
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
