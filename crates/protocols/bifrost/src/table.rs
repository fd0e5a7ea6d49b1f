//! The decisions of a resume as tables: which checkpoint to use, what makes one unusable, which
//! command comes next, and what each phase needs.

use super::phase::Phase;
use rekindle_protocol::table::Cell::Is;
use rekindle_protocol::table::{Decision, Value as _, inputs, table, values, verdicts};

/// Returns the decisions for the documentation.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        CHOICES.printed(),
        FAULTS.printed(),
        COMMANDS.printed(),
        needs(),
    ]
}

/// Prints [`Phase::needs`], which is a match over the four phases.
fn needs() -> Decision {
    let rows = Phase::ALL.iter().map(|phase| {
        let needs = phase.needs();
        [
            format!("`{}`", phase.as_str()),
            needs.required.join(", "),
            needs.dependencies.to_owned(),
            needs.context.to_owned(),
            needs.when_stale.to_owned(),
        ]
    });
    Decision::new(
        "What a phase needs to be resumed",
        "The compatibility matrix of the specification.",
        [
            "phase",
            "required",
            "dependencies",
            "context",
            "when the checkpoint is old",
        ],
        rows,
    )
}

verdicts! {
    Chosen: "resumed from";
    Fault: "checkpoint is";
    Command: "typed next";
}

values! {
    /// The checkpoint that is resumed from.
    Chosen {
        /// The latest, or the named one.
        Found "that checkpoint",
        Nothing "stop: there is no checkpoint",
        Unfit "stop: it cannot be used",
        /// No checkpoint has the given id.
        Unknown "stop: there is no such checkpoint",
        /// The section of the latest checkpoint is empty.
        Empty "stop: its section is empty",
    }
}

inputs! {
    /// What decides which checkpoint is resumed from.
    Offer asked by OfferWhen {
        has_any: bool = "any checkpoint",
        /// The user named one; otherwise the latest is used.
        is_named: bool = "one is named",
        is_found: bool = "it exists",
        is_fit: bool = "it is usable",
    }
}

table! {
    /// Which checkpoint is resumed from.
    pub(crate) static CHOICES: Offer, asked by OfferWhen => Chosen;
    "Which checkpoint is resumed from",
    "Without a name the latest is used, and nothing replaces it: only a person goes further back.\nOf two checkpoints with the given id, a usable one comes first.";
    [has_any: Is(false)] => Chosen::Nothing, "a resume needs a checkpoint";
    [is_found: Is(true), is_fit: Is(true)] => Chosen::Found, "the latest or the given checkpoint is used";
    [is_found: Is(true)] => Chosen::Unfit, "a corrupted checkpoint stops the resume";
    [is_named: Is(true)] => Chosen::Unknown, "an id must name a checkpoint";
    [] => Chosen::Empty, "a damaged latest checkpoint stops the resume";
}

values! {
    /// What makes a checkpoint unusable.
    Fault {
        None "usable",
        Id "its id is not readable",
        Time "its time is not readable",
        Phase "its phase is not known",
    }
}

inputs! {
    /// What is known about a checkpoint.
    Known asked by KnownWhen {
        has_id: bool = "id",
        is_dated: bool = "time",
        /// From its field, its description or the next older checkpoint.
        has_phase: bool = "phase",
    }
}

table! {
    /// What makes a checkpoint unusable.
    pub(crate) static FAULTS: Known, asked by KnownWhen => Fault;
    "What makes a checkpoint unusable",
    "Other missing fields are reported and stop nothing.";
    [has_id: Is(false)] => Fault::Id, "a checkpoint has an id";
    [is_dated: Is(false)] => Fault::Time, "a checkpoint has a timestamp";
    [has_phase: Is(false)] => Fault::Phase, "a checkpoint has a phase";
    [] => Fault::None, "the rest is optional";
}

values! {
    /// Whether the task that a checkpoint names still has to be done.
    Named {
        Due "open, or none named",
        Done "done",
        Absent "not in the list",
    }
}

