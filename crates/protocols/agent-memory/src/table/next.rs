//! What comes next in a run.

use super::super::phase::SeedPhase;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Row, Table, Verdict, inputs, values};

values! {
    /// The task that would be worked on.
    Candidate {
        /// No task can run.
        Nothing "none can run",
        /// One whose work is there.
        Implemented "to verify",
        Open "to execute",
        /// Every one that can run has failed too often.
        Exhausted "failed too often",
    }
}

values! {
    /// What comes next.
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

impl Verdict for Due {
    const COLUMNS: &'static [&'static str] = &["next"];

    fn shown(&self) -> Vec<String> {
        vec![format!("`{}`", self.as_str())]
    }
}

inputs! {
    /// What decides what comes next in a run.
    Standing asked by When {
        is_complete: bool = "complete",
        /// It has a constitution and none of the other documents.
        is_small: bool = "small",
        phase: SeedPhase = "phase",
        has_prd: bool = "prd.md",
        has_plan: bool = "plan.md",
        /// The task graph is there and can be read.
        has_graph: bool = "task graph",
        has_constitution: bool = "constitution.md",
        /// A move back took the approval away.
        is_voided: bool = "approval void",
        all_finished: bool = "all finished",
        candidate: Candidate = "first task",
        has_blocked: bool = "blocked tasks",
        /// The report is there, or an event says so.
        is_clean: bool = "cleaned up",
        has_checklist: bool = "pr-checklist.md",
    }
}

const FROM_EXECUTION: &[SeedPhase] = &[
    SeedPhase::Execution,
    SeedPhase::Cleanup,
    SeedPhase::Consolidation,
];

const BEFORE_EXECUTION: &[SeedPhase] = &[SeedPhase::Intake, SeedPhase::Planning];

const fn next(when: When, then: Due, source: &'static str) -> Row<Standing, Due> {
    Row { when, then, source }
}

/// A document that is not there is made again before anything else, but in a small run.
const fn missing(when: When, then: Due) -> Row<Standing, Due> {
    let when = When {
        is_small: Is(false),
        ..when
    };
    next(when, then, "seed 63; ruling 18")
}

const fn executing(when: When, then: Due, source: &'static str) -> Row<Standing, Due> {
    let when = When {
        phase: Is(SeedPhase::Execution),
        ..when
    };
    next(when, then, source)
}

const fn cleaning(when: When, then: Due) -> Row<Standing, Due> {
    let when = When {
        phase: Is(SeedPhase::Cleanup),
        ..when
    };
    next(when, then, "seed 38; ruling 37")
}

/// What comes next.
pub(crate) static NEXT: Table<Standing, Due> = Table {
    title: "What comes next in a run",
    about: "A run is complete by an event or its summary; what is missing is made again by the step that makes it.",
    rows: &[
        next(
            When {
                is_complete: Is(true),
                ..When::ANY
            },
            Due::RunComplete,
            "ruling 19",
        ),
        executing(
            When {
                is_small: Is(true),
                ..When::ANY
            },
            Due::ExecuteSmallTask,
            "ruling 18",
        ),
        missing(
            When {
                has_prd: Is(false),
                ..When::ANY
            },
            Due::CreatePrd,
        ),
        missing(
            When {
                has_plan: Is(false),
                ..When::ANY
            },
            Due::CreatePlan,
        ),
        missing(
            When {
                has_graph: Is(false),
                ..When::ANY
            },
            Due::BreakTasks,
        ),
        missing(
            When {
                phase: In(FROM_EXECUTION),
                has_constitution: Is(false),
                ..When::ANY
            },
            Due::CreateConstitution,
        ),
        next(
            When {
                phase: In(BEFORE_EXECUTION),
                is_voided: Is(true),
                ..When::ANY
            },
            Due::AwaitApproval,
            "seed 36; ruling 16",
        ),
        next(
            When {
                phase: In(BEFORE_EXECUTION),
                has_constitution: Is(false),
                ..When::ANY
            },
            Due::AwaitApproval,
            "seed 36",
        ),
        next(
            When {
                phase: In(BEFORE_EXECUTION),
                ..When::ANY
            },
            Due::TransitionToExecution,
            "section 15",
        ),
        executing(
            When {
                all_finished: Is(true),
                ..When::ANY
            },
            Due::VerifyPhaseAndTransition,
            "ruling 17",
        ),
        executing(
            When {
                candidate: Is(Candidate::Implemented),
                ..When::ANY
            },
            Due::VerifyTask,
            "seed 37; ruling 11",
        ),
        executing(
            When {
                candidate: Is(Candidate::Open),
                ..When::ANY
            },
            Due::ExecuteTask,
            "seed 37",
        ),
        executing(
            When {
                candidate: Is(Candidate::Exhausted),
                ..When::ANY
            },
            Due::EscalateUser,
            "rulings 9, 42",
        ),
        executing(
            When {
                has_blocked: Is(true),
                ..When::ANY
            },
            Due::ResolveBlockers,
            "seed 34; section 15",
        ),
        executing(When::ANY, Due::FixTaskGraph, "ruling 26"),
        cleaning(
            When {
                is_clean: Is(false),
                ..When::ANY
            },
            Due::RunCleanup,
        ),
        cleaning(
            When {
                has_checklist: Is(false),
                ..When::ANY
            },
            Due::RunPrPrep,
        ),
        cleaning(When::ANY, Due::PresentPr),
    ],
    last: next(
        When {
            phase: Is(SeedPhase::Consolidation),
            ..When::ANY
        },
        Due::RunConsolidation,
        "seed 39; ruling 38",
    ),
};
