//! Entering a stage: what the seed wants said of it, and what follows.

use rekindle_model::{StopKind, Then};

use super::super::assess::{Execution, Judged, Routing};
use super::super::layout;
use super::super::memory::Memory;
use super::super::table::Branch;
use super::super::values::Stage;
use super::super::words;
use super::stop;

/// What entering a stage comes to.
pub(super) struct Entry {
    /// The memory, with another stage where the routing moved on.
    pub(super) memory: Memory,
    /// What is said.
    pub(super) text: String,
    pub(super) then: Then,
}

/// Says what the seed wants said of the stage, and decides what follows.
pub(super) fn enter(judged: &Judged) -> Entry {
    let memory = judged.project.memory.clone();
    let waits = |reason: &str| {
        stop(
            StopKind::Waiting,
            reason,
            &["go on in your coding agent, then run `rekindle resume` again"],
        )
    };
    match &judged.routing {
        Routing::Brainstorm => Entry {
            memory,
            text: words::brainstorm(judged),
            then: waits("the brainstorm goes on with what you say"),
        },
        Routing::Planning(sub_stage) => Entry {
            memory,
            text: words::planning(judged, *sub_stage),
            then: waits("planning goes on with what you say"),
        },
        Routing::Execution(execution) => match &execution.operator {
            None => Entry {
                memory,
                text: words::status_line(judged, execution),
                then: Then::Again,
            },
            Some(reason) => Entry {
                memory,
                text: words::operator(execution, reason),
                then: operator_stop(execution, reason),
            },
        },
        Routing::NoPhases => Entry {
            memory,
            text: words::without_a_plan(judged),
            then: stop(
                StopKind::Blocked,
                "it can not be told what is left to do, so nothing is called done",
                &[
                    "put the `### Phase N: Name` sections back into master-plan.md, then run `rekindle resume` again",
                ],
            ),
        },
        Routing::PhasesMissing(lacking) => Entry {
            memory,
            text: words::lacking_phases(lacking),
            then: stop(
                StopKind::Blocked,
                &format!("master-plan.md lacks {lacking}, so nothing is called done"),
                &[
                    "put the missing `### Phase N: Name` sections back into master-plan.md, then run `rekindle resume` again",
                    "if the plan has no such phase any more, say so in MEMORY.md: set `phase_total` to the number of phases, and take away the lines below `## Phase Statuses` of those that are gone",
                ],
            ),
        },
        Routing::Validation(branch) => Entry {
            memory: if judged.is_past_execution {
                memory.with_field("stage", Stage::Validation.as_str())
            } else {
                memory
            },
            text: words::validation(judged, *branch),
            then: match branch {
                Branch::Blocked => Then::Ask(words::failed_validation()),
                Branch::Correction | Branch::Fresh => Then::Again,
            },
        },
        Routing::Complete => Entry {
            memory,
            text: words::complete(),
            then: Then::Ask(words::complete_project()),
        },
    }
}

fn operator_stop(execution: &Execution, reason: &str) -> Then {
    let number = execution.phase.number;
    let file = layout::phase_state(number);
    let hints = if execution.restart.is_out_of_rounds() {
        // The restart point follows from the last event, so another status alone changes nothing.
        vec![
            format!(
                "to accept the work, add the line `- [<time>] [Operator] [review_approved] — accepted` at the end of .kiln/{file}, then run `rekindle resume` again"
            ),
            "to have your own fix reviewed from round 1, set `status: in_progress` in it and add `- [<time>] [Operator] [task_success] — Implementation complete`".to_owned(),
        ]
    } else {
        vec![format!(
            "when it is dealt with, say so in .kiln/{file} (`status: in_progress`), then run `rekindle resume` again"
        )]
    };
    let hints: Vec<&str> = hints.iter().map(String::as_str).collect();
    let reason = format!("phase {number} waits for the operator: {reason}");
    stop(StopKind::Waiting, &reason, &hints)
}

/// What a yes sets going beyond the first round.
pub(super) fn ahead(judged: &Judged) -> Vec<String> {
    match &judged.routing {
        Routing::Execution(execution) if execution.operator.is_none() => {
            let number = execution.phase.number;
            let named = words::named(number, &execution.phase.name);
            let trouble = judged.trouble(number);
            let trouble = trouble.map_or_else(String::new, |said| format!("; {said}"));
            vec![
                format!("Maestro resumes {named}{trouble}"),
                "the phases after it, then validation, with up to three corrections".to_owned(),
            ]
        }
        Routing::Validation(Branch::Correction | Branch::Fresh) => {
            vec!["Argus validates what was built, with up to three corrections".to_owned()]
        }
        Routing::Brainstorm
        | Routing::Planning(_)
        | Routing::Execution(_)
        | Routing::NoPhases
        | Routing::PhasesMissing(_)
        | Routing::Validation(Branch::Blocked)
        | Routing::Complete => Vec::new(),
    }
}
