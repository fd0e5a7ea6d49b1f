//! `rollback`: back to a checkpoint, the plan first and then exactly that plan.

use rekindle_app::{Offer, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use super::resume::carry_out;
use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct Rollback;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// As for `plan`.
    id: Option<String>,
    /// The checkpoint's id as listed by `checkpoints`, such as `CP-003`.
    checkpoint: String,
    /// The `digest` of the plan that the user agreed to. Without it the plan is shown.
    digest: Option<String>,
    /// The `next_offset` of the page before.
    offset: Option<usize>,
}

impl Tool for Rollback {
    const NAME: &'static str = "rollback";
    const TITLE: &'static str = "Go back to a checkpoint";
    const ABOUT: &'static str = "Call it when the user wants to go back to a checkpoint: first without `digest`, which shows the plan; after the user's yes with it. No file is deleted.";
    const TOUCH: Touch = Touch::Changes;
    type Arguments = Arguments;

    const NEEDS: Option<Offer> = Some(Offer::Rollback);
    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        if arguments.checkpoint.is_empty() {
            let message = "`checkpoint` must be the id of a checkpoint".to_owned();
            return Err(Failure::usage(message).hint("`checkpoints` lists them"));
        }
        let query = Query {
            options: vec![(rekindle_app::ResumeOption::CHECKPOINT, arguments.checkpoint)],
            ..query(arguments.id.as_deref(), None)?
        };
        // Some clients fill every argument that there is.
        match arguments.digest.as_deref() {
            Some(digest) if !digest.is_empty() => carry_out(desk, query, digest, arguments.offset),
            Some(_) | None => {
                let planned = rekindle_app::plan(&desk.project, &query)?;
                Ok(Answer::new(&desk.plans.show(&desk.project, &planned))?.from(arguments.offset))
            }
        }
    }
}
