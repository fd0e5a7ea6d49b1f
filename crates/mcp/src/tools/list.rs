//! `list`: the workflows of the project.

use rekindle_app::Offer;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, Touch};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct List;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The `next_offset` of the page before.
    offset: Option<usize>,
}

impl Tool for List {
    const NAME: &'static str = "list";
    const TITLE: &'static str = "List workflows";
    const ABOUT: &'static str = "Call it when the user asks what is here or what was interrupted. Lists the workflows of this project. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Arguments;

    const NEEDS: Option<Offer> = None;
    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let overview = rekindle_app::status(&desk.project, rekindle_app::Listing::default());
        let answer = Answer::new(&overview.object(&desk.project))?;
        Ok(answer.from(arguments.offset))
    }
}
