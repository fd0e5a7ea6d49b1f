//! `explain`: why a task is in its state, or what a code means.

use rekindle_app::{ExplainedObject, Query};
use rekindle_wire::{Explained, FindingPage};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Explain;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The code of a finding or an error, such as `STALE_RUN`.
    code: Option<String>,
    /// The workflow of `task`. Optional if only one is open.
    id: Option<String>,
    /// The task to explain.
    task: Option<String>,
    /// The start of the next page: `next_offset` of the page before.
    offset: Option<usize>,
}

impl Tool for Explain {
    const NAME: &'static str = "explain";
    const TITLE: &'static str = "Explain a task or a code";
    const ABOUT: &'static str = "With `task`: why the task is in its state, what each source says about it, and which rule decided. With `code`: what a finding or an error means and what to do. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Arguments;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<Explained>(), schema::of::<FindingPage>()]
    }

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
