//! `heartbeat`: records that a task is still being worked on.

use rekindle_app::Offer;
use rekindle_model::Report;
use schemars::JsonSchema;
use serde::Deserialize;

use super::report_event::{actor, recorded};
use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct Heartbeat;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// As for `plan`.
    id: Option<String>,
    /// The task that is being worked on.
    task: String,
    /// Who works on it; default `agent`.
    actor: Option<String>,
}

impl Tool for Heartbeat {
    const NAME: &'static str = "heartbeat";
    const TITLE: &'static str = "Give a sign of life";
    const ABOUT: &'static str =
        "Call it every few minutes during a long step, so that nobody takes it for dead.";
    const TOUCH: Touch = Touch::Adds;
    type Arguments = Arguments;

    const NEEDS: Option<Offer> = Some(Offer::Events);
    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), None)?;
        let report = Report::heartbeat(actor(arguments.actor.as_deref())?, arguments.task);
        recorded(rekindle_app::event(&desk.project, &query, report)?)
    }
}
