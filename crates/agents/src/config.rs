//! The configuration: which agents there are and how work is run.
//!
//! Two files say the same things, `.rekindle/config.toml` in the project and the user's own
//! `config.toml`; the project's words go before the user's, and those before what is built in.
//!
//! ```toml
//! [agent]
//! default = "claude"              # the agent that is taken when none is named
//!
//! [agents.claude]                 # a built-in agent with more arguments
//! args = ["--permission-mode", "acceptEdits"]
//! timeout = "30m"
//!
//! [agents.careful]                # another name for one
//! preset = "codex"
//! args = ["--sandbox", "workspace-write"]
//!
//! [agents.mine]                   # any program: the arguments follow the shell command
//! command = "my-agent --fast"
//! args = ["--color=never"]
//! stream = "claude-json"          # what it prints; `plain` if nothing is said
//! resume = ["--resume", "{session}"]
//! prompt = "stdin"                # or "argument": the last one
//!
//! [run]
//! jobs = 4
//! retries = 2
//! timeout = "45m"
//! verify = ["cargo test"]
//! max_cost = 5.0
//! ```
//!
//! An unknown key is a [`Warning`], so that an older rekindle reads a newer file; a wrong type or
//! value is an [`Error`] with its line, because going on without it would do something else than
//! what was written. Reading the files is the caller's.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8PathBuf;
use rekindle_model::CommandSource;

use crate::{Agent, Preset, Prompt, Stream};

mod duration;
mod read;

/// What one file says; the default says nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct File {
    /// What is odd in it.
    pub warnings: Vec<Warning>,
    default_agent: Option<String>,
    agents: BTreeMap<String, Entry>,
    run: RunEntry,
}

/// Something in a file that is not understood and was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub path: Utf8PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The key, as one would write it (`agents.mine.colour`).
    pub key: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, line, key } = self;
        write!(f, "`{path}` line {line}: unknown key `{key}`")
    }
}

/// Why a configuration can not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A file is no TOML.
    #[error("`{path}` line {line}: {message}")]
    Syntax {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// A value is of the wrong type.
    #[error("`{path}` line {line}: `{key}` must be {expected}, not {found}")]
    Type {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// What is wanted, with its article.
        expected: &'static str,
        /// What stands there, with its article.
        found: &'static str,
    },
    /// A value is of the right type and makes no sense.
    #[error("`{path}` line {line}: `{key}` {problem}")]
    Value {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// What is wrong, as the rest of a sentence that begins with the key.
        problem: String,
    },
    /// There is no such agent.
    #[error("there is no agent `{name}`; known are {}", listed(known))]
    UnknownAgent {
        /// The name that was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// An agent is spoken of, but no file says what it is.
    #[error("agent `{name}` has neither `preset` nor `command`")]
    NoProgram {
        /// Its name.
        name: String,
    },
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// What one file says of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Entry {
    base: Option<Base>,
    args: Option<Vec<String>>,
    stream: Option<Stream>,
    resume: Option<Vec<String>>,
    prompt: Option<Prompt>,
    timeout: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    Preset(Preset),
    Command(String),
}

/// What one file says of running.
#[derive(Debug, Clone, Default, PartialEq)]
struct RunEntry {
    jobs: Option<NonZeroUsize>,
    retries: Option<u32>,
    timeout: Option<Duration>,
    verify: Option<Vec<String>>,
    max_cost: Option<f64>,
}

/// The configuration in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// How work is run.
    pub run: Run,
    default_agent: Option<String>,
    agents: BTreeMap<String, Entry>,
    from_project: Vec<ProjectCommand>,
}

/// How work is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// How many tasks run at once.
    pub jobs: NonZeroUsize,
    /// How often a failed task is tried again.
    pub retries: u32,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// Commands that must succeed on the integrated tree.
    pub verify: Vec<String>,
    /// What all agents together may cost, in US dollars.
    pub max_cost: Option<f64>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            jobs: NonZeroUsize::new(4).unwrap_or(NonZeroUsize::MIN),
            retries: 2,
            timeout: Duration::from_secs(45 * 60),
            verify: Vec::new(),
            max_cost: None,
        }
    }
}

/// Something that the project's file lets run. Whoever clones a repository should see it before
/// it runs: the words are not theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectCommand {
    /// The key (`agents.claude.args`).
    pub key: String,
    /// What it says, on a line, with nothing that a terminal would hide.
    pub text: String,
}

impl Default for Config {
    fn default() -> Self {
        Self::new(File::default(), File::default())
    }
}

