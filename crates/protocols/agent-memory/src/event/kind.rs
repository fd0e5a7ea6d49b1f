//! The types of events, in all their spellings.

/// What an event is about, as far as resuming cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Task(TaskEvent),
    PhaseTransition,
    SessionResumed,
    RunEnded(RunEnd),
    CleanupCompleted,
    CheckpointCreated,
    /// A worker or agent of the engine's was killed from outside.
    AttemptInterrupted,
    /// Everything else is activity and nothing more.
    Other,
}

/// What an event says of a task, in the order of a task's course.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum TaskEvent {
    Created,
    Ready,
    Claimed,
    Started,
    Implemented,
    Verified,
    Completed,
    Failed,
    Failure,
    VerificationFailed,
    Blocked,
    Skipped,
}

/// Events after which a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum RunEnd {
    Completed,
    Complete,
    Cancelled,
    Failed,
    StmArchived,
}

impl RunEnd {
    /// Returns the normalised type of the event.
    pub(in super::super) fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "run_completed",
            Self::Complete => "run_complete",
            Self::Cancelled => "run_cancelled",
            Self::Failed => "run_failed",
            Self::StmArchived => "stm_archived",
        }
    }
}

impl TaskEvent {
    pub(in super::super) const ALL: [Self; 12] = [
        Self::Created,
        Self::Ready,
        Self::Claimed,
        Self::Started,
        Self::Implemented,
        Self::Verified,
        Self::Completed,
        Self::Failed,
        Self::Failure,
        Self::VerificationFailed,
        Self::Blocked,
        Self::Skipped,
    ];

    /// Returns the normalised type of the event.
    pub(in super::super) fn as_str(self) -> &'static str {
        match self {
            Self::Created => "task_created",
            Self::Ready => "task_ready",
            Self::Claimed => "task_claimed",
            Self::Started => "task_started",
            Self::Implemented => "task_implemented",
            Self::Verified => "task_verified",
            Self::Completed => "task_completed",
            Self::Failed => "task_failed",
            Self::Failure => "task_failure",
            Self::VerificationFailed => "task_verification_failed",
            Self::Blocked => "task_blocked",
            Self::Skipped => "task_skipped",
        }
    }
}

impl Kind {
    /// Reads a type in any of its spellings: case does not matter, and `-` is `_`.
    pub(in super::super) fn parse(spelled: &str) -> Self {
        let mut buffer = [0_u8; 32];
        let Some(name) = buffer.get_mut(..spelled.len()) else {
            return Self::Other;
        };
        for (to, from) in name.iter_mut().zip(spelled.bytes()) {
            *to = if from == b'-' {
                b'_'
            } else {
                from.to_ascii_lowercase()
            };
        }
        match &*name {
            b"task_created" => Self::Task(TaskEvent::Created),
            b"task_ready" => Self::Task(TaskEvent::Ready),
            b"task_claimed" => Self::Task(TaskEvent::Claimed),
            b"task_started" => Self::Task(TaskEvent::Started),
            b"task_implemented" => Self::Task(TaskEvent::Implemented),
            b"task_verified" => Self::Task(TaskEvent::Verified),
            b"task_completed" => Self::Task(TaskEvent::Completed),
            b"task_failed" => Self::Task(TaskEvent::Failed),
            b"task_failure" => Self::Task(TaskEvent::Failure),
            b"task_verification_failed" => Self::Task(TaskEvent::VerificationFailed),
            b"task_blocked" => Self::Task(TaskEvent::Blocked),
            b"task_skipped" => Self::Task(TaskEvent::Skipped),
            b"phase_transition" => Self::PhaseTransition,
            b"session_resumed" => Self::SessionResumed,
            b"run_completed" => Self::RunEnded(RunEnd::Completed),
            b"run_complete" => Self::RunEnded(RunEnd::Complete),
            b"run_cancelled" => Self::RunEnded(RunEnd::Cancelled),
            b"run_failed" => Self::RunEnded(RunEnd::Failed),
            b"stm_archived" => Self::RunEnded(RunEnd::StmArchived),
            b"cleanup_completed" => Self::CleanupCompleted,
            b"checkpoint_created" => Self::CheckpointCreated,
            b"attempt_interrupted" => Self::AttemptInterrupted,
            _ => Self::Other,
        }
    }
}
