//! Reads what an agent prints, line by line, into what is worth knowing.
//!
//! A line that is not understood says nothing: the formats grow with every release, programs
//! print warnings in between, and a crash cuts a line in half. What follows from it all at the
//! end is the matter of [`judge`](crate::judge).

use serde_json::Value;

use crate::Limit;

mod claude;
mod codex;
mod gemini;
mod opencode;
mod show;

pub(crate) use show::{first_line, is_invisible, tool};

/// What an agent's output looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Any text; the exit code says all.
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

    /// Returns whether a program that speaks it tells what its work costs.
    pub fn tells_cost(self) -> bool {
        match self {
            Self::ClaudeJson | Self::OpencodeJson => true,
            // Tokens at most, and what they cost is between the user and the provider.
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

/// What one line told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct News {
    /// The session's id.
    pub session: Option<String>,
    /// A line worth showing to a person: short, and without control characters.
    pub text: Option<String>,
    /// What this run of the agent has cost until now.
    pub cost_usd: Option<f64>,
    /// The tool that the agent wanted to use and was not allowed to.
    pub permission_denied: Option<String>,
    /// A usage limit was met.
    pub limit: Option<Limit>,
    /// The agent said that it is done; more may follow nevertheless.
    pub ended: Option<StreamEnd>,
}

/// How an agent said that it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEnd {
    /// With success.
    Success,
    /// With an error, for this reason.
    Error(String),
    /// Because it was interrupted from outside.
    Interrupted,
}

/// Everything that was told, as of the last line.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was read.
    pub stream: Stream,
    /// The session's id. A run that was to continue a session and fails without naming one did
    /// not find it: that holds for all four programs.
    pub session: Option<String>,
    /// The last line that was worth showing.
    pub text: Option<String>,
    /// What this run has cost, where the program tells.
    pub cost_usd: Option<f64>,
    /// The tools that were refused, each once, at most [`Summary::MOST_DENIED`].
    pub denied: Vec<String>,
    /// The usage limit that was met, unless the agent got over it.
    pub limit: Option<Limit>,
    /// How the agent said that it ended; `None` while it works.
    pub ended: Option<StreamEnd>,
    /// The last error that was told and was perhaps got over.
    pub error: Option<String>,
    /// A line that is no event, the last that begins with `error` if one does: what a program
    /// that could not start says, where both of its outputs are read.
    pub stray: Option<String>,
}

impl Summary {
    /// How many refused tools are remembered.
    pub const MOST_DENIED: usize = 32;

    fn new(stream: Stream) -> Self {
        Self {
            stream,
            session: None,
            text: None,
            cost_usd: None,
            denied: Vec::new(),
            limit: None,
            ended: None,
            error: None,
            stray: None,
        }
    }

    fn take(&mut self, news: &News) {
        self.session = news.session.clone().or(self.session.take());
        self.text = news.text.clone().or(self.text.take());
        self.cost_usd = news.cost_usd.or(self.cost_usd);
        self.limit = match (&news.limit, self.limit.take()) {
            // A better time that was told before is not forgotten for a worse one.
            (Some(limit), Some(earlier)) if earlier.exactness() > limit.exactness() => {
                Some(earlier)
            }
            (Some(limit), _) => Some(limit.clone()),
            (None, earlier) => earlier,
        };
        if let Some(tool) = &news.permission_denied {
            self.deny(tool);
        }
        if let Some(ended) = &news.ended {
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
    /// Returns a reader at the beginning of a stream.
    pub fn new(stream: Stream) -> Self {
        Self {
            summary: Summary::new(stream),
            format: match stream {
                Stream::Plain => Format::Plain,
                Stream::ClaudeJson => Format::Claude(claude::Reader::default()),
                Stream::CodexJson => Format::Codex,
                Stream::OpencodeJson => Format::Opencode,
                Stream::GeminiJson => Format::Gemini(gemini::Reader::default()),
            },
        }
    }

    /// Takes one line and returns what it told, if anything.
    pub fn push_line(&mut self, line: &str) -> Option<News> {
        let news = if let Format::Plain = self.format {
            News {
                text: show::line(line),
                ..News::default()
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
        self.summary.take(&news);
        (news != News::default()).then_some(news)
    }

    /// Returns what is known as of the last line.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns what is known at the end.
    pub fn into_summary(self) -> Summary {
        self.summary
    }
}

/// Returns the event of a line; anything but a JSON object is none.
fn event(line: &str) -> Option<Value> {
    let line = line.trim();
    if !line.starts_with('{') {
        return None;
    }
    serde_json::from_str(line).ok()
}

/// Returns the text at a path of keys.
fn text_at<'a>(event: &'a Value, path: &[&str]) -> Option<&'a str> {
    value_at(event, path)?.as_str()
}

/// Returns the value at a path of keys.
fn value_at<'a>(event: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(event, |inner, key| inner.get(key))
}

/// Returns an amount of money; nonsense is none.
fn money(value: Option<&Value>) -> Option<f64> {
    value?.as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0)
}

/// Returns the id of a session, if it can be one.
fn session_at(event: &Value, path: &[&str]) -> Option<String> {
    text_at(event, path)
        .filter(|id| crate::agent::is_session_id(id))
        .map(str::to_owned)
}
