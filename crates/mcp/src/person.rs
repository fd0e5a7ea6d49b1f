//! The person at the client, who is asked through MCP elicitation where the client offers that.
//!
//! A model cannot answer such a question: the client puts it to its user. Where it cannot, nobody is
//! here to be asked, and the person answers in a terminal.

use rekindle_model::Question;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use tokio::runtime::Handle;

/// The name of the only field of a form.
const FIELD: &str = "answer";

/// The person at the client.
#[derive(Clone)]
pub(crate) struct Person {
    peer: Peer<RoleServer>,
    runtime: Handle,
}

/// What a person says to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
    /// The question was dismissed, or the client did not put it.
    None,
}

impl Person {
    /// Returns the person at the client that sent a request, if it can ask one.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let info = context.peer.peer_info()?;
        let asks = info.capabilities.elicitation.as_ref()?;
        // A client that names no mode has forms.
        let has_forms = asks.form.is_some() || asks.url.is_none();
        // From this version on a server sends no requests.
        let version = context.protocol_version()?;
        let is_open = version.as_str() < ProtocolVersion::V_2026_07_28.as_str();
        (has_forms && is_open).then(|| Self {
            peer: context.peer.clone(),
            runtime: Handle::current(),
        })
    }

    /// Asks for a yes. Blocks until the person has answered.
    pub(crate) fn agrees(&self, text: &str) -> Reply {
        match self.ask(text, json!({"type": "object", "properties": {}})) {
            Some(result) => match result.action {
                ElicitationAction::Accept => Reply::Yes,
                ElicitationAction::Decline => Reply::No,
                ElicitationAction::Cancel | _ => Reply::None,
            },
            None => Reply::None,
        }
    }

    /// Puts a question of a protocol. Blocks until the person has answered.
    pub(crate) fn answers(&self, question: &Question) -> Option<String> {
        let result = self.ask(&question.text, form(question))?;
        if result.action != ElicitationAction::Accept {
            return None;
        }
        let content = result.content?;
        let answer = content.get(FIELD)?.as_str()?.trim();
        (!answer.is_empty()).then(|| answer.to_owned())
    }

    fn ask(&self, text: &str, schema: Value) -> Option<ElicitResult> {
        let Value::Object(schema) = schema else {
            return None;
        };
        let requested_schema = ElicitationSchema::from_json_schema(schema).ok()?;
        let request = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: rekindle_text::printable_block(text).into_owned(),
            requested_schema,
        });
        let sent = self
            .peer
            .send_request(ServerRequest::ElicitRequest(request));
        match self.runtime.block_on(sent) {
            Ok(ClientResult::ElicitResult(result)) => Some(result),
            // Whatever else comes back is no answer of a person.
            Ok(_) | Err(_) => None,
        }
    }
}

/// Returns the form of a question: a choice, or a line where an answer can be more than a word.
fn form(question: &Question) -> Value {
    let described: Vec<String> = question
        .answers
        .iter()
        .map(|(answer, does)| format!("{answer}: {does}"))
        .collect();
    let mut field = json!({"type": "string", "description": described.join("; ")});
    if question.is_list {
        let labels: Vec<&str> = question.answers.iter().map(|(label, _)| *label).collect();
        field["enum"] = json!(labels);
    }
    json!({"type": "object", "properties": {FIELD: field}, "required": [FIELD]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_choice_and_words_are_a_line() {
        let answers = vec![("approve", "begin"), ("revise: WHAT", "change the plan")];
        let words = Question::words("q", "Go?", answers.clone());
        let labels = Question::labels("q", "Go?", answers);
        assert!(form(&words)["properties"][FIELD]["enum"].is_null());
        assert_eq!(
            form(&labels)["properties"][FIELD]["enum"],
            json!(["approve", "revise: WHAT"])
        );
        for question in [words, labels] {
            let Value::Object(form) = form(&question) else {
                panic!("no object");
            };
            ElicitationSchema::from_json_schema(form).unwrap();
        }
    }
}
