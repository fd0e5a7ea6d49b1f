//! The tools: one file each, with its arguments, its result and its use case.
//!
//! To add one: a file with a type that is a [`Tool`], and a line in [`ALL`].

mod brief;
mod checkpoint;
mod checkpoints;
mod explain;
mod heartbeat;
mod inspect;
mod list;
mod next_step;
mod plan;
mod report_event;
mod resume;
mod rollback;

use rekindle_app::{Offer, Query};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, JsonObject, Tool as Definition, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::{Answer, page};
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

/// Every tool, in the order in which they are listed.
static ALL: &[Entry] = &[
    Entry::of::<list::List>(),
    Entry::of::<brief::Briefing>(),
    Entry::of::<inspect::Inspect>(),
    Entry::of::<plan::Plan>(),
    Entry::of::<resume::Resume>(),
    Entry::of::<next_step::NextStep>(),
    Entry::of::<explain::Explain>(),
    Entry::of::<report_event::ReportEvent>(),
    Entry::of::<heartbeat::Heartbeat>(),
    Entry::of::<checkpoint::Checkpoint>(),
    Entry::of::<checkpoints::Checkpoints>(),
    Entry::of::<rollback::Rollback>(),
];

/// The argument of tools whose result can be long: such a tool may return a page instead.
const OFFSET: &str = "offset";

/// The effect of a tool on the project, for clients that ask a person before they use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touch {
    /// Nothing.
    Looks,
    /// It appends a line to a log with each call.
    Adds,
    /// It changes files; running it again changes nothing.
    Changes,
}

/// A function that an agent can call.
trait Tool {
    /// Its name.
    const NAME: &'static str;
    /// Its title for people.
    const TITLE: &'static str;
    /// Its description for agents.
    const ABOUT: &'static str;
    /// Its effect on the project.
    const TOUCH: Touch;
    /// Its arguments; their doc comments are descriptions for agents.
    type Arguments: DeserializeOwned + JsonSchema;

    /// What a project must offer for it to be listed.
    const NEEDS: Option<Offer> = Some(Offer::Workflows);

    /// Runs it.
    fn call(desk: &Desk, arguments: Self::Arguments) -> Result<Answer, Failure>;
}

/// A tool in the list.
pub(crate) struct Entry {
    name: &'static str,
    definition: fn() -> Definition,
    needs: Option<Offer>,
    call: fn(&Desk, JsonObject) -> Result<CallToolResult, Failure>,
}

impl Entry {
    const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            definition: definition::<T>,
            needs: T::NEEDS,
            call: call::<T>,
        }
    }

    /// Calls the tool; an error is a result too.
    pub(crate) fn call(&self, desk: &Desk, arguments: JsonObject) -> CallToolResult {
        (self.call)(desk, arguments).unwrap_or_else(Failure::result)
    }
}

/// Returns what clients are told of the tools that can apply here.
pub(crate) fn list(desk: &Desk) -> Vec<Definition> {
    let offers = rekindle_app::offers(&desk.project);
    let is_offered = |needs: Offer| offers.contains(&needs);
    let fitting = ALL
        .iter()
        .filter(|entry| entry.needs.is_none_or(is_offered));
    fitting.map(|entry| (entry.definition)()).collect()
}

/// Returns the tool with a name.
pub(crate) fn find(name: &str) -> Result<&'static Entry, ErrorData> {
    ALL.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        let message = format!("unknown tool; known tools: {}", known.join(", "));
        ErrorData::invalid_params(message, None)
    })
}

fn definition<T: Tool>() -> Definition {
    let annotations = ToolAnnotations::with_title(T::TITLE)
        .read_only(T::TOUCH == Touch::Looks)
        .destructive(T::TOUCH == Touch::Changes)
        .idempotent(T::TOUCH != Touch::Adds)
        .open_world(false);
    // No schema of the output: it would cost more room in every conversation than all tools together,
    // and every object names its kind in `schema`.
    Definition::new(T::NAME, T::ABOUT, schema::input::<T::Arguments>())
        .with_annotations(annotations)
}

