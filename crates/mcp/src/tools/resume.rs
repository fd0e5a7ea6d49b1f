//! `resume`: exactly the plan that was shown, and then the first step.

use rekindle_app::{Error, Options, Planned, Query};
use rekindle_model::{Permission, Then};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::person::{Person, Reply};
use crate::server::Desk;
use crate::turn::{Naming, refused, turn};

pub(super) struct Resume;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The `digest` of the plan that the user agreed to.
    digest: String,
    /// As for `plan`; not needed.
    id: Option<String>,
    /// The `next_offset` of the page before.
    offset: Option<usize>,
}

impl Tool for Resume {
    const NAME: &'static str = "resume";
    const TITLE: &'static str = "Resume a workflow";
    const ABOUT: &'static str = "Call it after the user's yes to a `plan`. Carries out exactly that plan and returns the first step for you to do.";
    const TOUCH: Touch = Touch::Changes;
    type Arguments = Arguments;

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), None)?;
        carry_out(desk, query, &arguments.digest, arguments.offset)
    }
}

/// Carries out the plan that has a digest.
pub(super) fn carry_out(
    desk: &Desk,
    query: Query,
    digest: &str,
    offset: Option<usize>,
) -> Result<Answer, Failure> {
    if offset.is_some_and(|offset| offset > 0) {
        let message = "that page is no longer kept, and a plan is carried out once".to_owned();
        return Err(Failure::usage(message).hint("`next_step` returns the step again"));
    }
    let query = match (&query.name, desk.plans.workflow(digest)) {
        (None, Some(id)) => Query {
            name: Some(id),
            ..query
        },
        (Some(_), _) | (None, None) => query,
    };
    let planned = rekindle_app::plan(&desk.project, &query)?;
    if planned.digest != digest {
        return Err(moved(desk, digest, &planned));
    }
    if let (Some(person), true) = (&desk.person, needs_yes(&planned)) {
        match agreement(person, desk, &planned) {
            Reply::Yes => {}
            // Some clients decline for a user whom they cannot ask.
            Reply::No => {
                return Err(unanswered(
                    "the question to the user was declined: nothing was changed",
                ));
            }
            Reply::None => {
                return Err(unanswered(
                    "nobody answered the question: nothing was changed",
                ));
            }
        }
    }
    let options = Options {
        agreed_to: Some(digest.to_owned()),
        steps: Some(desk.asks()),
        ..Options::default()
    };
    let mut listener = Listener::of(desk.person.clone());
    let resumed = match rekindle_app::resume(&desk.project, &query, &options, &mut listener) {
        Ok(resumed) => resumed,
        Err(Error::Moved { .. }) => {
            let now = rekindle_app::plan(&desk.project, &query)?;
            return Err(moved(desk, digest, &now));
        }
        Err(error) => {
            return match refused(&error) {
                Some(turn) => Answer::new(&turn),
                None => Err(error.into()),
            };
        }
    };
    answered(desk, resumed, listener)
}

/// Keeps what comes next and answers it.
pub(super) fn answered(
    desk: &Desk,
    resumed: rekindle_app::Resumed,
    listener: Listener,
) -> Result<Answer, Failure> {
    let handed = resumed.handed.clone();
    if let Some(id) = &resumed.id {
        desk.taken.keep(&id.to_string(), handed);
    }
    let naming = Naming {
        is_needed: desk.taken.are_several(),
    };
    Answer::new(&turn(resumed, listener, &naming))
}

/// Returns whether a yes of ours is due: not before a plan that only asks, and not where the protocol
/// prescribes that nobody is asked.
fn needs_yes(planned: &Planned) -> bool {
    let only_asks = matches!(planned.plan.then, Then::Ask(_)) && planned.plan.steps.is_empty();
    planned.plan.permission != Permission::NotNeeded && !only_asks
}

fn agreement(person: &Person, desk: &Desk, planned: &Planned) -> Reply {
    let proposal = desk.plans.show(&desk.project, planned);
    let mut text = match planned.plan.confirmation() {
        Some(confirmation) => confirmation.question.clone(),
        None => format!("Resume {}?", proposal.workflow),
    };
    let changes = proposal.changes.iter().map(|line| format!("\n- {line}"));
    let commands = proposal.commands.iter();
    let commands = commands.map(|command| format!("\n- run `{}`", command.command));
    text.extend(changes.chain(commands));
    text.push_str(&format!("\n- then: {}", proposal.next));
    person.agrees(&text)
}

fn unanswered(message: &str) -> Failure {
    Failure::usage(message.to_owned()).hint(
        "only the user can agree, in the client's question or in a terminal with `rekindle resume`",
    )
}

/// Says why a digest is not that of the plan as it is now.
fn moved(desk: &Desk, digest: &str, now: &Planned) -> Failure {
    if !desk.plans.is_known(digest) {
        let message = "no plan with this `digest` was shown in this session".to_owned();
        return Failure::usage(message)
            .hint("nothing was changed: call `plan`, show it to the user, and use its `digest`");
    }
    let id = now.plan.id.clone();
    Failure::from(Error::Moved { id }).because(desk.plans.changes(&desk.project, digest, now))
}
