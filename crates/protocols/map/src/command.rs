//! The commands by their names, and whether they write.

/// A command of `map_orchestrator.py`, or one of the other script's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Abandon,
    AdvanceWave,
    Archive,
    BackfillSubtaskIds,
    BuildResumeBriefing,
    CheckCircuitBreaker,
    DeferFlakySubtask,
    FinalizePlan,
    GetInterruptionStatus,
    GetNextStep,
    GetPlanProgress,
    GetWaveStep,
    Initialize,
    MarkContractReady,
    MarkSubtaskComplete,
    MarkWorkflowComplete,
    MonitorFailed,
    PeekCurrentStep,
    RecordSubtaskResult,
    ReopenForFixes,
    RestoreDeferredYagni,
    ResumeFromPlan,
    ResumeFromTestContract,
    ResumeSingleSubtask,
    SelectExecutionStrategy,
    SetExecutionMode,
    SetPlanApproved,
    SetSubtasks,
    SetTddMode,
    SetWaves,
    SkipStep,
    StepRunner(StepRunner),
    ValidateStep,
    ValidateWaveStep,
    WaveMonitorFailed,
}

/// A command of `map_step_runner.py` that a resume needs; its words are read by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepRunner {
    EnsureHumanArtifacts,
    GetCurrentPhase,
    LoadResearch,
    NextNumberedArtifactPath,
    ReadCurrentGoal,
    RecordTestContractHandoff,
    SaveResearch,
    UpdatePlanStatus,
    ValidateResearch,
    ValidateRetryQuarantine,
    WriteVerificationSummary,
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

const TABLE: &[(&str, Command, Access)] = {
    use Access::{Advance, Read, Write};
    &[
        ("get_next_step", Command::GetNextStep, Advance),
        ("peek_current_step", Command::PeekCurrentStep, Read),
        ("validate_step", Command::ValidateStep, Advance),
        ("initialize", Command::Initialize, Advance),
        ("set_plan_approved", Command::SetPlanApproved, Advance),
        (
            "restore_deferred_yagni",
            Command::RestoreDeferredYagni,
            Advance,
        ),
        ("set_execution_mode", Command::SetExecutionMode, Advance),
        ("set_tdd_mode", Command::SetTddMode, Advance),
        ("skip_step", Command::SkipStep, Advance),
        ("set_subtasks", Command::SetSubtasks, Advance),
        ("mark_contract_ready", Command::MarkContractReady, Advance),
        ("resume_from_plan", Command::ResumeFromPlan, Advance),
        (
            "resume_from_test_contract",
            Command::ResumeFromTestContract,
            Advance,
        ),
        ("check_circuit_breaker", Command::CheckCircuitBreaker, Read),
        ("set_waves", Command::SetWaves, Advance),
        ("get_wave_step", Command::GetWaveStep, Read),
        ("validate_wave_step", Command::ValidateWaveStep, Advance),
        ("advance_wave", Command::AdvanceWave, Advance),
        (
            "select_execution_strategy",
            Command::SelectExecutionStrategy,
            Read,
        ),
        (
            "resume_single_subtask",
            Command::ResumeSingleSubtask,
            Advance,
        ),
        ("get_plan_progress", Command::GetPlanProgress, Read),
        ("monitor_failed", Command::MonitorFailed, Advance),
        ("wave_monitor_failed", Command::WaveMonitorFailed, Advance),
        ("defer_flaky_subtask", Command::DeferFlakySubtask, Advance),
        ("reopen_for_fixes", Command::ReopenForFixes, Advance),
        (
            "mark_workflow_complete",
            Command::MarkWorkflowComplete,
            Advance,
        ),
        (
            "mark_subtask_complete",
            Command::MarkSubtaskComplete,
            Advance,
        ),
        (
            "record_subtask_result",
            Command::RecordSubtaskResult,
            Advance,
        ),
        ("backfill_subtask_ids", Command::BackfillSubtaskIds, Advance),
        ("finalize_plan", Command::FinalizePlan, Write),
        ("archive", Command::Archive, Advance),
        ("abandon", Command::Abandon, Write),
        ("build_resume_briefing", Command::BuildResumeBriefing, Read),
        (
            "get_interruption_status",
            Command::GetInterruptionStatus,
            Read,
        ),
        ("repair_status", Command::GetInterruptionStatus, Read),
        (
            "update_plan_status",
            Command::StepRunner(StepRunner::UpdatePlanStatus),
            Write,
        ),
        (
            "read_current_goal",
            Command::StepRunner(StepRunner::ReadCurrentGoal),
            Read,
        ),
        (
            "get_current_phase",
            Command::StepRunner(StepRunner::GetCurrentPhase),
            Read,
        ),
        (
            "ensure_human_artifacts",
            Command::StepRunner(StepRunner::EnsureHumanArtifacts),
            Write,
        ),
        (
            "next_numbered_artifact_path",
            Command::StepRunner(StepRunner::NextNumberedArtifactPath),
            Read,
        ),
        (
            "write_verification_summary",
            Command::StepRunner(StepRunner::WriteVerificationSummary),
            Write,
        ),
        (
            "record_test_contract_handoff",
            Command::StepRunner(StepRunner::RecordTestContractHandoff),
            Write,
        ),
        (
            "validate_retry_quarantine",
            Command::StepRunner(StepRunner::ValidateRetryQuarantine),
            Write,
        ),
        (
            "save_research",
            Command::StepRunner(StepRunner::SaveResearch),
            Write,
        ),
        (
            "validate_research",
            Command::StepRunner(StepRunner::ValidateResearch),
            Read,
        ),
        (
            "load_research",
            Command::StepRunner(StepRunner::LoadResearch),
            Read,
        ),
    ]
};

