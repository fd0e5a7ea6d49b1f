//! `plan`: what a resume would do, in short or whole.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct Plan;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The workflow: its `id`, its name or a unique beginning. Not needed if only one is open.
    id: Option<String>,
    /// Only a workflow of this protocol, such as `kiln`.
    protocol: Option<String>,
    /// Every effect with its content.
    full: Option<bool>,
    /// The `next_offset` of the page before.
    offset: Option<usize>,
}

impl Tool for Plan {
    const NAME: &'static str = "plan";
    const TITLE: &'static str = "Plan a resume";
    const ABOUT: &'static str = "Call it when the user asks to continue or resume work. Returns what `resume` would do and the `digest` for it; changes nothing. Show it to the user.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Arguments;

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), arguments.protocol.as_deref())?;
        let planned = rekindle_app::plan(&desk.project, &query)?;
        let mut proposal = desk.plans.show(&desk.project, &planned);
        if arguments.full.unwrap_or_default() {
            return Ok(Answer::new(&planned.object())?.from(arguments.offset));
        }
        if let Some(at_work) = rekindle_app::at_work(&desk.project, &planned.plan.id)? {
            proposal.at_work = Some(at_work.to_string());
            proposal.hints = vec!["somebody is at work on it: do not resume it now".to_owned()];
        }
        Ok(Answer::new(&proposal)?.from(arguments.offset))
    }
}
