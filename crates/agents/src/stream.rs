//! Reads the output of an agent line by line.
//!
//! Unknown lines are ignored: formats grow with every release, programs print warnings in between,
//! and a crash truncates a line. [`judge`](crate::judge) decides the result.

use serde_json::Value;

use crate::Limit;

mod claude;
mod codex;
mod gemini;
mod opencode;
mod show;

pub(crate) use show::{first_line, tool};

/// The format of the output of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stream {
    /// Any text; only the exit status counts.
    #[default]
    Plain,
    /// `claude -p --output-format stream-json --verbose`
    ClaudeJson,
    /// `codex exec --json`
    CodexJson,
    /// `opencode run --format json`
    OpencodeJson,
    /// `gemini -o stream-json`
    GeminiJson,
}

impl Stream {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Plain,
        Self::ClaudeJson,
        Self::CodexJson,
        Self::OpencodeJson,
        Self::GeminiJson,
    ];

    /// Returns the stream of a name in the configuration.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stream| stream.name() == name)
    }

    /// Returns whether the output contains the cost.
    pub fn tells_cost(self) -> bool {
        match self {
            Self::ClaudeJson | Self::OpencodeJson => true,
            // These report at most tokens.
            Self::Plain | Self::CodexJson | Self::GeminiJson => false,
        }
    }

    /// Returns its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::ClaudeJson => "claude-json",
            Self::CodexJson => "codex-json",
            Self::OpencodeJson => "opencode-json",
            Self::GeminiJson => "gemini-json",
        }
    }
}

/// The content of one line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    /// The session's id.
    pub session: Option<String>,
    /// A short line for people, without control characters.
    pub text: Option<String>,
    /// The cost of this run so far.
    pub cost_usd: Option<f64>,
    /// A tool that was denied.
    pub permission_denied: Option<String>,
    /// A usage limit.
    pub limit: Option<Limit>,
    /// The end of the work, after which more may follow.
    pub ended: Option<StreamEnd>,
}

/// The end that an agent reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEnd {
    /// Success.
    Success,
    /// An error with this reason.
    Error(String),
    /// An interrupt from outside.
    Interrupted,
}

/// The state after the last line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// The format.
    pub stream: Stream,
    /// The session's id. A run that fails to continue a session without naming one did not find it.
    pub session: Option<String>,
    /// The last line for people.
    pub text: Option<String>,
    /// The cost of this run, if reported.
    pub cost_usd: Option<f64>,
    /// The denied tools, at most [`Summary::MOST_DENIED`].
    pub denied: Vec<String>,
    /// The usage limit, unless the agent recovered.
    pub limit: Option<Limit>,
    /// The reported end; `None` while it works.
    pub ended: Option<StreamEnd>,
    /// The last reported error, perhaps recovered.
    pub error: Option<String>,
    /// The last line that is not an event, preferably one that begins with `error`: the message of
    /// a program that could not start.
    pub stray: Option<String>,
}

impl Summary {
    /// The limit of [`Summary::denied`].
    pub const MOST_DENIED: usize = 32;

    fn take(&mut self, update: &Update) {
        self.session = update.session.clone().or(self.session.take());
        self.text = update.text.clone().or(self.text.take());
        self.cost_usd = update.cost_usd.or(self.cost_usd);
        self.limit = match (&update.limit, self.limit.take()) {
            // An earlier, more precise time is kept.
            (Some(limit), Some(earlier)) if earlier.exactness() > limit.exactness() => {
                Some(earlier)
            }
            (Some(limit), _) => Some(limit.clone()),
            (None, earlier) => earlier,
        };
        if let Some(tool) = &update.permission_denied {
            self.deny(tool);
        }
        if let Some(ended) = &update.ended {
            self.ended = Some(ended.clone());
            if *ended == StreamEnd::Success {
                self.limit = None;
            }
        }
    }

    fn stray(&mut self, line: &str) {
        let is_error = |line: &str| {
            let start = line.get(..5);
            start.is_some_and(|start| start.eq_ignore_ascii_case("error"))
        };
        let Some(line) = show::line(line) else { return };
        if is_error(&line) || !self.stray.as_deref().is_some_and(is_error) {
            self.stray = Some(line);
        }
    }

    fn deny(&mut self, tool: &str) {
        if self.denied.len() < Self::MOST_DENIED && !self.denied.iter().any(|known| known == tool) {
            self.denied.push(tool.to_owned());
        }
    }
}

/// Reads an agent's output line by line.
#[derive(Debug)]
pub struct StreamReader {
    summary: Summary,
    format: Format,
}

#[derive(Debug)]
enum Format {
    Plain,
    Claude(claude::Reader),
    Codex,
    Opencode,
    Gemini(gemini::Reader),
}

impl StreamReader {
    /// Returns a reader of a format.
    pub fn new(stream: Stream) -> Self {
        Self {
            summary: Summary {
                stream,
                ..Summary::default()
            },
            format: match stream {
                Stream::Plain => Format::Plain,
                Stream::ClaudeJson => Format::Claude(claude::Reader::default()),
                Stream::CodexJson => Format::Codex,
                Stream::OpencodeJson => Format::Opencode,
                Stream::GeminiJson => Format::Gemini(gemini::Reader::default()),
            },
        }
    }

    /// Reads one line and returns its content, if any.
    pub fn push_line(&mut self, line: &str) -> Option<Update> {
        let update = if let Format::Plain = self.format {
            Update {
                text: show::line(line),
                ..Update::default()
            }
        } else {
            let before = &mut self.summary;
            let Some(event) = event(line) else {
                before.stray(line);
                return None;
            };
            match &mut self.format {
                Format::Plain => return None,
                Format::Claude(reader) => reader.read(&event, before),
                Format::Codex => codex::read(&event, before),
                Format::Opencode => opencode::read(&event, before),
                Format::Gemini(reader) => reader.read(&event, before),
            }
        };
        self.summary.take(&update);
        (update != Update::default()).then_some(update)
    }

    /// Reads one line and returns what a person reads of it: the text that an event stands for, or the line
    /// itself, without what could confuse a terminal.
    pub fn readable(&mut self, line: &str) -> Option<String> {
        let is_text = matches!(self.format, Format::Plain) || event(line).is_none();
        if is_text {
            return Some(rekindle_text::printable(line.trim_end()).into_owned());
        }
        self.push_line(line)?.text
    }

    /// Returns the state after the last line.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns the state at the end.
    pub fn into_summary(self) -> Summary {
        self.summary
    }
}

/// Returns the JSON object of a line.
fn event(line: &str) -> Option<Value> {
    let line = line.trim();
    let is_object = line.starts_with('{');
    is_object.then(|| serde_json::from_str(line).ok())?
}

/// Returns the text at a path of keys.
fn text_at<'a>(event: &'a Value, path: &[&str]) -> Option<&'a str> {
    value_at(event, path)?.as_str()
}

/// Returns the value at a path of keys.
fn value_at<'a>(event: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(event, |inner, key| inner.get(key))
}

/// Returns an amount of money, if valid.
fn money(value: Option<&Value>) -> Option<f64> {
    value?.as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0)
}

/// Returns a session id, if valid.
fn session_at(event: &Value, path: &[&str]) -> Option<String> {
    text_at(event, path)
        .filter(|id| crate::agent::is_session_id(id))
        .map(str::to_owned)
}
