//! `next_step`: the result of a step, and the next one.

use rekindle_app::Error;
use rekindle_model::Ended;
use schemars::JsonSchema;
use serde::Deserialize;

use super::resume::answered;
use super::{Tool, Touch};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::server::Desk;
use crate::taken::Meant;
use crate::turn::{nothing, refused};

pub(super) struct NextStep;

/// How a step ended.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StepResult {
    Done,
    Failed,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// How the last step ended: `done` or `failed`. Leave it out to see the step again.
    #[schemars(with = "Option<String>")]
    result: Option<StepResult>,
    /// Why it failed.
    reason: Option<String>,
    /// As for `plan`; needed only if you resumed several.
    id: Option<String>,
    /// The `next_offset` of the page before.
    offset: Option<usize>,
}

impl Tool for NextStep {
    const NAME: &'static str = "next_step";
    const TITLE: &'static str = "Report a step and get the next";
    const ABOUT: &'static str = "Call it after each step with its result. Records it and returns the next step, until `state` is `done`, `waiting` or `needs_person`.";
    const TOUCH: Touch = Touch::Adds;
    type Arguments = Arguments;

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let id = arguments.id.as_deref().filter(|id| !id.is_empty());
        if arguments.offset.is_some_and(|offset| offset > 0) {
            let message = "that page is no longer kept".to_owned();
            return Err(Failure::usage(message).hint("call `next_step` without arguments"));
        }
        let handed = match desk.taken.find(id) {
            Meant::One(handed) => handed,
            Meant::Several(ids) => {
                let message = "several workflows were resumed here".to_owned();
                let hint = format!("call it with `id`, one of {}", ids.join(", "));
                return Err(Failure::usage(message).hint(hint));
            }
            Meant::None => return not_resumed(desk, id),
        };
        let ended = ended(arguments.result, arguments.reason)?;
        let mut listener = Listener::of(desk.person.clone());
        match rekindle_app::advance(&desk.project, &handed, ended, desk.asks(), &mut listener) {
            Ok(resumed) => answered(desk, resumed, listener),
            Err(error) => match refused(&error) {
                Some(turn) => Answer::new(&turn),
                None => Err(error.into()),
            },
        }
    }
}

fn ended(result: Option<StepResult>, reason: Option<String>) -> Result<Option<Ended>, Failure> {
    let reason = reason.map(|reason| reason.trim().to_owned());
    match (result, reason.filter(|reason| !reason.is_empty())) {
        (None, _) => Ok(None),
        (Some(StepResult::Done), _) => Ok(Some(Ended::Succeeded)),
        (Some(StepResult::Failed), Some(reason)) => Ok(Some(Ended::Failed { reason })),
        (Some(StepResult::Failed), None) => {
            let message = "a failed step needs a `reason`".to_owned();
            Err(Failure::usage(message).hint("say in `reason` what went wrong"))
        }
    }
}

/// Answers a call about a workflow that this conversation has not resumed.
fn not_resumed(desk: &Desk, id: Option<&str>) -> Result<Answer, Failure> {
    let overview = rekindle_app::status(&desk.project, rekindle_app::Listing::default());
    let mut open = overview
        .workflows
        .iter()
        .filter(|summary| summary.state.is_open())
        .filter(|summary| id.is_none_or(|id| summary.id.to_string().contains(id)));
    let Some(first) = open.next() else {
        return match id {
            Some(id)
                if !overview
                    .workflows
                    .iter()
                    .any(|known| known.id.to_string().contains(id)) =>
            {
                Err(Error::Unknown {
                    name: id.to_owned(),
                    open: Vec::new(),
                }
                .into())
            }
            Some(_) | None => Answer::new(&nothing("nothing is left to do here")),
        };
    };
    rekindle_app::refuse_beside(&desk.project, &first.id)?;
    let message = "no step was handed out to you in this session".to_owned();
    Err(Failure::usage(message)
        .hint("if the user wants to continue: call `plan`, show it, and after their yes call `resume` with its `digest`"))
}
