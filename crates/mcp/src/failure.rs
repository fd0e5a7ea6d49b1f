//! Failures as an agent reads them: what happened, where, and what to call next.

use std::error::Error as StdError;

use rekindle_app::Error;
use rekindle_model::{Summary, WorkflowId};
use rekindle_text::excerpt;
use rekindle_wire::{ErrorBody, ErrorOut, exit};
use rmcp::model::{CallToolResult, ContentBlock};

use crate::answer::safe;
use crate::quote::in_hint;

/// An agent needs a few names, not all of them.
const MOST_NAMES: usize = 10;
/// The most characters of one line.
const LONGEST_LINE: usize = 1000;

/// Why a call came to nothing.
#[derive(Debug)]
pub(crate) struct Failure(ErrorBody);

impl Failure {
    /// Returns a failure of what was asked.
    pub(crate) fn usage(message: String) -> Self {
        Self::new(message, exit::USAGE)
    }

    /// Returns a failure of ours.
    pub(crate) fn mistake(message: String) -> Self {
        Self::new(message, exit::CANNOT)
    }

    fn new(message: String, exit: u8) -> Self {
        let error: Box<dyn StdError> = message.into();
        Self(ErrorBody::new(&*error, None, Vec::new(), exit))
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds why it is so.
    pub(crate) fn because(mut self, causes: Vec<String>) -> Self {
        self.0.causes.extend(causes);
        self
    }

    /// Returns it in words.
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

    /// Turns it into an answer that says that the call failed.
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
        // They hold words of files, which are nothing that anybody is to do.
        failure.because(reasons.into_iter().take(MOST_NAMES).collect())
    }
}

/// Returns what to do next, each a line.
fn hints(error: &Error) -> Vec<String> {
    let one = |hint: &str| vec![hint.to_owned()];
    match error {
        Error::Unknown { open, .. } => some(
            open,
            |id| format!("`{}` can be resumed", in_hint(id)),
            "`list` names what is here",
        ),
        Error::UnknownCode { .. } => {
            one("codes are those that findings carry; to explain a task, give `id` and `task`")
        }
        Error::Ambiguous { among, .. } => among
            .iter()
            .take(MOST_NAMES)
            .map(|id| format!("call it again with `id` {}", in_hint(id)))
            .collect(),
        Error::ChoiceNeeded { open } => some(
            open,
            |id| format!("call it again with `id` {}", in_hint(id)),
            "ask the user which one is meant",
        ),
        Error::NotChosen { finding } => finding.hint.iter().cloned().collect(),
        Error::Nothing | Error::NothingOf { .. } => one("`list` names what is here"),
        Error::NotKept { id, .. } => vec![format!(
            "nothing needs to be told: what you left in the files is read from there; `next_step` with `id` {} says what comes next",
            in_hint(id)
        )],
        Error::NotOffered { .. } => one(
            "this protocol does not go back to checkpoints; `checkpoints` lists those of a workflow, `checkpoint` makes one",
        ),
        Error::TaskNeeded { .. } => one("say which one in `task`"),
        Error::UnknownTask { id, .. } => vec![format!(
            "`inspect` with `id` {} lists its tasks",
            in_hint(id)
        )],
        Error::UnknownDocument { .. } => one("`resources/list` names the documents that are there"),
        Error::Moved { .. } | Error::Spent { .. } => one(
            "nothing was changed: call it without `digest`, look at the plan as it is now, and call it with that one's digest",
        ),
        Error::Blocked { id, .. } => {
            vec![format!("`inspect` with `id` {} shows where", in_hint(id))]
        }
        Error::Held { .. } => one(
            "wait until that process has ended, or ask the user about it; looking works meanwhile",
        ),
        Error::AgentAlive { .. } | Error::SessionAlive { .. } => {
            one("wait until it has ended, or ask the user about it")
        }
        Error::WorkMissing { id, .. } => vec![format!(
            "tell the user: `rekindle resume {}` in a terminal says how to get the work back",
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
        | Error::AmbiguousRescue { .. }
        | Error::Taken { .. }
        | Error::NotRestored { .. }
        | Error::Git(_)
        | Error::Recording { .. }
        | Error::Unreadable { .. }
        | Error::BranchHeld { .. }
        | Error::Files(_) => doctor(),
        Error::Run(error) => error.hint().map_or_else(doctor, |hint| vec![hint]),
    }
}

fn doctor() -> Vec<String> {
    vec!["tell the user: `rekindle doctor` in a terminal checks what rekindle needs".to_owned()]
}

/// Names some of the open workflows, then says the last word.
fn some(open: &[Summary], say: impl Fn(&WorkflowId) -> String, last: &str) -> Vec<String> {
    let named = open.iter().take(MOST_NAMES).map(|summary| say(&summary.id));
    let rest = open.len().saturating_sub(MOST_NAMES);
    let more = (rest > 0).then(|| format!("`list` names {rest} more"));
    named.chain(more).chain([last.to_owned()]).collect()
}
