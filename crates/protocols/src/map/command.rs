//! The commands by their names, and whether they write.

/// A command of the orchestrator, or one of the step runner's that a resume needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Abandon,
    AdvanceWave,
    Archive,
    BackfillSubtaskIds,
    BuildResumeBriefing,
    CheckCircuitBreaker,
    DeferFlakySubtask,
    EnsureHumanArtifacts,
    FinalizePlan,
    GetCurrentPhase,
    GetNextStep,
    GetPlanProgress,
    GetWaveStep,
    Initialize,
    LoadResearch,
    MarkContractReady,
    MarkSubtaskComplete,
    MarkWorkflowComplete,
    MonitorFailed,
    NextNumberedArtifactPath,
    PeekCurrentStep,
    ReadCurrentGoal,
    RecordSubtaskResult,
    RecordTestContractHandoff,
    ReopenForFixes,
    RestoreDeferredYagni,
    ResumeFromPlan,
    ResumeFromTestContract,
    ResumeSingleSubtask,
    SaveResearch,
    SelectExecutionStrategy,
    SetExecutionMode,
    SetPlanApproved,
    SetSubtasks,
    SetTddMode,
    SetWaves,
    SkipStep,
    UpdatePlanStatus,
    ValidateResearch,
    ValidateRetryQuarantine,
    ValidateStep,
    ValidateWaveStep,
    WaveMonitorFailed,
    WriteVerificationSummary,
}

/// Which of the peer's two scripts has a command, which decides how its words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// `map_orchestrator.py`: words and options in any order.
    Orchestrator,
    /// `map_step_runner.py`: words by their places.
    StepRunner,
}

/// What a command does to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only looks.
    Read,
    /// It may write files, but not the state.
    Write,
    /// It may write the state, which must be readable for that.
    Advance,
}

const TABLE: &[(&str, Command, Script, Access)] = {
    use Access::{Advance, Read, Write};
    use Script::{Orchestrator, StepRunner};
    &[
        ("get_next_step", Command::GetNextStep, Orchestrator, Advance),
        (
            "peek_current_step",
            Command::PeekCurrentStep,
            Orchestrator,
            Read,
        ),
        (
            "validate_step",
            Command::ValidateStep,
            Orchestrator,
            Advance,
        ),
        ("initialize", Command::Initialize, Orchestrator, Advance),
        (
            "set_plan_approved",
            Command::SetPlanApproved,
            Orchestrator,
            Advance,
        ),
        (
            "restore_deferred_yagni",
            Command::RestoreDeferredYagni,
            Orchestrator,
            Advance,
        ),
        (
            "set_execution_mode",
            Command::SetExecutionMode,
            Orchestrator,
            Advance,
        ),
        ("set_tdd_mode", Command::SetTddMode, Orchestrator, Advance),
        ("skip_step", Command::SkipStep, Orchestrator, Advance),
        ("set_subtasks", Command::SetSubtasks, Orchestrator, Advance),
        (
            "mark_contract_ready",
            Command::MarkContractReady,
            Orchestrator,
            Advance,
        ),
        (
            "resume_from_plan",
            Command::ResumeFromPlan,
            Orchestrator,
            Advance,
        ),
        (
            "resume_from_test_contract",
            Command::ResumeFromTestContract,
            Orchestrator,
            Advance,
        ),
        (
            "check_circuit_breaker",
            Command::CheckCircuitBreaker,
            Orchestrator,
            Read,
        ),
        ("set_waves", Command::SetWaves, Orchestrator, Advance),
        ("get_wave_step", Command::GetWaveStep, Orchestrator, Read),
        (
            "validate_wave_step",
            Command::ValidateWaveStep,
            Orchestrator,
            Advance,
        ),
        ("advance_wave", Command::AdvanceWave, Orchestrator, Advance),
        (
            "select_execution_strategy",
            Command::SelectExecutionStrategy,
            Orchestrator,
            Read,
        ),
        (
            "resume_single_subtask",
            Command::ResumeSingleSubtask,
            Orchestrator,
            Advance,
        ),
        (
            "get_plan_progress",
            Command::GetPlanProgress,
            Orchestrator,
            Read,
        ),
        (
            "monitor_failed",
            Command::MonitorFailed,
            Orchestrator,
            Advance,
        ),
        (
            "wave_monitor_failed",
            Command::WaveMonitorFailed,
            Orchestrator,
            Advance,
        ),
        (
            "defer_flaky_subtask",
            Command::DeferFlakySubtask,
            Orchestrator,
            Advance,
        ),
        (
            "reopen_for_fixes",
            Command::ReopenForFixes,
            Orchestrator,
            Advance,
        ),
        (
            "mark_workflow_complete",
            Command::MarkWorkflowComplete,
            Orchestrator,
            Advance,
        ),
        (
            "mark_subtask_complete",
            Command::MarkSubtaskComplete,
            Orchestrator,
            Advance,
        ),
        (
            "record_subtask_result",
            Command::RecordSubtaskResult,
            Orchestrator,
            Advance,
        ),
        (
            "backfill_subtask_ids",
            Command::BackfillSubtaskIds,
            Orchestrator,
            Advance,
        ),
        ("finalize_plan", Command::FinalizePlan, Orchestrator, Write),
        ("archive", Command::Archive, Orchestrator, Advance),
        ("abandon", Command::Abandon, Orchestrator, Write),
        (
            "build_resume_briefing",
            Command::BuildResumeBriefing,
            Orchestrator,
            Read,
        ),
        (
            "update_plan_status",
            Command::UpdatePlanStatus,
            StepRunner,
            Write,
        ),
        (
            "read_current_goal",
            Command::ReadCurrentGoal,
            StepRunner,
            Read,
        ),
        (
            "get_current_phase",
            Command::GetCurrentPhase,
            StepRunner,
            Read,
        ),
        (
            "ensure_human_artifacts",
            Command::EnsureHumanArtifacts,
            StepRunner,
            Write,
        ),
        (
            "next_numbered_artifact_path",
            Command::NextNumberedArtifactPath,
            StepRunner,
            Read,
        ),
        (
            "write_verification_summary",
            Command::WriteVerificationSummary,
            StepRunner,
            Write,
        ),
        (
            "record_test_contract_handoff",
            Command::RecordTestContractHandoff,
            StepRunner,
            Write,
        ),
        (
            "validate_retry_quarantine",
            Command::ValidateRetryQuarantine,
            StepRunner,
            Write,
        ),
        ("save_research", Command::SaveResearch, StepRunner, Write),
        (
            "validate_research",
            Command::ValidateResearch,
            StepRunner,
            Read,
        ),
        ("load_research", Command::LoadResearch, StepRunner, Read),
    ]
};

impl Command {
    /// Returns the command of a name, and which script has it.
    pub(crate) fn of(name: &str) -> Option<(Self, Script)> {
        let row = TABLE.iter().find(|(known, ..)| *known == name)?;
        Some((row.1, row.2))
    }

    /// Returns what it does to the files.
    pub(crate) fn access(self) -> Access {
        let row = TABLE.iter().find(|(_, command, ..)| *command == self);
        // Every command has a row, which a test holds; to write is the careful guess.
        row.map_or(Access::Advance, |row| row.3)
    }

    /// Returns all names.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(name, ..)| *name)
    }
}

/// Returns the names of the commands that stand in for those of `map_orchestrator.py`.
pub fn orchestrator_commands() -> impl Iterator<Item = &'static str> {
    let of_orchestrator = TABLE
        .iter()
        .filter(|(_, _, script, _)| *script == Script::Orchestrator);
    of_orchestrator.map(|(name, ..)| *name)
}
