//! `explain`: why a task is in its state, or what a code means.

use rekindle_app::{ExplainedObject, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct Explain;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Such as `STALE_RUN`.
    code: Option<String>,
    /// As for `plan`.
    id: Option<String>,
    /// The task.
    task: Option<String>,
    /// The `next_offset` of the page before.
    offset: Option<usize>,
}

impl Tool for Explain {
    const NAME: &'static str = "explain";
    const TITLE: &'static str = "Explain a task or a code";
    const ABOUT: &'static str = "Call it to explain a task's state (`task`) or a finding or error (`code`). Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Arguments;

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let Arguments {
            code,
            id,
            task,
            offset,
        } = arguments;
        // Some clients fill in every argument.
        let [code, task] = [code, task].map(|text| text.filter(|text| !text.is_empty()));
        let query = match (&code, &task) {
            (Some(_), None) => Query {
                name: code,
                ..Query::default()
            },
            (None, Some(_)) => query(id.as_deref(), None)?,
            (Some(_), Some(_)) | (None, None) => {
                let message = "`code` and `task` exclude each other".to_owned();
                return Err(Failure::usage(message).hint("give one of `code` and `task`"));
            }
        };
        let explained = rekindle_app::explain(&desk.project, &query, task.as_deref())?;
        let answer = match explained.object() {
            ExplainedObject::Task(object) => Answer::new(&object),
            ExplainedObject::Code(object) => Answer::new(&object),
        };
        Ok(answer?.from(offset))
    }
}
