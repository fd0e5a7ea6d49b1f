//! The decisions of a resume as data, each in one place: which checkpoint counts, what makes one
//! unfit, what is typed next, and what each phase needs.

use super::phase::Phase;
use rekindle_protocol::table::Cell::Is;
use rekindle_protocol::table::{Decision, Row, Table, Verdict, inputs, values};

/// Returns the decisions for the page about them.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        CHOICES.printed(),
        FAULTS.printed(),
        COMMANDS.printed(),
        needs(),
    ]
}

/// What a phase needs is a match over the four phases, so this is a print of that.
fn needs() -> Decision {
    let rows = Phase::ALL
        .iter()
        .zip(["161-165", "167-171", "173-177", "179-183"]);
    let rows = rows.map(|(phase, line)| {
        let needs = phase.needs();
        vec![
            format!("`{}`", phase.as_str()),
            needs.required.join(", "),
            needs.dependencies.to_owned(),
            needs.context.to_owned(),
            needs.when_stale.to_owned(),
            format!("seed {line}"),
        ]
    });
    Decision {
        title: "What a phase needs to be resumed",
        about: "The seed's compatibility matrix.".to_owned(),
        headings: vec![
            "phase",
            "required",
            "dependencies",
            "context",
            "when the checkpoint is old",
            "source",
        ],
        rows: rows.collect(),
    }
}

values! {
    /// Which checkpoint is resumed from.
    Chosen {
        /// The latest, or the one that was named.
        Found "that checkpoint",
        Nothing "stop: there is no checkpoint",
        /// The one that is meant is unfit.
        Unfit "stop: it can not be gone back to",
        /// None has the id that was named.
        Unknown "stop: there is no such checkpoint",
        /// The latest has a heading and nothing else.
        Empty "stop: nothing stands under the heading",
    }
}

impl Verdict for Chosen {
    const COLUMNS: &'static [&'static str] = &["resumed from"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What decides from which checkpoint a resume goes.
    Offer asked by OfferWhen {
        has_any: bool = "any checkpoint",
        /// A person named one; else the latest is meant.
        is_named: bool = "one is named",
        is_found: bool = "the meant one is there",
        is_fit: bool = "it is fit",
    }
}

const fn choice(when: OfferWhen, then: Chosen, source: &'static str) -> Row<Offer, Chosen> {
    Row { when, then, source }
}

/// Which checkpoint counts.
pub(crate) static CHOICES: Table<Offer, Chosen> = Table {
    title: "Which checkpoint is resumed from",
    about: "Without a name the latest is meant, and nothing else takes its place: going further back is a person's choice.\nOf two with the id that was named, one that is fit comes first.",
    rows: &[
        choice(
            OfferWhen {
                has_any: Is(false),
                ..OfferWhen::ANY
            },
            Chosen::Nothing,
            "seed 51",
        ),
        choice(
            OfferWhen {
                is_found: Is(true),
                is_fit: Is(true),
                ..OfferWhen::ANY
            },
            Chosen::Found,
            "seed 39, 272, 284",
        ),
        choice(
            OfferWhen {
                is_found: Is(true),
                ..OfferWhen::ANY
            },
            Chosen::Unfit,
            "seed 148, 199-202",
        ),
        choice(
            OfferWhen {
                is_named: Is(true),
                ..OfferWhen::ANY
            },
            Chosen::Unknown,
            "seed 284",
        ),
    ],
    last: choice(OfferWhen::ANY, Chosen::Empty, "seed 42, 148"),
};

values! {
    /// What makes a checkpoint unfit.
    Fault {
        None "fit",
        Id "its id can not be read",
        Time "its time can not be read",
        Phase "its phase can not be told",
    }
}

impl Verdict for Fault {
    const COLUMNS: &'static [&'static str] = &["checkpoint is"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What is known of a checkpoint.
    Known asked by KnownWhen {
        has_id: bool = "id",
        is_dated: bool = "time",
        /// By its field, its description or the next older checkpoint.
        has_phase: bool = "phase",
    }
}

const fn fault(when: KnownWhen, then: Fault) -> Row<Known, Fault> {
    Row {
        when,
        then,
        source: "seed 43-45, 365",
    }
}

