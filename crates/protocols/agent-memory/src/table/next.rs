//! The next action of a run.

use super::super::phase::BasePhase::{self, Cleanup, Consolidation, Execution, Intake, Planning};
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{inputs, table, values, verdicts};

values! {
    /// The task to work on.
    Candidate {
        /// No task can run.
        Nothing "none can run",
        /// Implemented, not verified yet.
        Implemented "to verify",
        Open "to execute",
        /// Every runnable task has failed too often.
        Exhausted "failed too often",
    }
}

values! {
    /// The next action.
    Due {
        RunComplete "none_run_complete",
        ExecuteSmallTask "execute_small_task",
        CreatePrd "create_prd",
        CreatePlan "create_plan",
        BreakTasks "break_tasks",
        CreateConstitution "create_constitution",
        AwaitApproval "await_approval",
        TransitionToExecution "transition_to_execution",
        VerifyPhaseAndTransition "verify_phase_and_transition",
        VerifyTask "verify_task",
        ExecuteTask "execute_task",
        EscalateUser "escalate_user",
        ResolveBlockers "resolve_blockers",
        FixTaskGraph "fix_task_graph",
        RunCleanup "run_cleanup",
        RunPrPrep "run_pr_prep",
        PresentPr "present_pr",
        RunConsolidation "run_consolidation",
    }
}

verdicts! { Due: "next" code; }

inputs! {
    /// What decides the next action.
    Standing asked by When {
        is_complete: bool = "complete",
        /// It has a constitution and no other documents.
        is_small: bool = "small",
        phase: BasePhase = "phase",
        has_prd: bool = "prd.md",
        has_plan: bool = "plan.md",
        /// The task graph exists and is readable.
        has_graph: bool = "task graph",
        has_constitution: bool = "constitution.md",
        /// A move back to planning revoked the approval.
        is_voided: bool = "approval void",
        all_finished: bool = "all finished",
        candidate: Candidate = "first task",
        has_blocked: bool = "blocked tasks",
        /// The report exists, or an event says so.
        is_clean: bool = "cleaned up",
        has_checklist: bool = "pr-checklist.md",
    }
}

const FROM_EXECUTION: &[BasePhase] = &[Execution, Cleanup, Consolidation];
const BEFORE_EXECUTION: &[BasePhase] = &[Intake, Planning];

table! {
    /// The next action of a run.
    pub(crate) static NEXT: Standing, asked by When => Due;
    "The next action of a run",
    "A run is complete by an event or by its summary; a missing document is written by the step that makes it.";
    [is_complete: Is(true)] => Due::RunComplete, "a complete run is not resumed";
    [phase: Is(Execution), is_small: Is(true)] => Due::ExecuteSmallTask, "a small run has no documents but its constitution";
    [is_small: Is(false), has_prd: Is(false)] => Due::CreatePrd, "missing documents are made first";
    [is_small: Is(false), has_plan: Is(false)] => Due::CreatePlan, "missing documents are made first";
    [is_small: Is(false), has_graph: Is(false)] => Due::BreakTasks, "missing documents are made first";
    [is_small: Is(false), phase: In(FROM_EXECUTION), has_constitution: Is(false)] => Due::CreateConstitution, "missing documents are made first";
    [phase: In(BEFORE_EXECUTION), is_voided: Is(true)] => Due::AwaitApproval, "a revised plan needs a new approval";
    [phase: In(BEFORE_EXECUTION), has_constitution: Is(false)] => Due::AwaitApproval, "a plan needs approval";
    [phase: In(BEFORE_EXECUTION)] => Due::TransitionToExecution, "the constitution is written after the approval";
    [phase: Is(Execution), all_finished: Is(true)] => Due::VerifyPhaseAndTransition, "the phase is verified after its last task";
    [phase: Is(Execution), candidate: Is(Candidate::Implemented)] => Due::VerifyTask, "implemented tasks are verified";
    [phase: Is(Execution), candidate: Is(Candidate::Open)] => Due::ExecuteTask, "the first runnable task is executed";
    [phase: Is(Execution), candidate: Is(Candidate::Exhausted)] => Due::EscalateUser, "the user decides after three failures";
    [phase: Is(Execution), has_blocked: Is(true)] => Due::ResolveBlockers, "blocked tasks need the user";
    [phase: Is(Execution)] => Due::FixTaskGraph, "tasks that can never run mean a broken graph";
    [phase: Is(Cleanup), is_clean: Is(false)] => Due::RunCleanup, "cleanup comes before the pull request";
    [phase: Is(Cleanup), has_checklist: Is(false)] => Due::RunPrPrep, "the pull request is prepared";
    [phase: Is(Cleanup)] => Due::PresentPr, "the user merges the pull request";
    [] => Due::RunConsolidation, "consolidation ends the run";
}