values! {
    /// The next command.
    Command {
        Quoted "the checkpoint's own command",
        Spec "/spec FEATURE",
        Plan "/plan FEATURE",
        Tasks "/tasks FEATURE",
        FirstTask "/implement FEATURE T001",
        /// The task in progress, otherwise the first open one; after the last one `/polish-docs`.
        OpenTask "/implement FEATURE with the next task",
    }
}

inputs! {
    /// What decides the next command.
    Standing asked by When {
        /// The checkpoint's `Next` has a command in backticks.
        has_command: bool = "command in `Next`",
        named: Named = "its task is",
        phase: Phase = "phase",
        /// The checkpoint says that its work is complete; in the implement phase that is a task.
        is_complete: bool = "complete",
    }
}

table! {
    /// The next command.
    pub(crate) static COMMANDS: Standing, asked by When => Command;
    "What is typed next",
    "A checkpoint's `Next` is often prose and often outdated: its task may be done by now.\nAfter the last task comes `/polish-docs`.";
    [has_command: Is(true), named: Is(Named::Done)] => Command::OpenTask, "a finished task is not repeated";
    [has_command: Is(true)] => Command::Quoted, "the checkpoint names the next command";
    [named: Is(Named::Done), phase: Is(Phase::Tasks), is_complete: Is(true)] => Command::OpenTask, "a finished task is not repeated";
    [phase: Is(Phase::Spec), is_complete: Is(false)] => Command::Spec, "an incomplete spec is continued";
    [phase: Is(Phase::Spec), is_complete: Is(true)] => Command::Plan, "the plan follows the spec";
    [phase: Is(Phase::Plan), is_complete: Is(false)] => Command::Plan, "an incomplete plan is continued";
    [phase: Is(Phase::Plan), is_complete: Is(true)] => Command::Tasks, "the tasks follow the plan";
    [phase: Is(Phase::Tasks), is_complete: Is(false)] => Command::Tasks, "an incomplete task list is continued";
    [phase: Is(Phase::Tasks), is_complete: Is(true)] => Command::FirstTask, "the first task follows the task list";
    [] => Command::OpenTask, "the implement phase continues with its open task";
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::{Input as _, check};

    #[test]
    fn tables_cover_every_input_and_use_every_row() {
        check(&CHOICES);
        check(&FAULTS);
        check(&COMMANDS);
    }

    #[test]
    fn a_resume_needs_an_existing_usable_checkpoint() {
        for offer in Offer::all() {
            let is_found = *CHOICES.decide(offer) == Chosen::Found;
            assert_eq!(
                is_found,
                offer.has_any && offer.is_found && offer.is_fit,
                "{offer:?}"
            );
        }
        for known in Known::all() {
            let is_fit = *FAULTS.decide(known) == Fault::None;
            assert_eq!(
                is_fit,
                known.has_id && known.is_dated && known.has_phase,
                "{known:?}"
            );
        }
    }

    #[test]
    fn a_finished_task_is_never_repeated() {
        for standing in Standing::all().filter(|standing| standing.named == Named::Done) {
            let command = *COMMANDS.decide(standing);
            let repeats = [Command::Quoted, Command::FirstTask].contains(&command);
            assert!(!repeats, "{standing:?}");
        }
    }

    #[test]
    fn a_phase_ends_only_when_it_is_complete() {
        for standing in Standing::all().filter(|standing| !standing.has_command) {
            let command = *COMMANDS.decide(standing);
            let next = match (standing.phase, standing.is_complete) {
                (Phase::Spec, false) => Command::Spec,
                (Phase::Spec, true) | (Phase::Plan, false) => Command::Plan,
                (Phase::Plan, true) | (Phase::Tasks, false) => Command::Tasks,
                (Phase::Tasks, true) if standing.named != Named::Done => Command::FirstTask,
                (Phase::Tasks, true) | (Phase::Implement, _) => Command::OpenTask,
            };
            assert_eq!(command, next, "{standing:?}");
        }
    }
}
