//! What the rows of a transcript say, in the terms that all programs share.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_agents::limit::{self, Limit};
use rekindle_agents::redact;
use rekindle_agents::traces::tool_line;
use rekindle_model::TodoList;
use rekindle_text::excerpt;
use serde_json::Value;

use crate::briefing::prompt_of;
use crate::table::Turn;

/// The longest line that is shown of a prompt, in characters.
const LONGEST_LINE: usize = 120;
/// The longest text that is kept for a hand-over, in bytes.
const LONGEST_TEXT: usize = 8 * 1024;
/// The most edited files that are kept.
const MOST_TOUCHED: usize = 400;
/// The most turns that are kept; of more, the oldest are left out.
const MOST_TURNS: usize = 400;
/// The beginnings of rows that a program wrote: neither a prompt nor an open turn.
const NOT_TYPED: [&str; 7] = [
    "<command-",
    "<local-command-",
    "<bash-",
    "<system-reminder",
    "<task-notification",
    "<environment_context>",
    "<session_context>",
];
/// The tools that ask the person.
const QUESTIONS: [&str; 4] = [
    "AskUserQuestion",
    "ExitPlanMode",
    "question",
    "request_user_input",
];
/// The tools that edit files.
const EDITS: [&str; 10] = [
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
    "apply_patch",
    "edit",
    "write",
    "patch",
    "replace",
    "write_file",
];
/// The tools that run commands.
const COMMANDS: [&str; 8] = [
    "Bash",
    "bash",
    "exec_command",
    "shell",
    "local_shell",
    "shell_command",
    "run_shell_command",
    "container.exec",
];

/// What was read of a session.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// The program's id, where the name of the file does not have it.
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) folder: Option<Utf8PathBuf>,
    pub(crate) branch: Option<String>,
    pub(crate) first_prompt: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) said: Option<String>,
    pub(crate) todo: Option<TodoList>,
    /// The calls without a result, oldest first.
    pub(crate) calls: Vec<Call>,
    /// `None` while no row of the conversation was read.
    pub(crate) turn: Option<Turn>,
    pub(crate) failure: Option<Failure>,
    /// The edited files, oldest first.
    pub(crate) touched: Vec<String>,
    pub(crate) commands: Vec<Ran>,
    pub(crate) decisions: Vec<String>,
    /// The last plan that the person accepted.
    pub(crate) plan: Option<String>,
    pub(crate) last_activity: Option<Timestamp>,
    /// The newest turns, oldest first.
    pub(crate) turns: Vec<PastTurn>,
    pub(crate) is_headless: bool,
    pub(crate) is_torn: bool,
    /// Whether every line that was read is a row, and all of the file was read.
    pub(crate) is_intact: bool,
    /// The id of the last row, of which a fork has a copy.
    pub(crate) last_row: Option<String>,
    /// The calls whose results say that they were interrupted.
    pub(crate) interrupted_calls: Vec<String>,
}

/// What followed a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastTurn {
    /// The prompt in one line.
    pub(crate) prompt: String,
    pub(crate) from: Option<Timestamp>,
    /// The time of its last row.
    pub(crate) to: Option<Timestamp>,
}

/// A use of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The tool and its input in one line.
    pub(crate) step: String,
    pub(crate) input: Value,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) command: String,
    /// The first line of its error; none if it succeeded.
    pub(crate) error: Option<String>,
}

/// An error that ended a turn.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) text: String,
    /// The usage limit, if it is one.
    pub(crate) limit: Option<Limit>,
    pub(crate) at: Option<Timestamp>,
}

impl Failure {
    /// Returns an error by its words; `is_limit` says whether the program calls it a usage limit, if
    /// the program says so.
    pub(crate) fn new(text: &str, is_limit: Option<bool>, at: Option<Timestamp>) -> Self {
        let limit = match is_limit {
            Some(true) => Some(limit::known(text)),
            Some(false) => None,
            None => limit::in_words(text).filter(|_| !is_overload(text)),
        };
        Self {
            text: text.to_owned(),
            limit,
            at,
        }
    }
}

