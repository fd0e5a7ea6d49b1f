//! The stable codes of findings and errors, each with its page.
//!
//! A code, its severity and its page are in one row; a row whose page does
//! not exist under `docs/findings/` does not compile.

use crate::Severity;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $severity:ident;)*) => {
        /// A stable code; its words never change between releases.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the code as it is printed and typed.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the severity of this code.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// Returns its page as Markdown: the meaning, and what to do.
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../findings/", $name, ".md")),)*
                }
            }
        }
    };
}

codes! {
    // agent-memory: the closed set of a run's own findings.
    /// An event's timestamp cannot be read as a time.
    BadTimestamp "BAD_TIMESTAMP" Warning;
    /// An unfinished task depends on a skipped one.
    BlockedBySkipped "BLOCKED_BY_SKIPPED" Warning;
    /// One line held several objects.
    ConcatenatedJsonRecovered "CONCATENATED_JSON_RECOVERED" Warning;
    /// A line of a log is not JSON.
    CorruptLine "CORRUPT_LINE" Warning;
    /// The task graph cannot be read as one.
    CorruptTaskGraph "CORRUPT_TASK_GRAPH" Warning;
    /// Undone tasks depend on each other.
    DependencyCycle "DEPENDENCY_CYCLE" Warning;
    /// The graph has an id twice.
    DuplicateTask "DUPLICATE_TASK" Warning;
    /// A log has bytes that are not UTF-8.
    InvalidUtf8 "INVALID_UTF8" Warning;
    /// A document of an earlier phase is missing.
    MissingArtifact "MISSING_ARTIFACT" Warning;
    /// An unfinished task has no contract.
    MissingContract "MISSING_CONTRACT" Warning;
    /// An event has no timestamp.
    MissingTimestamp "MISSING_TIMESTAMP" Warning;
    /// An object printed over several lines was put together.
    MultilineJsonRecovered "MULTILINE_JSON_RECOVERED" Warning;
    /// A line is JSON but not an object.
    NonObjectLine "NON_OBJECT_LINE" Warning;
    /// A log's times go backwards.
    NonmonotonicFile "NONMONOTONIC_FILE" Warning;
    /// The protocol does not know the phase.
    PhaseOutOfRange "PHASE_OUT_OF_RANGE" Warning;
    /// An event names another run.
    RunIdMismatch "RUN_ID_MISMATCH" Warning;
    /// The run folder's name is not in the usual form.
    RunIdNonconforming "RUN_ID_NONCONFORMING" Warning;
    /// Nothing has happened in the run for a week.
    StaleRun "STALE_RUN" Warning;
    /// A log ends in the middle of a line.
    TruncatedLine "TRUNCATED_LINE" Warning;
    /// A task depends on an id that the graph lacks.
    UnknownDependency "UNKNOWN_DEPENDENCY" Warning;
    /// An event names a task that the graph lacks.
    UnknownTask "UNKNOWN_TASK" Warning;

    // kiln: faults of a project's memory and of the files next to it.
    /// MEMORY.md does not contain the project's state.
    MemoryCorrupt "MEMORY_CORRUPT" Blocker;
    /// The memory is not in the folder that kiln prescribes.
    MemoryElsewhere "MEMORY_ELSEWHERE" Warning;
    /// There is no memory of the project.
    MemoryMissing "MEMORY_MISSING" Blocker;
    /// Neither the plan nor the memory has a phase.
    NoPhases "NO_PHASES" Warning;
    /// A field of the memory has an unknown value.
    OddMemoryField "ODD_MEMORY_FIELD" Warning;
    /// A line of a phase's state file is not an event of a phase.
    OddPhaseEvent "ODD_PHASE_EVENT" Warning;
    /// A phase heading without a unique number.
    OddPhaseHeading "ODD_PHASE_HEADING" Warning;
    /// The line of a phase cannot be parsed.
    OddPhaseLine "ODD_PHASE_LINE" Warning;
    /// The memory was written for a project at another path.
    OtherProjectPath "OTHER_PROJECT_PATH" Warning;
    /// The plan lacks phases that are not done.
    PhasesMissing "PHASES_MISSING" Warning;
    /// More than one phase is in progress, or more than one has failed.
    SeveralOpenPhases "SEVERAL_OPEN_PHASES" Warning;
    /// The memory has a phase that the plan lacks.
    UnplannedPhase "UNPLANNED_PHASE" Warning;
    /// A document next to the memory cannot be read.
    UnreadableDocument "UNREADABLE_DOCUMENT" Warning;

    // kiln-teams: findings of the recovery of a wave.
    /// Worktrees of one wave have different base commits.
    BasesDiffer "BASES_DIFFER" Blocker;
    /// A heartbeat is ahead of this machine's clock.
    ClockAhead "CLOCK_AHEAD" Warning;
    /// Finished tasks touch the same path.
    Collision "COLLISION" Warning;
    /// git could not answer a question about the project.
    GitFailed "GIT_FAILED" Blocker;
    /// The sources disagree about a task.
    InconsistentTask "INCONSISTENT_TASK" Warning;
    /// There is no git repository to land work in.
    NoRepository "NO_REPOSITORY" Blocker;
    /// A newer Kiln wrote the state, and it is not read.
    NewerKiln "NEWER_KILN" Blocker;
    /// Something in the folder of worktrees belongs to no task.
    Orphaned "ORPHANED" Warning;
    /// A worker has been silent for long.
    StaleHeartbeat "STALE_HEARTBEAT" Warning;
    /// A path on main has neither the base's contents nor the worker's.
    StrangerOnMain "STRANGER_ON_MAIN" Warning;
    /// The protocol does not know a task's stage.
    UnknownStage "UNKNOWN_STAGE" Warning;
    /// The plan has a task that the task list lacks.
    UnlistedTask "UNLISTED_TASK" Warning;
    /// The retry ledger has no number of retries.
    UnreadableLedger "UNREADABLE_LEDGER" Blocker;
    /// A file of the task list cannot be read.
    UnreadableTask "UNREADABLE_TASK" Warning;
    /// The configuration has an unknown value.
    UnsupportedConfig "UNSUPPORTED_CONFIG" Blocker;
    /// The checked-out branch is not the one a wave was started on.
    WrongBranch "WRONG_BRANCH" Blocker;
    /// Another user could choose what is in the folder of worktrees.
    UntrustedRoot "UNTRUSTED_ROOT" Blocker;
    /// Tasks of another project are in the team's task list.
    OtherProjectTask "OTHER_PROJECT_TASK" Blocker;

    // bifrost: blockers of a resume, and other findings.
    /// An error of the workflow is not resolved.
    ActiveError "ACTIVE_ERROR" Blocker;
    /// The name of a feature leads out of `specs/`.
    BadFeatureName "BAD_FEATURE_NAME" Blocker;
    /// The latest checkpoint cannot be read.
    CorruptCheckpoint "CORRUPT_CHECKPOINT" Blocker;
    /// The session is not text.
    CorruptSession "CORRUPT_SESSION" Blocker;
    /// The legacy session belongs to another feature.
    FeatureMismatch "FEATURE_MISMATCH" Blocker;
    /// A required file is missing.
    MissingCritical "MISSING_CRITICAL" Blocker;
    /// The session has no checkpoint.
    NoCheckpoint "NO_CHECKPOINT" Blocker;
    /// There is no feature.
    NoFeatures "NO_FEATURES" Blocker;
    /// The feature has no session.
    NoSession "NO_SESSION" Blocker;
    /// A required file is still a placeholder.
    PlaceholderArtifact "PLACEHOLDER_ARTIFACT" Blocker;
    /// No checkpoint has this id.
    UnknownCheckpoint "UNKNOWN_CHECKPOINT" Blocker;
    /// A requested validation failed.
    ValidationFailed "VALIDATION_FAILED" Blocker;
    /// The checkpoint's time is in the future.
    FutureTimestamp "FUTURE_TIMESTAMP" Warning;
    /// The context was, or is, more than sixty percent full.
    HighContext "HIGH_CONTEXT" Warning;
    /// More than five checkpoints are kept in the session.
    HistoryOverflow "HISTORY_OVERFLOW" Warning;
    /// A checkpoint lacks some of its fields.
    IncompleteMetadata "INCOMPLETE_METADATA" Warning;
    /// The latest checkpoint is not in the history.
    LatestNotInHistory "LATEST_NOT_IN_HISTORY" Warning;
    /// The session is in the legacy place, from before each feature had one.
    LegacySession "LEGACY_SESSION" Warning;
    /// The marker is malformed.
    MarkerMalformed "MARKER_MALFORMED" Warning;
    /// The marker names another feature or phase than the checkpoint.
    MarkerMismatch "MARKER_MISMATCH" Warning;
    /// Files were written after the checkpoint.
    ModifiedAfter "MODIFIED_AFTER" Warning;
    /// The checkpoint's next task is done or missing.
    NextStale "NEXT_STALE" Warning;
    /// A phase has another name than it should.
    PhaseNoncanonical "PHASE_NONCANONICAL" Warning;
    /// Another checkpoint than the latest was chosen.
    Rollback "ROLLBACK" Warning;
    /// The checkpoint is older than thirty days.
    Stale30d "STALE_30D" Warning;
    /// The checkpoint is older than seven days.
    Stale7d "STALE_7D" Warning;
    /// The number of tasks differs from the stated one.
    TaskCountMismatch "TASK_COUNT_MISMATCH" Warning;
    /// A task that the checkpoint depends on is not complete.
    DependencyOpen "DEPENDENCY_OPEN" Note;
    /// There are days without a record between two entries of the session.
    SessionGap "SESSION_GAP" Note;
    /// The session history has more than five entries.
    SessionHistoryLong "SESSION_HISTORY_LONG" Note;
    /// A test was not finished.
    TestState "TEST_STATE" Note;
    // map: findings about a branch's checkpoint and plan.
    /// Headings of subtasks have no status of their own.
    HiddenSubtask "HIDDEN_SUBTASK" Warning;
    /// The state is an object of another shape than MAP 3.x writes.
    NotAMapState "NOT_A_MAP_STATE" Blocker;
    /// The workflow belongs to another branch than the one that is checked out.
    OtherBranch "OTHER_BRANCH" Warning;
    /// MAP's documented rule for a branch's folder leads to another state.
    OtherCheckpoint "OTHER_CHECKPOINT" Warning;
    /// Plan and state disagree about what is done.
    PlanDrift "PLAN_DRIFT" Note;
    /// There is a state and no task plan.
    PlanMissing "PLAN_MISSING" Blocker;
    /// The state and the journal of a repair contradict each other.
    RepairMismatch "REPAIR_MISMATCH" Blocker;
    /// The state cannot be read.
    StateCorrupt "STATE_CORRUPT" Blocker;

    // task lists: what their files may have.
    /// An archived list has open tasks.
    ArchivedOpen "ARCHIVED_OPEN" Warning;
    /// A file of settings of a list cannot be used.
    BadFile "BAD_FILE" Warning;
    /// The graph of a list's tasks cannot be read.
    BadGraph "BAD_GRAPH" Warning;
    /// A check list has an open box, where the tool itself stops.
    ChecklistOpen "CHECKLIST_OPEN" Warning;
    /// The project points at a list that is not there.
    CurrentMissing "CURRENT_MISSING" Warning;
    /// Tasks wait for each other.
    Cycle "CYCLE" Warning;
    /// A list has tasks, and a document that comes before them is missing.
    DocumentMissing "DOCUMENT_MISSING" Warning;
    /// Two tasks have one id.
    DuplicateId "DUPLICATE_ID" Warning;
    /// A task is marked done, and a part of it is open.
    MarkedEarly "MARKED_EARLY" Warning;
    /// A task is done and not marked.
    MarkMissing "MARK_MISSING" Warning;
    /// Check boxes without an id are not tasks.
    NoId "NO_ID" Note;
    /// Nobody has approved the tasks of a list.
    NotApproved "NOT_APPROVED" Warning;
    /// A file has bytes that are not UTF-8.
    NotUtf8 "NOT_UTF8" Warning;
    /// The file with the tasks has text and no task.
    NoTasks "NO_TASKS" Warning;
    /// A check box has no text.
    NoText "NO_TEXT" Warning;
    /// A file ends in the middle of a task.
    TornLine "TORN_LINE" Warning;
    /// A fence or a comment is never closed.
    UnclosedBlock "UNCLOSED_BLOCK" Warning;
    /// A mark of a check box is not known.
    UnknownMark "UNKNOWN_MARK" Warning;
    /// A task needs one that is not there.
    UnknownNeed "UNKNOWN_NEED" Warning;
    /// The file with the tasks cannot be read.
    UnreadableList "UNREADABLE_LIST" Blocker;

    // What any protocol may meet while reading.
    /// A document that counts is empty.
    EmptyDocument "EMPTY_DOCUMENT" Note;
    /// A run is complete by its summary, and has open tasks.
    OpenTasks "OPEN_TASKS" Note;
    /// The record of a run that `rekindle run` started is damaged.
    BrokenRunRecord "BROKEN_RUN_RECORD" Blocker;
    /// Tasks that could run side by side are about the same file.
    OverlappingFiles "OVERLAPPING_FILES" Note;
    /// A checkbox of a plan has no id, so it is no task.
    TaskWithoutId "TASK_WITHOUT_ID" Warning;
    /// A key of a plan is probably misspelt.
    MisspeltKey "MISSPELT_KEY" Blocker;
    /// A line is too long to be read.
    OversizedLine "OVERSIZED_LINE" Note;
    /// A record of rekindle's own was not written here, so it is not acted upon.
    ForeignRecord "FOREIGN_RECORD" Warning;
    /// git tracks rekindle's own files.
    TrackedState "TRACKED_STATE" Blocker;
    /// A link leads out of the project.
    OutsideProject "OUTSIDE_PROJECT" Note;
    /// A file was listed and then gone.
    VanishedFile "VANISHED_FILE" Note;
    /// Another session of a coding agent is at work in the project.
    SessionAlive "SESSION_ALIVE" Warning;
    /// What a session of a coding agent started still runs, though the session has died.
    SessionLeftovers "SESSION_LEFTOVERS" Warning;
    /// A name is not fit to be part of a path.
    UnsafeName "UNSAFE_NAME" Note;
    /// A file cannot be read, and without it the state is not known.
    UnreadableFile "UNREADABLE_FILE" Blocker;

    // Errors of ours that a person can act upon.
    /// An agent ended without success.
    AgentFailed "AGENT_FAILED" Blocker;
    /// A run is complete by its record, and its commits are not in git.
    LandedWorkMissing "LANDED_WORK_MISSING" Blocker;
    /// Another rekindle holds the workflow.
    LockHeld "LOCK_HELD" Blocker;
    /// A step would be repeated without any change.
    NoProgress "NO_PROGRESS" Blocker;
    /// No workflow has this name.
    UnknownWorkflow "UNKNOWN_WORKFLOW" Blocker;
    /// What was read has changed since the plan was made.
    WorldMoved "WORLD_MOVED" Blocker;

    // sessions: what stands in the way of continuing one.
    /// Gemini deletes the transcript of a session that was resumed.
    GeminiForgets "GEMINI_FORGETS" Warning;
    /// The folder of a session is missing, or belongs to another user.
    SessionFolderGone "SESSION_FOLDER_GONE" Blocker;
    /// A process has a session open.
    SessionHeld "SESSION_HELD" Blocker;
    /// What a session started still runs.
    SessionLeftProcesses "SESSION_LEFT_PROCESSES" Warning;
    /// A usage limit stopped a session and holds.
    SessionLimited "SESSION_LIMITED" Blocker;
    /// A process that serves many folders may have a session open.
    SessionMaybeHeld "SESSION_MAYBE_HELD" Warning;
    /// Another session begins with the rows of this one.
    SessionSuperseded "SESSION_SUPERSEDED" Blocker;
    /// The last line of a transcript is cut off.
    TranscriptTorn "TRANSCRIPT_TORN" Warning;
    /// No row of a conversation can be read.
    TranscriptUnreadable "TRANSCRIPT_UNREADABLE" Blocker;
}

impl Code {
    /// Returns the code that a person typed, in any case, with `-` or `_`.
    pub fn parse(text: &str) -> Option<Self> {
        let wanted = text.to_ascii_uppercase().replace('-', "_");
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == wanted)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_titled_with_its_code_and_says_what_to_do() {
        for code in Code::ALL {
            let page = code.page();
            assert!(page.starts_with(&format!("# {code}\n")), "{code}: title");
            assert!(page.contains("\n## What it means\n"), "{code}: meaning");
            assert!(page.contains("\n## What to do\n"), "{code}: remedy");
        }
    }

    #[test]
    fn codes_read_back_however_they_are_typed() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            let typed = code.as_str().to_ascii_lowercase().replace('_', "-");
            assert_eq!(Code::parse(&typed), Some(*code));
        }
        assert_eq!(Code::parse("NO_SUCH_CODE"), None);
    }
}
