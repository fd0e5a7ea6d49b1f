//! Errors as an agent reads them: what happened, where, and what to call next.

use std::error::Error as StdError;

use rekindle_app::Error;
use rekindle_model::{Summary, WorkflowId};
use rekindle_text::excerpt;
use rekindle_wire::{ErrorBody, ErrorOut, exit};
use rmcp::model::{CallToolResult, ContentBlock};

use crate::answer::safe;
use crate::quote::in_hint;

/// The most names in a message.
const MOST_NAMES: usize = 10;
/// The most characters of one line.
const LONGEST_LINE: usize = 1000;

/// A failed call.
#[derive(Debug)]
pub(crate) struct Failure(ErrorBody);

impl Failure {
    /// Returns a failure of usage.
    pub(crate) fn usage(message: String) -> Self {
        Self::new(message, exit::USAGE)
    }

    /// Returns an internal failure.
    pub(crate) fn mistake(message: String) -> Self {
        Self::new(message, exit::CANNOT)
    }

    fn new(message: String, exit: u8) -> Self {
        let error: Box<dyn StdError> = message.into();
        Self(ErrorBody::new(&*error, None, Vec::new(), exit))
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds causes.
    pub(crate) fn because(mut self, causes: Vec<String>) -> Self {
        self.0.causes.extend(causes);
        self
    }

    /// Returns its text.
    pub(crate) fn text(&self) -> String {
        let line = |text: &str| excerpt(text, LONGEST_LINE);
        let mut text = format!("error: {}\n", line(&self.0.message));
        for cause in &self.0.causes {
            text.push_str(&format!("cause: {}\n", line(cause)));
        }
        for hint in &self.0.hints {
            text.push_str(&format!("next: {}\n", line(hint)));
        }
        if let Some(code) = &self.0.code {
            text.push_str(&format!("next: see `explain` with `code` {code}\n"));
        }
        text
    }

    /// Converts it to a response.
    pub(crate) fn result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.text())]);
        let mut error = self.0;
        let texts = [&mut error.message].into_iter();
        let texts = texts.chain(&mut error.causes).chain(&mut error.hints);
        for text in texts {
            *text = excerpt(text, LONGEST_LINE);
        }
        let out = ErrorOut {
            schema: "rekindle.error/1",
            error,
        };
        result.structured_content = serde_json::to_value(out).ok().map(safe);
        result
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self(ErrorBody::new(
            &error,
            error.code(),
            hints(&error),
            error.exit(),
        ));
        let Error::Blocked { reasons, .. } = error else {
            return failure;
        };
        // Reasons contain words from files, so they are causes and not hints.
        failure.because(reasons.into_iter().take(MOST_NAMES).collect())
    }
}

/// Returns the hints of an error, one line each.
fn hints(error: &Error) -> Vec<String> {
    let one = |hint: &str| vec![hint.to_owned()];
    match error {
        Error::Unknown { open, .. } => some(
            open,
            |id| format!("`{}` can be resumed", in_hint(id)),
            "`list` shows the workflows of this project",
        ),
        Error::UnknownCode { .. } => one(
            "`inspect` lists findings with their codes; to explain a task, give `id` and `task`",
        ),
        Error::Ambiguous { among, .. } => among
            .iter()
            .take(MOST_NAMES)
            .map(|id| format!("call it again with `id` {}", in_hint(id)))
            .collect(),
        Error::NoAgent
        | Error::AgentCannotStart { .. }
        | Error::AlreadyConfigured { .. }
        | Error::NotConfigured { .. } => one("ask the user to run `rekindle resume` in a terminal"),
        Error::NobodyAnswered => one("ask the person, then call again"),
        Error::ChoiceNeeded { open } => some(
            open,
            |id| format!("call it again with `id` {}", in_hint(id)),
            "ask the user which workflow is meant",
        ),
        Error::NotChosen { finding } => finding.hint.iter().cloned().collect(),
        Error::Nothing | Error::NothingOpen | Error::NothingOf { .. } => {
            one("`list` shows the workflows of this project")
        }
        Error::NotKept { id, .. } => vec![format!(
            "no report is needed: rekindle reads your changes from the files of {}",
            in_hint(id)
        )],
        Error::NotOffered { .. } => one(
            "this protocol cannot roll back; `checkpoints` lists a workflow's checkpoints, `checkpoint` creates one",
        ),
        Error::NoOutput { id, .. } | Error::NotAttached { id, .. } => vec![format!(
            "`inspect` with `id` {} shows where it is",
            in_hint(id)
        )],
        Error::TaskNeeded { .. } => one("give the task's id in `task`"),
        Error::DetailsNeeded { .. } => {
            one("add it to `details`; the result of a step goes to `next_step`")
        }
        Error::UnknownTask { id, .. } => vec![format!(
            "`inspect` with `id` {} lists its tasks",
            in_hint(id)
        )],
        Error::UnknownDocument { .. } => one("`resources/list` lists the documents"),
        Error::Moved { .. } | Error::Spent { .. } => {
            one("nothing was changed: call `plan` again, show it to the user, and use its `digest`")
        }
        Error::Blocked { id, .. } => {
            vec![format!("`inspect` with `id` {} shows where", in_hint(id))]
        }
        Error::Held { .. } => one(
            "wait until that process has ended, or ask the user about it; reading works meanwhile",
        ),
        Error::AgentAlive { .. } | Error::SessionAlive { .. } => {
            one("wait until it has ended, or ask the user about it")
        }
        Error::WorkMissing { id, .. } => vec![format!(
            "tell the user: `rekindle resume {}` in a terminal shows how to restore the work",
            in_hint(id)
        )],
        Error::NoProgress { .. }
        | Error::NoMapScripts { .. }
        | Error::OriginalMissing { .. }
        | Error::OriginalDiffers { .. }
        | Error::Install(_)
        | Error::Config(_)
        | Error::BadPlan { .. }
        | Error::CheckedOut { .. }
        | Error::BadBranch { .. }
        | Error::NoCommits
        | Error::NothingRescued { .. }
        | Error::UnknownRescue { .. }
        | Error::UnknownLeftover { .. }
        | Error::NotPrunable { .. }
        | Error::AmbiguousRescue { .. }
        | Error::Taken { .. }
        | Error::NotRestored { .. }
        | Error::Git(_)
        | Error::Recording { .. }
        | Error::Unreadable { .. }
        | Error::BranchHeld { .. }
        | Error::Files(_) => doctor(),
        Error::Session(error) => vec![error.hint()],
        Error::Run(error) => error.hint().map_or_else(doctor, |hint| vec![hint]),
    }
}

fn doctor() -> Vec<String> {
    vec!["tell the user: `rekindle doctor` in a terminal checks what rekindle needs".to_owned()]
}

/// Lists some of the open workflows, then `last`.
fn some(open: &[Summary], say: impl Fn(&WorkflowId) -> String, last: &str) -> Vec<String> {
    let named = open.iter().take(MOST_NAMES).map(|summary| say(&summary.id));
    let rest = open.len().saturating_sub(MOST_NAMES);
    let more = (rest > 0).then(|| format!("`list` shows {rest} more"));
    named.chain(more).chain([last.to_owned()]).collect()
}
