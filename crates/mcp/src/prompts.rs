//! Prompts: resume any workflow, or one of a given protocol.

use rekindle_app::Query;
use rekindle_model::ProtocolName;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::brief::brief;
use crate::failure::Failure;
use crate::server::Desk;

/// How an agent continues, after the briefing. The user has asked by choosing the prompt.
const CONTINUE: &str = "\nThe user wants this to continue: call `plan`, show it, and after the user's yes call `resume` with its `digest`. \
    Do the step that comes back and call `next_step` with its result, until `state` is `done`, `waiting` or `needs_person`. \
    A question of the workflow is for the user: never answer it yourself.\n";

/// Returns every prompt.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = || {
        let about = "The workflow: protocol:name, a name, or a unique prefix of one; optional while only one is open";
        vec![
            PromptArgument::new("id")
                .with_description(about)
                .with_required(false),
        ]
    };
    let mut prompts = vec![Prompt::new(
        "resume",
        Some("Resume the interrupted workflow of this project"),
        Some(argument()),
    )];
    prompts.extend(rekindle_app::protocol_names().iter().map(|protocol| {
        let about = format!("Resume an interrupted {protocol} workflow of this project");
        Prompt::new(of(*protocol), Some(about), Some(argument()))
    }));
    prompts
}

/// Returns a prompt with the current summary.
pub(crate) fn get(
    desk: &Desk,
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let protocol = rekindle_app::protocol_names()
        .iter()
        .copied()
        .find(|protocol| of(*protocol) == name);
    if protocol.is_none() && name != "resume" {
        let known: Vec<String> = list().into_iter().map(|prompt| prompt.name).collect();
        let message = format!("unknown prompt; known prompts: {}", known.join(", "));
        return Err(ErrorData::invalid_params(message, None));
    }
    let id = match arguments.and_then(|mut arguments| arguments.remove("id")) {
        Some(Value::String(id)) => Some(id).filter(|id| !id.is_empty()),
        Some(Value::Null) | None => None,
        // Never resume a workflow other than the requested one.
        Some(_) => return Err(ErrorData::invalid_params("`id` must be a string", None)),
    };
    if let (Some(protocol), None) = (protocol, &id) {
        let overview = rekindle_app::status(&desk.project, rekindle_app::Listing::default());
        let mut here = overview.workflows.iter();
        if !here.any(|summary| summary.id.protocol == protocol) {
            let text = format!(
                "No {protocol} workflow found in this project. `list` shows the workflows.\n"
            );
            let message = PromptMessage::new_text(Role::User, text);
            return Ok(GetPromptResult::new(vec![message]));
        }
    }
    let query = Query {
        protocol,
        name: id,
        ..Query::default()
    };
    let text = match brief(desk, &query) {
        Ok(brief) if brief.id.is_none() => brief.text,
        Ok(brief) => format!("{}{CONTINUE}", brief.text),
        // A client would show an error of the protocol to nobody.
        Err(error) => Failure::from(error).text(),
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]))
}

fn of(protocol: ProtocolName) -> String {
    format!("{protocol}-resume")
}
