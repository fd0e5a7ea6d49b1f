//! `resume`: first the plan, then exactly that plan.
//!
//! Due effects are applied, and the first step for an agent is returned to the caller.

use rekindle_app::{Error, Options, Query};
use rekindle_text::printable_block;
use rekindle_wire::{PlanOut, ResumeOut};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::listener::Listener;
use crate::schema;
use crate::server::Desk;

/// The most bytes of a prompt or of the protocol's text here. The rest cannot be requested by calling the
/// tool again, since a plan is applied only once; `next_step` returns the whole prompt.
const LONGEST_TEXT: usize = 8 * 1024;

pub(super) struct Resume;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The workflow: `protocol:name` as listed by `list`, a name, or a unique prefix of one. Optional if only one is open; for MAP the default is the workflow of the checked-out branch.
    id: Option<String>,
    /// Restricts the search to this protocol, such as `kiln`.
    protocol: Option<String>,
    /// The digest of the plan that the user agreed to. Without it the plan is shown and nothing is changed.
    digest: Option<String>,
    /// The start of the plan's next page: `next_offset` of the page before. Only without `digest`.
    offset: Option<usize>,
}

impl Tool for Resume {
    const NAME: &'static str = "resume";
    const TITLE: &'static str = "Resume a workflow";
    const ABOUT: &'static str = "Resumes an interrupted workflow, in two calls. Without `digest`: returns the plan with its `digest` and changes nothing; show it to the user. With that `digest`, after the user agrees: applies exactly that plan; if the project has changed, it refuses and says what is different. No agent is started: the returned `agent` is the next step, with its whole prompt, for you to do.";
    const TOUCH: Touch = Touch::Changes;
    type Arguments = Arguments;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<PlanOut>(), schema::of::<ResumeOut>()]
    }

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), arguments.protocol.as_deref())?;
        two_calls(desk, &query, arguments.digest, arguments.offset)
    }
}

/// Shows the plan if no digest was given; otherwise applies the plan with that digest.
pub(super) fn two_calls(
    desk: &Desk,
    query: &Query,
    digest: Option<String>,
    offset: Option<usize>,
) -> Result<Answer, Failure> {
    // Some clients fill in every argument.
    let Some(digest) = digest.filter(|digest| !digest.is_empty()) else {
        let planned = rekindle_app::plan(&desk.project, query)?;
        let plan = desk.plans.show(&planned);
        return Ok(Answer::new(&plan)?.from(offset));
    };
    if offset.is_some_and(|offset| offset > 0) {
        let message = "`offset` cannot be used with `digest`".to_owned();
        let hint = "omit `offset`; `next_step` returns a long prompt in full";
        return Err(Failure::usage(message).hint(hint));
    }
    apply(desk, query, &digest)
}

fn apply(desk: &Desk, query: &Query, digest: &str) -> Result<Answer, Failure> {
    let options = Options {
        agreed_to: Some(digest.to_owned()),
        ..Options::default()
    };
    let mut listener = Listener::default();
    match rekindle_app::resume(&desk.project, query, &options, &mut listener) {
        Ok(resumed) => {
            let mut object = resumed.object(listener.printed);
            object.hints.splice(0..0, listener.hints);
            object.hints.extend(what_next(&object));
            shorten(&mut object);
            Answer::new(&object)
        }
        Err(error @ Error::Moved { .. }) => {
            let changes = match rekindle_app::plan(&desk.project, query) {
                Ok(now) => desk.plans.changes(digest, &now),
                // The workflow has changed so much that there is no plan any more.
                Err(error) => vec![error.to_string()],
            };
            Err(Failure::from(error).because(changes))
        }
        Err(error) => Err(error.into()),
    }
}

fn what_next(object: &ResumeOut) -> Option<String> {
    let hint = match (&object.agent, &object.question) {
        (Some(_), _) => {
            "do the step in `agent` yourself and report the result as its `by_hand` says, events with `report_event`; then call `next_step`"
        }
        (None, Some(_)) => {
            "ask the user this question word for word; they answer it in a terminal with `rekindle resume`"
        }
        (None, None) => return None,
    };
    Some(hint.to_owned())
}

fn shorten(object: &mut ResumeOut) {
    let prompt = object.agent.as_mut().map(|agent| &mut agent.prompt);
    for text in prompt.into_iter().chain([&mut object.text]) {
        // The length as it is sent.
        *text = printable_block(text).into_owned();
        if text.len() > LONGEST_TEXT {
            let mut end = LONGEST_TEXT;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            text.push_str("\n[cut; call `next_step` for the whole prompt]");
        }
    }
}
