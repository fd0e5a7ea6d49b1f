//! The closed sets of words that MEMORY.md uses; anything else is not one of them.

/// Makes an enum of words that are read and written alike.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum $name {
            $($(#[$word_doc])* $variant,)*
        }

        impl $name {
            /// Returns the word.
            pub(super) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Reads exactly the word.
            pub(super) fn parse(text: &str) -> Option<Self> {
                match text { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl rekindle_protocol::table::Value for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn word(self) -> &'static str {
                self.as_str()
            }
        }
    };
}

words! {
    /// Where the project stands.
    Stage {
        Brainstorm "brainstorm",
        Planning "planning",
        Execution "execution",
        Validation "validation",
        Complete "complete",
    }
}

words! {
    /// Whether somebody is at it.
    Status {
        InProgress "in_progress",
        Paused "paused",
        Blocked "blocked",
        Complete "complete",
    }
}

words! {
    /// How far planning is.
    SubStage {
        DualPlan "dual_plan",
        Debate "debate",
        Synthesis "synthesis",
    }
}

words! {
    /// How far a phase is.
    PhaseStatus {
        Pending "pending",
        InProgress "in_progress",
        Failed "failed",
        Completed "completed",
    }
}

words! {
    /// What Argus says at the end of a report.
    Verdict {
        Pass "PASS",
        Partial "PARTIAL",
        Fail "FAIL",
    }
}

words! {
    /// The events of a phase state file that say how far the phase is.
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
    fn words_are_read_as_they_are_written_and_no_other_way() {
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
