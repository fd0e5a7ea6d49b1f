//! The closed sets of words in MEMORY.md and the state files.

/// Makes enums of words that are read and written alike.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal,)* })*) => {$(
        rekindle_protocol::table::values! { $(#[$doc])* $name { $($variant $word,)* } }

        impl $name {
            /// Reads exactly the word.
            pub(super) fn parse(text: &str) -> Option<Self> {
                match text { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    )*};
}

words! {
    /// The stage of the project.
    Stage {
        Brainstorm "brainstorm",
        Planning "planning",
        Execution "execution",
        Validation "validation",
        Complete "complete",
    }

    /// The status of the project.
    Status {
        InProgress "in_progress",
        Paused "paused",
        Blocked "blocked",
        Complete "complete",
    }

    /// The stage of planning.
    SubStage {
        DualPlan "dual_plan",
        Debate "debate",
        Synthesis "synthesis",
    }

    /// The state of a phase.
    PhaseStatus {
        Pending "pending",
        InProgress "in_progress",
        Failed "failed",
        Completed "completed",
    }

    /// The verdict of a report.
    Verdict {
        Pass "PASS",
        Partial "PARTIAL",
        Fail "FAIL",
    }

    /// The events of a phase state file.
    Event {
        Setup "setup",
        Branch "branch",
        PlanStart "plan_start",
        PlanComplete "plan_complete",
        DebateComplete "debate_complete",
        SynthesisComplete "synthesis_complete",
        SharpenStart "sharpen_start",
        SharpenComplete "sharpen_complete",
        TaskStart "task_start",
        TaskSuccess "task_success",
        TaskRetry "task_retry",
        TaskFail "task_fail",
        ReviewStart "review_start",
        ReviewApproved "review_approved",
        ReviewRejected "review_rejected",
        FixStart "fix_start",
        FixComplete "fix_complete",
        Merge "merge",
        ReconcileComplete "reconcile_complete",
        Error "error",
        Halt "halt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::Value as _;

    #[test]
    fn only_exact_words_are_read() {
        for stage in Stage::ALL {
            assert_eq!(Stage::parse(stage.as_str()), Some(*stage));
        }
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(*status));
        }
        for event in Event::ALL {
            assert_eq!(Event::parse(event.as_str()), Some(*event));
        }
        for sub_stage in SubStage::ALL {
            assert_eq!(SubStage::parse(sub_stage.as_str()), Some(*sub_stage));
        }
        for status in PhaseStatus::ALL {
            assert_eq!(PhaseStatus::parse(status.as_str()), Some(*status));
        }
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::parse(verdict.as_str()), Some(*verdict));
        }
        for wrong in [
            "",
            "Brainstorm",
            "in-progress",
            " execution",
            "executing",
            "null",
        ] {
            assert_eq!(Stage::parse(wrong), None, "{wrong}");
            assert_eq!(Status::parse(wrong), None, "{wrong}");
        }
    }
}
