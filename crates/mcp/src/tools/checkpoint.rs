//! `checkpoint`: records the state of a workflow.

use rekindle_app::Offer;
use schemars::JsonSchema;
use serde::Deserialize;

use super::report_event::recorded;
use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct Checkpoint;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// As for `plan`.
    id: Option<String>,
    /// The message of the checkpoint.
    message: Option<String>,
}

impl Tool for Checkpoint {
    const NAME: &'static str = "checkpoint";
    const TITLE: &'static str = "Make a checkpoint";
    const ABOUT: &'static str = "Records a checkpoint: before something risky, or when you stop.";
    const TOUCH: Touch = Touch::Adds;
    type Arguments = Arguments;

    const NEEDS: Option<Offer> = Some(Offer::NewCheckpoints);
    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), None)?;
        let note = arguments.message.unwrap_or_default();
        recorded(rekindle_app::checkpoint(&desk.project, &query, note)?)
    }
}
