//! The next action of a run, with its tasks and texts.

use std::collections::BTreeSet;

use rekindle_model::{Fact, Next, State as Standing};
use rekindle_text::times;

use super::layout::{self, Artifact};
use super::phase::Phase;
use super::table::next::{Candidate, Due, NEXT, Standing as Inputs};

/// The next action of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextAction {
    RunComplete,
    ExecuteSmallTask,
    CreatePrd,
    CreatePlan,
    BreakTasks,
    CreateConstitution,
    AwaitApproval {
        /// The notes of the move back to planning.
        revision: Option<String>,
    },
    TransitionToExecution,
    VerifyPhaseAndTransition,
    VerifyTask(Work),
    ExecuteTask(Work),
    EscalateUser(Work),
    ResolveBlockers(Vec<String>),
    FixTaskGraph {
        /// The members of cycles, or the tasks with missing dependencies.
        stuck: Vec<String>,
    },
    RunCleanup,
    RunPrPrep,
    PresentPr,
    RunConsolidation,
}

/// A task that is to be worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) task: String,
    pub(super) title: String,
    pub(super) attempt: u32,
    /// Whether an attempt was started and never ended.
    pub(super) interrupted: bool,
}

/// Everything that decides the next action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Situation<'a> {
    /// What makes the run complete, if it is.
    pub(super) outcome: Option<&'static str>,
    pub(super) phase: &'a Phase,
    pub(super) artifacts: &'a BTreeSet<Artifact>,
    /// Whether the task graph exists and is readable.
    pub(super) has_graph: bool,
    pub(super) all_finished: bool,
    /// The first runnable task with fewer than three failures, and whether only its verification is missing.
    pub(super) selectable: Option<(Work, bool)>,
    /// The first runnable task, whatever its failures.
    pub(super) runnable: Option<Work>,
    pub(super) blocked: Vec<String>,
    pub(super) stuck: Vec<String>,
    pub(super) cleanup_completed: bool,
}

/// Returns the next action.
pub(super) fn next_action(run: &Situation<'_>) -> NextAction {
    let selected = run.selectable.as_ref().map(|(work, _)| work);
    let work = selected.or(run.runnable.as_ref()).cloned();
    match (NEXT.decide(run.inputs()), work) {
        (Due::RunComplete, _) => NextAction::RunComplete,
        (Due::ExecuteSmallTask, _) => NextAction::ExecuteSmallTask,
        (Due::CreatePrd, _) => NextAction::CreatePrd,
        (Due::CreatePlan, _) => NextAction::CreatePlan,
        (Due::BreakTasks, _) => NextAction::BreakTasks,
        (Due::CreateConstitution, _) => NextAction::CreateConstitution,
        (Due::AwaitApproval, _) => {
            let voided = run.phase.voided.as_ref();
            let revision = voided.and_then(|voided| voided.notes.clone());
            NextAction::AwaitApproval { revision }
        }
        (Due::TransitionToExecution, _) => NextAction::TransitionToExecution,
        (Due::VerifyPhaseAndTransition, _) => NextAction::VerifyPhaseAndTransition,
        (Due::VerifyTask, Some(work)) => NextAction::VerifyTask(work),
        (Due::ExecuteTask, Some(work)) => NextAction::ExecuteTask(work),
        (Due::EscalateUser, Some(work)) => NextAction::EscalateUser(work),
        (Due::ResolveBlockers, _) => NextAction::ResolveBlockers(run.blocked.clone()),
        (Due::VerifyTask | Due::ExecuteTask | Due::EscalateUser, None) | (Due::FixTaskGraph, _) => {
            let stuck = run.stuck.clone();
            NextAction::FixTaskGraph { stuck }
        }
        (Due::RunCleanup, _) => NextAction::RunCleanup,
        (Due::RunPrPrep, _) => NextAction::RunPrPrep,
        (Due::PresentPr, _) => NextAction::PresentPr,
        (Due::RunConsolidation, _) => NextAction::RunConsolidation,
    }
}

impl Situation<'_> {
    fn inputs(&self) -> Inputs {
        let has = |artifact| self.artifacts.contains(&artifact);
        Inputs {
            is_complete: self.outcome.is_some(),
            is_small: layout::is_small(self.artifacts),
            phase: self.phase.base,
            has_prd: has(Artifact::Prd),
            has_plan: has(Artifact::Plan),
            has_graph: self.has_graph,
            has_constitution: has(Artifact::Constitution),
            is_voided: self.phase.voided.is_some(),
            all_finished: self.all_finished,
            candidate: match (&self.selectable, &self.runnable) {
                (Some((_, true)), _) => Candidate::Implemented,
                (Some((_, false)), _) => Candidate::Open,
                (None, Some(_)) => Candidate::Exhausted,
                (None, None) => Candidate::Nothing,
            },
            has_blocked: !self.blocked.is_empty(),
            is_clean: has(Artifact::CleanupReport) || self.cleanup_completed,
            has_checklist: has(Artifact::PrChecklist),
        }
    }
}