impl Config {
    /// Puts the project's file over the user's over what is built in; a file that is not there
    /// is the empty one, `File::default()`.
    ///
    /// Of an agent that both speak of, the project's keys go before the user's one by one; but a
    /// `preset` or `command` in the project's file puts all aside that the user's says of it,
    /// because arguments of one program are not for another.
    pub fn new(user: File, project: File) -> Self {
        let from_project = project_commands(&project);
        let mut agents = user.agents;
        for (name, over) in project.agents {
            let under = agents.remove(&name).unwrap_or_default();
            agents.insert(name, over.over(under));
        }
        Self {
            run: Run::default().under(user.run).under(project.run),
            default_agent: project.default_agent.or(user.default_agent),
            agents,
            from_project,
        }
    }

    /// Returns the name of the agent that is taken when none is named; nothing is built in.
    pub fn default_agent(&self) -> Option<&str> {
        self.default_agent.as_deref()
    }

    /// Returns the names of all agents, in order.
    pub fn agents(&self) -> Vec<String> {
        let built_in = Preset::ALL.iter().map(|preset| preset.name().to_owned());
        let mut names: Vec<String> = self.agents.keys().cloned().chain(built_in).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns an agent.
    ///
    /// # Errors
    /// [`Error::UnknownAgent`] lists the known ones; [`Error::NoProgram`] is an agent of which
    /// only half is said.
    pub fn agent(&self, name: &str) -> Result<Agent, Error> {
        let entry = self.agents.get(name);
        let built_in = Preset::of(name).map(Base::Preset);
        let base = entry.and_then(|entry| entry.base.clone()).or(built_in);
        match (entry, base) {
            (Some(entry), Some(base)) => Ok(entry.agent(name, &base)),
            (None, Some(base)) => Ok(Entry::default().agent(name, &base)),
            (Some(_), None) => Err(Error::NoProgram {
                name: name.to_owned(),
            }),
            (None, None) => Err(Error::UnknownAgent {
                name: name.to_owned(),
                known: self.agents(),
            }),
        }
    }

    /// Returns who chose the settings whose keys begin so: the project's file, or the user.
    pub fn source_of(&self, keys: &str) -> CommandSource {
        let mut commands = self.from_project.iter();
        if commands.any(|command| command.key.starts_with(keys)) {
            CommandSource::Project(".rekindle/config.toml".to_owned())
        } else {
            CommandSource::User
        }
    }

    /// Returns what the project's file lets run, for a person to see before it does.
    pub fn project_commands(&self) -> &[ProjectCommand] {
        &self.from_project
    }
}

impl Entry {
    fn over(self, under: Self) -> Self {
        if self.base.is_some() {
            return self;
        }
        Self {
            base: under.base,
            args: self.args.or(under.args),
            stream: self.stream.or(under.stream),
            resume: self.resume.or(under.resume),
            prompt: self.prompt.or(under.prompt),
            timeout: self.timeout.or(under.timeout),
        }
    }

    fn agent(&self, name: &str, base: &Base) -> Agent {
        let mut agent = match base {
            Base::Preset(preset) => preset.agent(),
            Base::Command(command) if self.is_bare() => Agent::shell(command),
            Base::Command(command) => Agent::shell_with_words(name, command),
        };
        name.clone_into(&mut agent.name);
        agent.extra = self.args.clone().unwrap_or_default();
        agent.resume = self.resume.clone().or(agent.resume);
        agent.stream = self.stream.unwrap_or(agent.stream);
        agent.prompt = self.prompt.unwrap_or(agent.prompt);
        agent.timeout = self.timeout;
        agent
    }

    /// Returns whether no word of ours goes to the command; then it is the shell's as it is.
    fn is_bare(&self) -> bool {
        self.args.is_none() && self.resume.is_none() && self.prompt != Some(Prompt::Argument)
    }
}

impl Run {
    fn under(self, over: RunEntry) -> Self {
        Self {
            jobs: over.jobs.unwrap_or(self.jobs),
            retries: over.retries.unwrap_or(self.retries),
            timeout: over.timeout.unwrap_or(self.timeout),
            verify: over.verify.unwrap_or(self.verify),
            max_cost: over.max_cost.or(self.max_cost),
        }
    }
}

fn project_commands(file: &File) -> Vec<ProjectCommand> {
    let mut commands = Vec::new();
    let mut tell = |key: String, text: &str| {
        let text = visible(text);
        commands.push(ProjectCommand { key, text });
    };
    for (name, entry) in &file.agents {
        if let Some(Base::Command(command)) = &entry.base {
            tell(format!("agents.{name}.command"), command);
        }
        for (key, words) in [("args", &entry.args), ("resume", &entry.resume)] {
            if let Some(words) = words {
                tell(format!("agents.{name}.{key}"), &words.join(" "));
            }
        }
    }
    for command in file.run.verify.iter().flatten() {
        tell("run.verify".to_owned(), command);
    }
    commands
}

/// Writes control characters and those that turn the direction of the text around as escapes.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for char in text.chars() {
        if crate::stream::is_invisible(char) {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