impl Command {
    /// Returns the command of a name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let row = TABLE.iter().find(|(known, ..)| *known == name);
        row.map(|(_, command, _)| *command)
    }

    /// Returns what it does to the files.
    pub(crate) fn access(self) -> Access {
        let row = TABLE.iter().find(|(_, command, _)| *command == self);
        // Every command has a row, which a test holds; to write is the careful guess.
        row.map_or(Access::Advance, |(_, _, access)| *access)
    }

    /// Returns whether it is refused while a repair has suspended the run: when it may change
    /// something, or says what a wave is to do next.
    pub(crate) fn moves_the_run(self) -> bool {
        self == Self::GetWaveStep || self.access() != Access::Read
    }

    /// Returns whether a refusal has exit code 1; other commands are refused with exit code 0.
    pub(crate) fn fails_when_refused(self) -> bool {
        matches!(
            self,
            Self::ValidateStep
                | Self::Archive
                | Self::MarkSubtaskComplete
                | Self::RestoreDeferredYagni
                | Self::DeferFlakySubtask
                | Self::StepRunner(_)
        )
    }

    /// Returns all names.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(name, ..)| *name)
    }
}

impl StepRunner {
    /// Returns how many words it needs at least.
    pub(crate) fn least_words(self) -> usize {
        match self {
            Self::LoadResearch
            | Self::SaveResearch
            | Self::UpdatePlanStatus
            | Self::ValidateResearch => 2,
            Self::NextNumberedArtifactPath
            | Self::RecordTestContractHandoff
            | Self::WriteVerificationSummary => 1,
            Self::EnsureHumanArtifacts
            | Self::GetCurrentPhase
            | Self::ReadCurrentGoal
            | Self::ValidateRetryQuarantine => 0,
        }
    }

    /// Returns whether its first word is the branch.
    pub(crate) fn names_branch(self) -> bool {
        matches!(
            self,
            Self::LoadResearch | Self::SaveResearch | Self::ValidateResearch
        )
    }
}

/// Returns the names of the commands that stand in for those of `map_orchestrator.py`.
pub fn orchestrator_commands() -> impl Iterator<Item = &'static str> {
    let of_orchestrator = TABLE
        .iter()
        .filter(|(_, command, _)| !matches!(command, Command::StepRunner(_)));
    of_orchestrator.map(|(name, ..)| *name)
}
