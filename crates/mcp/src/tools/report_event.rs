//! `report_event`: tells what happened in a workflow.

use rekindle_app::Recorded;
use rekindle_model::{ParseReportError, Report};
use rekindle_text::excerpt;
use rekindle_wire::EventOut;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

/// Who tells it, where nobody says so.
const ACTOR: &str = "agent";
/// The most characters that are shown of a record.
const LONGEST_RECORD: usize = 2000;

pub(super) struct ReportEvent;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The workflow: `protocol:name` as `list` has it, a name, or a unique beginning of one. Not needed while only one is open.
    id: Option<String>,
    /// What happened, in the protocol's words.
    event: String,
    /// The task it is about.
    task: Option<String>,
    /// Who tells it; names the folder of the log. `agent` if nothing is said.
    actor: Option<String>,
    /// More about it, such as the reason of a failure.
    details: Option<JsonObject>,
}

impl Tool for ReportEvent {
    const NAME: &'static str = "report_event";
    const TITLE: &'static str = "Report an event";
    const ABOUT: &'static str = "Appends an event to a workflow's log, where the protocol keeps one. In agent-memory: `task_started` when you begin a task, then `task_implemented`, `task_verified` and `task_completed`, or `task_failed` or `task_blocked` with a `reason` in `details`. Report only what is true.";
    const TOUCH: Touch = Touch::Adds;
    type Arguments = Arguments;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<EventOut>()]
    }

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), None)?;
        let task = arguments.task.filter(|task| !task.is_empty());
        let report = Report {
            event: Report::parse_event(&arguments.event).map_err(|error| unfit(&error))?,
            actor: actor(arguments.actor.as_deref())?,
            task,
            details: arguments
                .details
                .map(|details| Value::Object(details).to_string()),
        };
        recorded(rekindle_app::event(&desk.project, &query, report)?)
    }
}

/// Answers what was recorded. It is not shown whole if it is long: asking again would record it again.
pub(super) fn recorded(recorded: Recorded) -> Result<Answer, Failure> {
    let mut object = recorded.object();
    object.record = excerpt(&object.record, LONGEST_RECORD);
    Answer::new(&object)
}

/// Returns who tells something.
pub(super) fn actor(named: Option<&str>) -> Result<String, Failure> {
    let named = named.filter(|name| !name.is_empty());
    Report::parse_actor(named.unwrap_or(ACTOR)).map_err(|error| unfit(&error))
}

fn unfit(error: &ParseReportError) -> Failure {
    Failure::usage(error.to_string()).hint("write it so, and call it again")
}