/// Returns whether an error is about the load of the provider and not about the user's limit.
fn is_overload(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("overloaded") || text.contains("high demand")
}

impl Call {
    pub(crate) fn new(id: &str, tool: &str, input: Option<Value>) -> Self {
        let input = input.unwrap_or(Value::Null);
        let step = match question(tool, &input) {
            Some(question) => {
                tool_line(tool, Some(&serde_json::json!({ "description": question })))
            }
            None => line_of(tool, &input),
        };
        Self {
            id: id.to_owned(),
            tool: excerpt(&redact(tool), LONGEST_LINE),
            step,
            input,
        }
    }

    pub(crate) fn is_question(&self) -> bool {
        QUESTIONS.contains(&self.tool.as_str())
    }

    /// Returns the files that it edits.
    fn edits(&self) -> Vec<String> {
        if !EDITS.contains(&self.tool.as_str()) {
            return Vec::new();
        }
        let text = |key: &str| self.input.get(key).and_then(Value::as_str);
        let keys = ["file_path", "filePath", "notebook_path", "path"];
        if let Some(path) = keys.into_iter().find_map(text) {
            return vec![path.to_owned()];
        }
        let patch = self.input.as_str().or_else(|| {
            let keys = ["input", "patch", "patchText", "patch_text"];
            keys.into_iter().find_map(text)
        });
        patch.map_or_else(Vec::new, patched)
    }

    /// Returns the command that it runs.
    fn command(&self) -> Option<String> {
        COMMANDS
            .contains(&self.tool.as_str())
            .then(|| self.step.clone())
    }
}

/// Returns a use of a tool in one line; of an unknown input, its first text.
fn line_of(tool: &str, input: &Value) -> String {
    let line = tool_line(tool, Some(input));
    if line != tool {
        return line;
    }
    let texts = input
        .as_object()
        .into_iter()
        .flat_map(|input| input.values());
    let first = input
        .as_str()
        .or_else(|| texts.into_iter().find_map(Value::as_str));
    match first {
        Some(first) => tool_line(tool, Some(&serde_json::json!({ "description": first }))),
        None => line,
    }
}

/// Returns the first question of a tool that asks the person.
fn question(tool: &str, input: &Value) -> Option<String> {
    if !QUESTIONS.contains(&tool) {
        return None;
    }
    let first = input
        .get("questions")
        .and_then(|questions| questions.get(0));
    let asked = first.or(Some(input))?.get("question")?.as_str()?;
    Some(asked.to_owned())
}

