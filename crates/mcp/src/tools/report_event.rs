//! `report_event`: records an event of a workflow.

use rekindle_app::{Offer, Recorded};
use rekindle_model::{ParseReportError, Report};
use rekindle_text::excerpt;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

/// The default actor.
const ACTOR: &str = "agent";
/// The most characters that are shown of a record.
const LONGEST_RECORD: usize = 2000;

pub(super) struct ReportEvent;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// As for `plan`.
    id: Option<String>,
    /// The type of the event, a word of the protocol.
    event: String,
    /// The task of the event.
    task: Option<String>,
    /// Who reports it; default `agent`.
    actor: Option<String>,
    /// More about it.
    details: Option<JsonObject>,
}

impl Tool for ReportEvent {
    const NAME: &'static str = "report_event";
    const TITLE: &'static str = "Report an event";
    const ABOUT: &'static str = "Records an event that is not the result of a step, such as `task_blocked`. Results go to `next_step`. Events of failure need a `reason` in `details`, `phase_transition` needs `to_phase`.";
    const TOUCH: Touch = Touch::Adds;
    type Arguments = Arguments;

    const NEEDS: Option<Offer> = Some(Offer::Events);
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
        recorded(rekindle_app::event_of_agent(&desk.project, &query, report)?)
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
