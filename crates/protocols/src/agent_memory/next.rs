//! What comes next in a run: one table, tried from top to bottom.

use std::collections::BTreeSet;

use rekindle_model::{Fact, Next, State as Standing};

use super::layout::{self, Artifact};
use super::phase::{Phase, SeedPhase};

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
        /// What was said when the approval was taken away.
        revision: Option<String>,
    },
    TransitionToExecution,
    VerifyPhaseAndTransition,
    VerifyTask(Work),
    ExecuteTask(Work),
    EscalateUser(Work),
    ResolveBlockers(Vec<String>),
    FixTaskGraph {
        /// The members of cycles, or the tasks whose dependencies are not there.
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
    /// Whether it was begun before and never ended.
    pub(super) interrupted: bool,
}

/// What the decision needs to know of a run that is not complete; nothing else enters it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Situation<'a> {
    pub(super) phase: &'a Phase,
    pub(super) artifacts: &'a BTreeSet<Artifact>,
    /// Whether the task graph is there and can be read.
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

/// Returns what comes next.
pub(super) fn next_action(run: &Situation<'_>) -> NextAction {
    let has = |artifact| run.artifacts.contains(&artifact);
    let phase = run.phase.seed;
    let is_small = layout::is_small(run.artifacts);
    if is_small && phase == SeedPhase::Execution {
        return NextAction::ExecuteSmallTask;
    }
    if !is_small {
        if !has(Artifact::Prd) {
            return NextAction::CreatePrd;
        }
        if !has(Artifact::Plan) {
            return NextAction::CreatePlan;
        }
        if !run.has_graph {
            return NextAction::BreakTasks;
        }
        if phase >= SeedPhase::Execution && !has(Artifact::Constitution) {
            return NextAction::CreateConstitution;
        }
    }
    match phase {
        SeedPhase::Intake | SeedPhase::Planning => match &run.phase.voided {
            Some(voided) => NextAction::AwaitApproval {
                revision: voided.notes.clone(),
            },
            None if !has(Artifact::Constitution) => NextAction::AwaitApproval { revision: None },
            None => NextAction::TransitionToExecution,
        },
        SeedPhase::Execution => execution(run),
        SeedPhase::Cleanup if !has(Artifact::CleanupReport) && !run.cleanup_completed => {
            NextAction::RunCleanup
        }
        SeedPhase::Cleanup if !has(Artifact::PrChecklist) => NextAction::RunPrPrep,
        SeedPhase::Cleanup => NextAction::PresentPr,
        SeedPhase::Consolidation => NextAction::RunConsolidation,
    }
}

fn execution(run: &Situation<'_>) -> NextAction {
    if run.all_finished {
        return NextAction::VerifyPhaseAndTransition;
    }
    match (&run.selectable, &run.runnable) {
        (Some((work, true)), _) => NextAction::VerifyTask(work.clone()),
        (Some((work, false)), _) => NextAction::ExecuteTask(work.clone()),
        (None, Some(work)) => NextAction::EscalateUser(work.clone()),
        (None, None) if !run.blocked.is_empty() => NextAction::ResolveBlockers(run.blocked.clone()),
        (None, None) => NextAction::FixTaskGraph {
            stuck: run.stuck.clone(),
        },
    }
}

impl NextAction {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::RunComplete => "none_run_complete",
            Self::ExecuteSmallTask => "execute_small_task",
            Self::CreatePrd => "create_prd",
            Self::CreatePlan => "create_plan",
            Self::BreakTasks => "break_tasks",
            Self::CreateConstitution => "create_constitution",
            Self::AwaitApproval { .. } => "await_approval",
            Self::TransitionToExecution => "transition_to_execution",
            Self::VerifyPhaseAndTransition => "verify_phase_and_transition",
            Self::VerifyTask(_) => "verify_task",
            Self::ExecuteTask(_) => "execute_task",
            Self::EscalateUser(_) => "escalate_user",
            Self::ResolveBlockers(_) => "resolve_blockers",
            Self::FixTaskGraph { .. } => "fix_task_graph",
            Self::RunCleanup => "run_cleanup",
            Self::RunPrPrep => "run_pr_prep",
            Self::PresentPr => "present_pr",
            Self::RunConsolidation => "run_consolidation",
        }
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
            Self::VerifyTask(work) => format!("Verify {}: its work is there", work.named()),
            Self::ExecuteTask(work) if work.interrupted => format!("Resume {} (attempt {})", work.named(), work.attempt),
            Self::ExecuteTask(work) if work.attempt > 1 => format!("Retry {} (attempt {})", work.named(), work.attempt),
            Self::ExecuteTask(work) => format!("Execute {}", work.named()),
            Self::EscalateUser(work) => format!("Ask the user about {}, which failed {} times", work.named(), work.attempt.saturating_sub(1)),
            Self::ResolveBlockers(tasks) => format!("Resolve what blocks {}", tasks.iter().map(|t| line(t)).collect::<Vec<_>>().join(", ")),
            Self::FixTaskGraph { stuck } => {
                format!("Mend task-graph.json (task-breaker): {} can never run", stuck.iter().map(|t| line(t)).collect::<Vec<_>>().join(", "))
            }
            Self::RunCleanup => "Run cleanup: cleanup-report.md is not there".to_owned(),
            Self::RunPrPrep => "Prepare the pull request: pr-checklist.md is not there".to_owned(),
            Self::PresentPr => "Present the pull request, then move to phase 4".to_owned(),
            Self::RunConsolidation => "Consolidate the run's memory (summary.md); `skip consolidation` ends the run without it".to_owned(),
        }
    }

    /// Returns where this leaves the run.
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
        Next {
            kind: self.kind(),
            summary: self.summary(),
        }
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