fn call<T: Tool>(desk: &Desk, arguments: JsonObject) -> Result<CallToolResult, Failure> {
    let asked = asked(T::NAME, &arguments);
    let offset = arguments.get(OFFSET).and_then(Value::as_u64);
    if let Some(offset @ 1..) = offset
        && let Some(answer) = desk.pages.find(&asked)
    {
        return page(&answer, usize::try_from(offset).unwrap_or(usize::MAX));
    }
    let arguments = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let schema = schema::input::<T::Arguments>();
        let names: Vec<&str> = properties(&schema).collect();
        let message = format!("invalid arguments for `{}`: {error}", T::NAME);
        let hint = match names.as_slice() {
            [] => "it takes no arguments".to_owned(),
            names => format!("known arguments: {}", names.join(", ")),
        };
        Failure::usage(message).hint(hint)
    })?;
    let answer = T::call(desk, arguments)?;
    if let Some(long) = answer.long() {
        desk.pages.keep(asked, long);
    }
    answer.result()
}

/// Returns the request without its `offset`, which is the same for all pages.
fn asked(tool: &str, arguments: &JsonObject) -> String {
    let mut arguments = arguments.clone();
    arguments.remove(OFFSET);
    format!("{tool} {}", Value::Object(arguments))
}

/// Returns the names of all arguments.
fn properties(schema: &JsonObject) -> impl Iterator<Item = &str> {
    let known = schema.get("properties").and_then(Value::as_object);
    known.into_iter().flatten().map(|(name, _)| name.as_str())
}

/// The workflow to read, for tools that change nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// As for `plan`.
    id: Option<String>,
    /// Restricts the search to this protocol, such as `kiln`.
    protocol: Option<String>,
    /// The `next_offset` of the page before.
    offset: Option<usize>,
}

impl Which {
    fn query(&self) -> Result<Query, Failure> {
        query(self.id.as_deref(), self.protocol.as_deref())
    }
}

/// Returns the query; an empty text counts as omitted.
fn query(id: Option<&str>, protocol: Option<&str>) -> Result<Query, Failure> {
    let named = |name: &str| {
        rekindle_app::parse_protocol(name).ok_or_else(|| {
            let known = rekindle_app::protocol_names().iter();
            let known: Vec<&str> = known.map(|name| name.as_str()).collect();
            let hint = format!("known protocols: {}", known.join(", "));
            Failure::usage(format!("`{name}` is not a protocol")).hint(hint)
        })
    };
    let protocol = protocol.filter(|name| !name.is_empty()).map(named);
    Ok(Query {
        protocol: protocol.transpose()?,
        name: id.filter(|id| !id.is_empty()).map(str::to_owned),
        ..Query::default()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_words_and_no_two_are_the_same() {
        let names: BTreeSet<&str> = ALL.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ALL.len());
        let is_word = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(names.iter().all(|name| is_word(name)), "{names:?}");
    }

    /// Returns what a strict client would refuse in a schema.
    fn faults(schema: &Value, at: &str, found: &mut Vec<String>) {
        match schema {
            Value::Object(entries) => {
                for (key, value) in entries {
                    let is_fault = match key.as_str() {
                        "type" => value.is_array(),
                        "format" | "$schema" => value.is_string(),
                        _ => false,
                    };
                    if is_fault {
                        found.push(format!("{at}/{key}: {value}"));
                    }
                    faults(value, &format!("{at}/{key}"), found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| faults(item, at, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn schemas_are_such_that_strict_clients_accept_them() {
        for tool in ALL.iter().map(|entry| (entry.definition)()) {
            let input = Value::Object(tool.input_schema.as_ref().clone());
            let mut found = Vec::new();
            faults(&input, &tool.name, &mut found);
            assert_eq!(found, [""; 0]);
            assert_eq!(input["type"], "object", "{}", tool.name);
            assert_eq!(input["additionalProperties"], false, "{}", tool.name);
            for (name, property) in input["properties"].as_object().unwrap() {
                assert!(property["type"].is_string(), "{} {name}", tool.name);
                assert!(property["description"].is_string(), "{} {name}", tool.name);
            }
        }
    }

    /// What all tools cost in every conversation, by the usual estimate of four bytes a token.
    #[test]
    fn all_tools_together_take_little_room() {
        let all: Vec<Definition> = ALL.iter().map(|entry| (entry.definition)()).collect();
        let bytes = serde_json::to_string(&all).unwrap().len();
        assert!(bytes / 4 <= 2400, "{} tokens", bytes / 4);
    }
}