/// Returns the files that a patch changes.
fn patched(patch: &str) -> Vec<String> {
    const MARKS: [&str; 4] = [
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let path = |line: &str| {
        let mut marks = MARKS.iter();
        marks.find_map(|mark| Some(line.strip_prefix(mark)?.trim().to_owned()))
    };
    patch.lines().filter_map(path).collect()
}

impl Story {
    /// A row of a time was read.
    pub(crate) fn at(&mut self, at: Option<Timestamp>) {
        self.last_activity = self.last_activity.max(at);
        if let Some(turn) = self.turns.last_mut() {
            turn.to = turn.to.max(at);
        }
    }

    /// A person typed a prompt, or a script sent one.
    pub(crate) fn typed(&mut self, text: &str) {
        self.prompted(text);
        self.turn = Some(Turn::Open);
        self.failure = None;
    }

    /// Keeps a prompt, which begins a turn.
    pub(crate) fn prompted(&mut self, text: &str) {
        if let Some(line) =
            prompt_of(text).and_then(|text| one_line(text).filter(|_| is_typed(text)))
        {
            self.turns(line);
            self.remembers(text);
        }
    }

    /// Keeps a prompt that a program only repeats.
    pub(crate) fn remembers(&mut self, text: &str) {
        // What a person asked for stays the prompt of a session that was continued.
        let Some(text) = prompt_of(text) else {
            return;
        };
        if is_typed(text) && one_line(text).is_some() {
            let text = clipped(text);
            self.first_prompt.get_or_insert_with(|| text.clone());
            self.prompt = Some(text);
        }
    }

    /// A turn begins; some programs write its prompt twice.
    fn turns(&mut self, prompt: String) {
        let at = self.last_activity;
        let second = |at: Option<Timestamp>| at.map(Timestamp::as_second);
        let is_again = |turn: &PastTurn| turn.prompt == prompt && second(turn.from) == second(at);
        if self.turns.last().is_some_and(is_again) {
            return;
        }
        if self.turns.len() == MOST_TURNS {
            self.turns.remove(0);
        }
        let (from, to) = (at, at);
        self.turns.push(PastTurn { prompt, from, to });
    }

    /// The model said something.
    pub(crate) fn says(&mut self, text: &str) {
        if one_line(text).is_some() {
            self.said = Some(clipped(text));
        }
    }

    /// The model used a tool.
    pub(crate) fn calls(&mut self, call: Call) {
        self.calls.retain(|other| other.id != call.id);
        self.calls.push(call);
    }

    /// A tool has a result.
    pub(crate) fn returns(&mut self, id: &str, error: Option<&str>, answer: &str) {
        let Some(at) = self.calls.iter().position(|call| call.id == id) else {
            return;
        };
        let call = self.calls.remove(at);
        self.ends(&call, error, answer);
    }

    /// A use of a tool has ended.
    pub(crate) fn ends(&mut self, call: &Call, error: Option<&str>, answer: &str) {
        if let Some(command) = call.command() {
            let error = error.map(|text| one_line(text).unwrap_or_else(|| "failed".to_owned()));
            self.commands.push(Ran { command, error });
        } else if call.is_question() && error.is_none() {
            let answer = one_line(answer).unwrap_or_default();
            self.decisions.push(format!("{}: {answer}", call.step));
            let plan = call.input.get("plan").and_then(Value::as_str);
            self.plan = plan.map(clipped).or(self.plan.take());
        }
        if error.is_none() {
            for path in call.edits() {
                self.touched.retain(|other| *other != path);
                self.touched.push(path);
            }
            let surplus = self.touched.len().saturating_sub(MOST_TOUCHED);
            self.touched.drain(..surplus);
        }
    }

    /// The turn is over; one that a person stopped or an error ended stays that.
    pub(crate) fn finishes(&mut self) {
        match self.turn {
            Some(Turn::Stopped | Turn::Failed) => {}
            Some(Turn::Open | Turn::Over) | None => self.turn = Some(Turn::Over),
        }
        self.calls.clear();
    }

    /// An error ended the turn.
    pub(crate) fn fails(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.turn = Some(Turn::Failed);
    }

    /// Adds a todo list of texts and states.
    pub(crate) fn plans<'a>(&mut self, entries: impl Iterator<Item = (&'a str, &'a str)>) {
        self.todo = todo_list(entries);
    }
}

/// Returns a todo list of texts and states; none for an empty one.
pub(crate) fn todo_list<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Option<TodoList> {
    let mut list = TodoList {
        done: 0,
        open: Vec::new(),
        begun: None,
        current: None,
    };
    for (text, state) in entries {
        let text = one_line(text).unwrap_or_default();
        match state {
            "completed" | "done" => list.done += 1,
            "cancelled" | "canceled" | "deleted" => {}
            "in_progress" => {
                list.begun.get_or_insert_with(|| text.clone());
                list.open.push(text);
            }
            _ => list.open.push(text),
        }
    }
    let current = list.begun.as_ref().or(list.open.first());
    list.current = current.cloned();
    (list.total() > 0).then_some(list)
}

/// Returns whether a person may have typed a text.
pub(crate) fn is_typed(text: &str) -> bool {
    let text = text.trim_start();
    !NOT_TYPED
        .iter()
        .any(|beginning| text.starts_with(beginning))
}

/// Returns the first line of a text that is not blank, with whitespace folded and secrets masked.
pub(crate) fn one_line(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    // A line can be a whole file; what is shown is far below this.
    let line = clipped(line);
    let words: Vec<&str> = line.split_whitespace().collect();
    Some(excerpt(&redact(&words.join(" ")), LONGEST_LINE))
}

/// Returns the beginning of a text.
fn clipped(text: &str) -> String {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
#[path = "story_tests.rs"]
mod tests;
