//! Prompts: to resume whatever is here, and to resume a workflow of one protocol.

use rekindle_app::Query;
use rekindle_model::ProtocolName;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::brief::brief;
use crate::failure::Failure;
use crate::server::Desk;

/// How an agent goes on, after the briefing.
const GO_ON: &str = "\nThe user wants this to go on. Work with the tools of rekindle:\n\
    1. Call `resume` with the workflow's `id` and without `digest`. It shows the plan and changes nothing.\n\
    2. Tell the user in a few words what it would do. With their yes, call `resume` again with the plan's `digest`.\n\
    3. What it hands you as `agent` is your step: do what its `prompt` says, and nothing beyond it. \
    Where the protocol keeps events, tell what came of it with `report_event`.\n\
    4. Call `next_step`, and go on until nothing is left or the user has to decide.\n\
    A question of the workflow is for the user. Put it to them in its own words; they answer it in a terminal with `rekindle resume`.\n";

/// Returns every prompt.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = || {
        let about = "The workflow: protocol:name, a name, or a unique beginning of one; not needed while only one is open";
        vec![
            PromptArgument::new("id")
                .with_description(about)
                .with_required(false),
        ]
    };
    let mut prompts = vec![Prompt::new(
        "resume",
        Some("Go on with the workflow that was interrupted here"),
        Some(argument()),
    )];
    prompts.extend(rekindle_app::protocol_names().iter().map(|protocol| {
        let about = format!("Go on with a workflow of {protocol} that was interrupted here");
        Prompt::new(of(*protocol), Some(about), Some(argument()))
    }));
    prompts
}

/// Returns a prompt with the briefing as it is now.
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
        let message = format!("there is no such prompt; there are {}", known.join(", "));
        return Err(ErrorData::invalid_params(message, None));
    }
    let id = match arguments.and_then(|mut arguments| arguments.remove("id")) {
        Some(Value::String(id)) => Some(id).filter(|id| !id.is_empty()),
        Some(Value::Null) | None => None,
        // Another workflow than the one that is meant must not be taken up.
        Some(_) => return Err(ErrorData::invalid_params("`id` is a text", None)),
    };
    if let (Some(protocol), None) = (protocol, &id) {
        let overview = rekindle_app::status(&desk.project, rekindle_app::Listing::default());
        let mut here = overview.workflows.iter();
        if !here.any(|summary| summary.id.protocol == protocol) {
            let text = format!("Nothing of {protocol} is here. `list` names what is.\n");
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
        Ok(brief) => format!("{}{GO_ON}", brief.text),
        // A client would show an error of the protocol to nobody.
        Err(error) => Failure::from(error).text(),
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]))
}

fn of(protocol: ProtocolName) -> String {
    format!("{protocol}-resume")
}