/// What makes a checkpoint unfit.
pub(crate) static FAULTS: Table<Known, Fault> = Table {
    title: "What makes a checkpoint unfit",
    about: "What else a checkpoint lacks is told and stops nothing.",
    rows: &[
        fault(
            KnownWhen {
                has_id: Is(false),
                ..KnownWhen::ANY
            },
            Fault::Id,
        ),
        fault(
            KnownWhen {
                is_dated: Is(false),
                ..KnownWhen::ANY
            },
            Fault::Time,
        ),
        fault(
            KnownWhen {
                has_phase: Is(false),
                ..KnownWhen::ANY
            },
            Fault::Phase,
        ),
    ],
    last: fault(KnownWhen::ANY, Fault::None),
};

values! {
    /// Whether the task that a checkpoint names is still to be done.
    Named {
        Due "due, or none named",
        Done "done",
        Absent "not in the list",
    }
}

values! {
    /// What is typed next.
    Command {
        Quoted "the checkpoint's own command",
        Spec "/spec FEATURE",
        Plan "/plan FEATURE",
        Tasks "/tasks FEATURE",
        FirstTask "/implement FEATURE T001",
        /// The one in progress, else the first open one; after the last one `/polish-docs`.
        OpenTask "/implement FEATURE with the task that is due",
    }
}

impl Verdict for Command {
    const COLUMNS: &'static [&'static str] = &["typed next"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What decides what is typed next.
    Standing asked by When {
        /// The checkpoint's `Next` has a command in backticks.
        has_command: bool = "command in `Next`",
        named: Named = "its task is",
        phase: Phase = "phase",
        /// What the checkpoint is about is complete; in the implement phase that is a task.
        is_complete: bool = "complete",
    }
}

const fn command(when: When, then: Command, source: &'static str) -> Row<Standing, Command> {
    Row { when, then, source }
}

/// A phase whose checkpoint has no command that could be typed.
const fn of_phase(
    phase: Phase,
    is_complete: bool,
    then: Command,
    source: &'static str,
) -> Row<Standing, Command> {
    let when = When {
        phase: Is(phase),
        is_complete: Is(is_complete),
        ..When::ANY
    };
    command(when, then, source)
}

/// What is typed next.
pub(crate) static COMMANDS: Table<Standing, Command> = Table {
    title: "What is typed next",
    about: "A checkpoint's `Next` is often prose, and often out of date: the task that it names may have been done since.\nAfter the last task comes `/polish-docs`.",
    rows: &[
        command(
            When {
                has_command: Is(true),
                named: Is(Named::Done),
                ..When::ANY
            },
            Command::OpenTask,
            "seed 182",
        ),
        command(
            When {
                has_command: Is(true),
                ..When::ANY
            },
            Command::Quoted,
            "seed 50, 114",
        ),
        // Where the first task would come next and is done, the first open one does.
        command(
            When {
                named: Is(Named::Done),
                phase: Is(Phase::Tasks),
                is_complete: Is(true),
                ..When::ANY
            },
            Command::OpenTask,
            "seed 176, 182",
        ),
        of_phase(Phase::Spec, false, Command::Spec, "seed 164"),
        of_phase(Phase::Spec, true, Command::Plan, "seed 164"),
        of_phase(Phase::Plan, false, Command::Plan, "seed 170"),
        of_phase(Phase::Plan, true, Command::Tasks, "seed 170"),
        of_phase(Phase::Tasks, false, Command::Tasks, "seed 176"),
        of_phase(Phase::Tasks, true, Command::FirstTask, "seed 176"),
    ],
    last: command(
        When {
            phase: Is(Phase::Implement),
            ..When::ANY
        },
        Command::OpenTask,
        "seed 182",
    ),
};

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::{Input as _, check};

    #[test]
    fn every_combination_of_inputs_has_one_verdict_and_no_row_is_idle() {
        check(&CHOICES);
        check(&FAULTS);
        check(&COMMANDS);
    }

    #[test]
    fn a_resume_goes_only_from_a_checkpoint_that_is_there_and_fit() {
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
    fn a_task_that_is_done_is_never_typed_again() {
        for standing in Standing::all().filter(|standing| standing.named == Named::Done) {
            let command = *COMMANDS.decide(standing);
            let repeats = [Command::Quoted, Command::FirstTask].contains(&command);
            assert!(!repeats, "{standing:?}");
        }
    }

    #[test]
    fn a_phase_is_left_only_when_it_is_complete() {
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
