//! `report_event`: records an event of a workflow.

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

/// The default actor.
const ACTOR: &str = "agent";
/// The most characters that are shown of a record.
const LONGEST_RECORD: usize = 2000;

pub(super) struct ReportEvent;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The workflow: `protocol:name` as listed by `list`, a name, or a unique prefix of one. Optional if only one is open.
    id: Option<String>,
    /// The type of the event, a word of the protocol.
    event: String,
    /// The task of the event.
    task: Option<String>,
    /// Who reports it; this is also the name of the log's folder. Default: `agent`.
    actor: Option<String>,
    /// Details of the event, such as the reason of a failure.
    details: Option<JsonObject>,
}

impl Tool for ReportEvent {
    const NAME: &'static str = "report_event";
    const TITLE: &'static str = "Report an event";
    const ABOUT: &'static str = "Appends an event to a workflow's log, if its protocol has one. In agent-memory: `task_started` when you start a task, then `task_implemented`, `task_verified` and `task_completed`, or `task_failed` or `task_blocked` with a `reason` in `details`. Report only what is true.";
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

/// Returns the recorded line, shortened if it is long: calling the tool again would record it again.
pub(super) fn recorded(recorded: Recorded) -> Result<Answer, Failure> {
    let mut object = recorded.object();
    object.record = excerpt(&object.record, LONGEST_RECORD);
    Answer::new(&object)
}

/// Returns the actor of a report.
pub(super) fn actor(named: Option<&str>) -> Result<String, Failure> {
    let named = named.filter(|name| !name.is_empty());
    Report::parse_actor(named.unwrap_or(ACTOR)).map_err(|error| unfit(&error))
}

fn unfit(error: &ParseReportError) -> Failure {
    Failure::usage(error.to_string()).hint("correct it, and call the tool again")
}
