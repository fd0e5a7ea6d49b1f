//! The types of events, in all their spellings.

use rekindle_protocol::table::values;

/// The type of an event, as far as it matters for a resume.
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
    /// An agent of the engine's reached its usage limit.
    UsageLimited,
    /// Everything else is activity and nothing more.
    Other,
}

values! {
    /// An event about a task, in the order of a task's course.
    TaskEvent {
        Created "task_created",
        Ready "task_ready",
        Claimed "task_claimed",
        Started "task_started",
        Implemented "task_implemented",
        Verified "task_verified",
        Completed "task_completed",
        Failed "task_failed",
        Failure "task_failure",
        VerificationFailed "task_verification_failed",
        Blocked "task_blocked",
        Skipped "task_skipped",
    }
}

values! {
    /// An event that ends a run.
    RunEnd {
        Completed "run_completed",
        Complete "run_complete",
        Cancelled "run_cancelled",
        Failed "run_failed",
        StmArchived "stm_archived",
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
            b"usage_limited" => Self::UsageLimited,
            _ => Self::Other,
        }
    }
}