impl NextAction {
    /// Returns the name of the action in the table.
    pub(super) fn kind(&self) -> &'static str {
        let due = match self {
            Self::RunComplete => Due::RunComplete,
            Self::ExecuteSmallTask => Due::ExecuteSmallTask,
            Self::CreatePrd => Due::CreatePrd,
            Self::CreatePlan => Due::CreatePlan,
            Self::BreakTasks => Due::BreakTasks,
            Self::CreateConstitution => Due::CreateConstitution,
            Self::AwaitApproval { .. } => Due::AwaitApproval,
            Self::TransitionToExecution => Due::TransitionToExecution,
            Self::VerifyPhaseAndTransition => Due::VerifyPhaseAndTransition,
            Self::VerifyTask(_) => Due::VerifyTask,
            Self::ExecuteTask(_) => Due::ExecuteTask,
            Self::EscalateUser(_) => Due::EscalateUser,
            Self::ResolveBlockers(_) => Due::ResolveBlockers,
            Self::FixTaskGraph { .. } => Due::FixTaskGraph,
            Self::RunCleanup => Due::RunCleanup,
            Self::RunPrPrep => Due::RunPrPrep,
            Self::PresentPr => Due::PresentPr,
            Self::RunConsolidation => Due::RunConsolidation,
        };
        due.as_str()
    }

    /// Returns one sentence for the report.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::RunComplete => "Nothing: the run is complete".to_owned(),
            Self::ExecuteSmallTask => "Execute the task that the constitution describes".to_owned(),
            Self::CreatePrd => "Write prd.md (spec-writer)".to_owned(),
            Self::CreatePlan => "Write plan.md from prd.md (planner)".to_owned(),
            Self::BreakTasks => "Break the plan into tasks: task-graph.json (task-breaker)".to_owned(),
            Self::CreateConstitution => "Write constitution.md for the approved plan (orchestrator)".to_owned(),
            Self::AwaitApproval { revision: Some(notes) } => {
                format!("Wait for a new approval of the plan, which was moved back: {}", line(notes))
            }
            Self::AwaitApproval { revision: None } => "Wait for the user's approval of the plan".to_owned(),
            Self::TransitionToExecution => "Move to phase 2: the plan is approved".to_owned(),
            Self::VerifyPhaseAndTransition => {
                "Verify the phase boundary, then move to phase 3: all tasks are finished".to_owned()
            }
            Self::VerifyTask(work) => format!("Verify {}: it is implemented", work.named()),
            Self::ExecuteTask(work) if work.interrupted => format!("Resume {} (attempt {})", work.named(), work.attempt),
            Self::ExecuteTask(work) if work.attempt > 1 => format!("Retry {} (attempt {})", work.named(), work.attempt),
            Self::ExecuteTask(work) => format!("Execute {}", work.named()),
            Self::EscalateUser(work) => format!("Ask the user about {}, which failed {}", work.named(), times(work.attempt.saturating_sub(1))),
            Self::ResolveBlockers(tasks) => format!("Resolve what blocks {}", tasks.iter().map(|t| line(t)).collect::<Vec<_>>().join(", ")),
            Self::FixTaskGraph { stuck } => {
                format!("Fix task-graph.json (task-breaker): {} can never run", stuck.iter().map(|t| line(t)).collect::<Vec<_>>().join(", "))
            }
            Self::RunCleanup => "Run cleanup: cleanup-report.md is missing".to_owned(),
            Self::RunPrPrep => "Prepare the pull request: pr-checklist.md is missing".to_owned(),
            Self::PresentPr => "Present the pull request, then move to phase 4".to_owned(),
            Self::RunConsolidation => "Consolidate the run's memory (summary.md); `skip consolidation` ends the run without it".to_owned(),
        }
    }

    /// Returns the state of the run.
    pub(super) fn standing(&self) -> Standing {
        match self {
            Self::RunComplete => Standing::Complete,
            Self::AwaitApproval { .. } | Self::PresentPr => Standing::Waiting,
            Self::EscalateUser(_) | Self::ResolveBlockers(_) | Self::FixTaskGraph { .. } => {
                Standing::Blocked
            }
            Self::ExecuteSmallTask
            | Self::CreatePrd
            | Self::CreatePlan
            | Self::BreakTasks
            | Self::CreateConstitution
            | Self::TransitionToExecution
            | Self::VerifyPhaseAndTransition
            | Self::VerifyTask(_)
            | Self::ExecuteTask(_)
            | Self::RunCleanup
            | Self::RunPrPrep
            | Self::RunConsolidation => Standing::Interrupted,
        }
    }

    pub(super) fn next(&self) -> Next {
        Next::new(self.kind(), self.summary())
    }

    /// Returns the fact, with the keys that belong to its kind.
    pub(super) fn fact(&self) -> Fact {
        let mut entries = vec![("kind", Fact::from(self.kind()))];
        match self {
            Self::VerifyTask(work) | Self::ExecuteTask(work) => {
                entries.push(("task", work.task.as_str().into()));
                entries.push(("attempt", work.attempt.into()));
            }
            Self::EscalateUser(work) => entries.push(("task", work.task.as_str().into())),
            Self::ResolveBlockers(tasks) => {
                entries.push(("tasks", Fact::list(tasks.iter().map(String::as_str))));
            }
            Self::RunComplete
            | Self::ExecuteSmallTask
            | Self::CreatePrd
            | Self::CreatePlan
            | Self::BreakTasks
            | Self::CreateConstitution
            | Self::AwaitApproval { .. }
            | Self::TransitionToExecution
            | Self::VerifyPhaseAndTransition
            | Self::FixTaskGraph { .. }
            | Self::RunCleanup
            | Self::RunPrPrep
            | Self::PresentPr
            | Self::RunConsolidation => {}
        }
        Fact::object(entries)
    }
}

impl Work {
    /// Returns the task as a person reads it: `T003 - Add thing`.
    pub(super) fn named(&self) -> String {
        if self.title.is_empty() {
            line(&self.task)
        } else {
            format!("{} - {}", line(&self.task), line(&self.title))
        }
    }
}

/// Text of a file as part of one line on a terminal.
fn line(text: &str) -> String {
    rekindle_text::excerpt(text, 120)
}
