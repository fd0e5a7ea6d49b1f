//! The commands by their names, and what they do to files.

/// What a command does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It may write files, but not the state.
    Write,
    /// It may write the state, which must be readable.
    Advance,
}

struct Row {
    name: &'static str,
    command: Command,
    access: Access,
    /// For a command of `map_step_runner.py` the number of required arguments.
    least: Option<usize>,
}

/// Makes the enum and the table of commands: name, command, access and, for commands of
/// `map_step_runner.py`, the number of required arguments.
macro_rules! commands {
    ($($name:literal $command:ident $access:ident $(, $least:literal)?;)*) => {
        /// A command of `map_orchestrator.py` or `map_step_runner.py`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Command {
            $($command,)*
        }

        const TABLE: &[Row] = &[$(Row {
            name: $name,
            command: Command::$command,
            access: Access::$access,
            least: [$(Some($least),)? None][0],
        },)*];
    };
}

commands! {
    "get_next_step" GetNextStep Advance;
    "peek_current_step" PeekCurrentStep Read;
    "validate_step" ValidateStep Advance;
    "initialize" Initialize Advance;
    "set_plan_approved" SetPlanApproved Advance;
    "restore_deferred_yagni" RestoreDeferredYagni Advance;
    "set_execution_mode" SetExecutionMode Advance;
    "set_tdd_mode" SetTddMode Advance;
    "skip_step" SkipStep Advance;
    "set_subtasks" SetSubtasks Advance;
    "mark_contract_ready" MarkContractReady Advance;
    "resume_from_plan" ResumeFromPlan Advance;
    "resume_from_test_contract" ResumeFromTestContract Advance;
    "check_circuit_breaker" CheckCircuitBreaker Read;
    "set_waves" SetWaves Advance;
    "get_wave_step" GetWaveStep Read;
    "validate_wave_step" ValidateWaveStep Advance;
    "advance_wave" AdvanceWave Advance;
    "select_execution_strategy" SelectExecutionStrategy Read;
    "resume_single_subtask" ResumeSingleSubtask Advance;
    "get_plan_progress" GetPlanProgress Read;
    "monitor_failed" MonitorFailed Advance;
    "wave_monitor_failed" WaveMonitorFailed Advance;
    "defer_flaky_subtask" DeferFlakySubtask Advance;
    "reopen_for_fixes" ReopenForFixes Advance;
    "mark_workflow_complete" MarkWorkflowComplete Advance;
    "mark_subtask_complete" MarkSubtaskComplete Advance;
    "record_subtask_result" RecordSubtaskResult Advance;
    "backfill_subtask_ids" BackfillSubtaskIds Advance;
    "finalize_plan" FinalizePlan Write;
    "archive" Archive Advance;
    "abandon" Abandon Write;
    "build_resume_briefing" BuildResumeBriefing Read;
    "get_interruption_status" GetInterruptionStatus Read;
    "repair_status" RepairStatus Read;
    "update_plan_status" UpdatePlanStatus Write, 2;
    "read_current_goal" ReadCurrentGoal Read, 0;
    "get_current_phase" GetCurrentPhase Read, 0;
    "ensure_human_artifacts" EnsureHumanArtifacts Write, 0;
    "next_numbered_artifact_path" NextNumberedArtifactPath Read, 1;
    "write_verification_summary" WriteVerificationSummary Write, 1;
    "record_test_contract_handoff" RecordTestContractHandoff Write, 1;
    "validate_retry_quarantine" ValidateRetryQuarantine Write, 0;
    "save_research" SaveResearch Write, 2;
    "validate_research" ValidateResearch Read, 2;
    "load_research" LoadResearch Read, 2;
}

impl Command {
    /// Returns the command of a name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let row = TABLE.iter().find(|row| row.name == name);
        row.map(|row| row.command)
    }

    fn row(self) -> &'static Row {
        // The macro lists commands and rows in the same order.
        &TABLE[self as usize]
    }

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns what it does to files.
    pub(crate) fn access(self) -> Access {
        self.row().access
    }

    /// Returns the number of required arguments of a command of `map_step_runner.py`, which takes
    /// positional arguments only.
    pub(crate) fn step_runner_arguments(self) -> Option<usize> {
        self.row().least
    }

    /// Returns whether it is refused while a repair has suspended the run.
    pub(crate) fn moves_the_run(self) -> bool {
        self == Self::GetWaveStep || self.access() != Access::Read
    }

    /// Returns whether a refusal has exit code 1; other commands are refused with exit code 0.
    pub(crate) fn fails_when_refused(self) -> bool {
        self.step_runner_arguments().is_some()
            || matches!(
                self,
                Self::ValidateStep
                    | Self::Archive
                    | Self::MarkSubtaskComplete
                    | Self::RestoreDeferredYagni
                    | Self::DeferFlakySubtask
            )
    }

    /// Returns whether its first argument is the branch.
    pub(crate) fn names_branch(self) -> bool {
        matches!(
            self,
            Self::LoadResearch | Self::SaveResearch | Self::ValidateResearch
        )
    }

    /// Returns all names.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.name)
    }
}

/// Returns the names of the commands that replace those of `map_orchestrator.py`.
pub fn orchestrator_commands() -> impl Iterator<Item = &'static str> {
    let rows = TABLE.iter().filter(|row| row.least.is_none());
    rows.map(|row| row.name)
}
