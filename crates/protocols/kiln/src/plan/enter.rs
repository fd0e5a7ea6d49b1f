//! Entering a stage: the prescribed text, and what follows.

use rekindle_model::{Stop, StopKind, Then};

use super::super::assess::{Execution, Judged, Routing};
use super::super::layout;
use super::super::memory::Memory;
use super::super::messages;
use super::super::table::Branch;
use super::super::values::Stage;

const ADD_PHASES: &str = "add the missing `### Phase N: Name` sections to master-plan.md again, then run `rekindle resume` again";

/// What entering a stage results in.
pub(super) struct Entry {
    /// The memory, with another stage if the routing has advanced.
    pub(super) memory: Memory,
    /// What is printed.
    pub(super) text: String,
    pub(super) then: Then,
}

/// Returns the prescribed text of the stage and what follows.
pub(super) fn enter(judged: &Judged) -> Entry {
    let waits = |reason: &str| {
        let stop = Stop::new(StopKind::Waiting, reason);
        stop.hint("continue in your coding agent, then run `rekindle resume` again")
    };
    let mut memory = judged.project.memory.clone();
    let (text, then) = match &judged.routing {
        Routing::Brainstorm => (
            messages::brainstorm(judged),
            waits("the brainstorm needs your answer").into(),
        ),
        Routing::Planning(sub_stage) => (
            messages::planning(judged, *sub_stage),
            waits("planning needs your answer").into(),
        ),
        Routing::Execution(execution) => match &execution.operator {
            None => (messages::status_line(judged, execution), Then::Again),
            Some(reason) => (
                messages::operator(execution, reason),
                operator_stop(execution, reason).into(),
            ),
        },
        Routing::NoPhases => {
            let stop = Stop::new(
                StopKind::Blocked,
                "the remaining work is unknown, so nothing is marked done",
            );
            (
                messages::without_a_plan(judged),
                stop.hint(ADD_PHASES).into(),
            )
        }
        Routing::PhasesMissing(lacking) => {
            let reason = format!("master-plan.md lacks {lacking}, so nothing is marked done");
            let stop = Stop::new(StopKind::Blocked, reason).hint(ADD_PHASES).hint(
                "if these phases were dropped, edit MEMORY.md: set `phase_total` to the number of phases, and delete the lines of the dropped phases below `## Phase Statuses`",
            );
            (messages::lacking_phases(lacking), stop.into())
        }
        Routing::Validation(branch) => {
            if judged.is_past_execution {
                memory = memory.with_field("stage", Stage::Validation.as_str());
            }
            let then = match branch {
                Branch::Blocked => messages::failed_validation().into(),
                Branch::Correction | Branch::Fresh => Then::Again,
            };
            (messages::validation(judged, *branch), then)
        }
        Routing::Complete => (messages::complete(), messages::complete_project().into()),
    };
    Entry { memory, text, then }
}

fn operator_stop(execution: &Execution, reason: &str) -> Stop {
    let number = execution.phase.number;
    let file = layout::shown_in_kiln(&layout::phase_state(number));
    let reason = format!("phase {number} waits for the operator: {reason}");
    let stop = Stop::new(StopKind::Waiting, reason);
    if !execution.restart.is_out_of_rounds() {
        return stop.hint(format!(
            "when it is resolved, set `status: in_progress` in {file}, then run `rekindle resume` again"
        ));
    }
    // The restart point follows from the last event, so another status alone changes nothing.
    stop.hint(format!(
        "to accept the work, append the line `- [<time>] [Operator] [review_approved] — accepted` to {file}, then run `rekindle resume` again"
    ))
    .hint("to have your own fix reviewed from round 1, set `status: in_progress` in it and append `- [<time>] [Operator] [task_success] — Implementation complete`")
}

/// Returns what follows after the first round.
pub(super) fn ahead(judged: &Judged) -> Vec<String> {
    match &judged.routing {
        Routing::Execution(execution) if execution.operator.is_none() => {
            let number = execution.phase.number;
            let named = messages::named(number, &execution.phase.name);
            let trouble = judged.trouble(number);
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
