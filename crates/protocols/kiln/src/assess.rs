//! Evidence to verdict: the phases, their states, and where the stage leads.

use rekindle_model::Finding;
use rekindle_text::excerpt;

use super::findings;
use super::handed_back::HandedBack;
use super::inventory::{Phase, inventory, lacking, next_phase};
use super::marks;
use super::names::Helper;
use super::phase_state::PhaseState;
use super::read::Project;
use super::restart::{Restart, operator_reason, restart};
use super::table::{BRANCHES, Branch, Crossing, Entrance, Pick, ROUTES, Route};
use super::values::{Event, PhaseStatus, Stage, SubStage};

/// After this many corrections only a person may start another.
pub(super) const MOST_CORRECTIONS: u32 = 3;

/// A project and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) project: Project,
    /// The phases in the order of the plan.
    pub(super) inventory: Vec<Phase>,
    pub(super) routing: Routing,
    /// Whether the stage is still execution, though all phases are done.
    pub(super) is_past_execution: bool,
    pub(super) findings: Vec<Finding>,
}

/// Where the stage leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Routing {
    Brainstorm,
    Planning(SubStage),
    Execution(Execution),
    /// The plan names no phases, and the memory no unfinished ones.
    NoPhases,
    /// All phases of the plan are done, but the memory has unfinished ones that are missing from it.
    PhasesMissing(String),
    Validation(Branch),
    Complete,
}

/// The phase that comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Execution {
    pub(super) phase: Phase,
    pub(super) reason: Pick,
    pub(super) last_event: Option<Event>,
    pub(super) restart: Restart,
    /// Why a person must look first.
    pub(super) operator: Option<String>,
}

/// Judges a project.
pub(super) fn assess(project: Project) -> Judged {
    let mut findings = project.findings.clone();
    let inventory = inventory(&project, &mut findings);
    let fields = &project.fields;
    let branch = *BRANCHES.decide(Entrance {
        is_correcting: fields.correction_cycle > 0,
        status: fields.status,
    });
    let next = next_phase(&project, &inventory);
    let lacking = lacking(&project, &inventory);
    let route = *ROUTES.decide(Crossing {
        stage: fields.stage,
        has_next: next.is_some(),
        has_plan: !project.plan.phases.is_empty(),
        lacks_phases: lacking.is_some(),
    });
    let routing = match (route, next) {
        (Route::Brainstorm, _) => Routing::Brainstorm,
        (Route::Planning, _) => Routing::Planning(fields.sub_stage.unwrap_or(SubStage::DualPlan)),
        (Route::Execution, Some((phase, reason))) => {
            Routing::Execution(execution(&project, phase, reason))
        }
        (Route::Execution, None) | (Route::NoPhases, _) => {
            findings.push(findings::no_phases(&project, &inventory));
            Routing::NoPhases
        }
        (Route::PhasesMissing, _) => {
            let lacking = lacking.unwrap_or_default();
            findings.push(findings::phases_missing(&project, &lacking));
            Routing::PhasesMissing(lacking)
        }
        (Route::PastExecution | Route::Validation, _) => Routing::Validation(branch),
        (Route::Complete, _) => Routing::Complete,
    };
    Judged {
        project,
        inventory,
        routing,
        is_past_execution: route == Route::PastExecution,
        findings,
    }
}

impl Judged {
    /// Returns the stages that are entered, in order.
    pub(super) fn route(&self) -> Vec<&'static str> {
        let last = match self.routing {
            Routing::Brainstorm => Stage::Brainstorm,
            Routing::Planning(_) => Stage::Planning,
            Routing::Execution(_) | Routing::NoPhases | Routing::PhasesMissing(_) => {
                Stage::Execution
            }
            Routing::Validation(_) => Stage::Validation,
            Routing::Complete => Stage::Complete,
        };
        let first = self.is_past_execution.then_some(Stage::Execution);
        first.into_iter().chain([last]).map(Stage::as_str).collect()
    }

    /// Returns the agent that is started next.
    pub(super) fn helper(&self) -> Option<Helper> {
        match &self.routing {
            Routing::Execution(execution) if execution.operator.is_none() => Some(Helper::Maestro),
            Routing::Validation(Branch::Correction | Branch::Fresh) => {
                (!self.is_answered()).then_some(Helper::Argus)
            }
            Routing::Brainstorm
            | Routing::Planning(_)
            | Routing::Execution(_)
            | Routing::NoPhases
            | Routing::PhasesMissing(_)
            | Routing::Validation(Branch::Blocked)
            | Routing::Complete => None,
        }
    }

    /// Returns whether a validation that was handed back to the caller has a verdict, which is applied
    /// before an agent is started.
    pub(super) fn is_answered(&self) -> bool {
        match &self.project.handed_back {
            Some(HandedBack::Validation { seen }) => {
                marks::left(&self.project, Some(seen)).is_verdict()
            }
            Some(HandedBack::Correction { .. }) | None => false,
        }
    }

    /// Returns the quote for an agent, with its position.
    pub(super) fn quote(&self, helper: Helper) -> Option<(usize, &str)> {
        let turn = match (&self.routing, helper) {
            (Routing::Execution(execution), Helper::Maestro) => {
                execution.phase.number.saturating_sub(1)
            }
            _ => self.project.fields.correction_cycle,
        };
        self.project
            .names
            .next(helper, usize::try_from(turn).unwrap_or(0))
    }

    /// Returns a phase.
    pub(super) fn phase(&self, number: u32) -> Option<&Phase> {
        self.inventory.iter().find(|phase| phase.number == number)
    }

    /// Returns the status of a phase's state file as the end of a sentence, unless the phase is in progress.
    pub(super) fn trouble(&self, number: u32) -> String {
        let state = self.project.states.get(&number);
        match state.map_or("", |state| state.status.as_str()) {
            "" | "in_progress" => String::new(),
            status => format!("; its state file says {}", excerpt(status, 80)),
        }
    }

    /// Returns how many phases are completed.
    pub(super) fn n_completed(&self) -> usize {
        let completed = |phase: &&Phase| phase.status == PhaseStatus::Completed;
        self.inventory.iter().filter(completed).count()
    }
}

fn execution(project: &Project, phase: &Phase, reason: Pick) -> Execution {
    let nothing = PhaseState::default();
    let state = project.states.get(&phase.number).unwrap_or(&nothing);
    let is_retry = reason == Pick::Failed;
    let restart = restart(state, &project.tasks, project.fields.debate_mode, is_retry);
    Execution {
        phase: phase.clone(),
        reason,
        last_event: state.last().map(|event| event.kind),
        operator: operator_reason(state, &restart),
        restart,
    }
}

#[cfg(test)]
#[path = "assess_tests.rs"]
mod tests;
