//! The configuration of agents and runs.
//!
//! `.rekindle/config.toml` in the project takes precedence over `rekindle.toml`, which a team shares,
//! that over the user's `config.toml`, and that over the built-in defaults.
//!
//! ```toml
//! [agent]
//! default = "claude"              # the agent if none is named
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
//! stream = "claude-json"          # the format of its output; the default is `plain`
//! resume = ["--resume", "{session}"]
//! prompt = "stdin"                # or "argument": the last one
//!
//! [run]
//! jobs = 4
//! retries = 2
//! timeout = "45m"
//! verify = ["cargo test"]
//! max_cost = 5.0
//!
//! [worktree]
//! setup = ["npm ci"]              # prepares a new worktree, before any agent works in it
//! setup_when = ["package-lock.json"]  # and again when one of these files changes
//! teardown = ["docker compose down"]  # before a worktree is removed
//! timeout = "15m"                 # for each of these commands
//! copy = [".env*"]                # ignored files of the main checkout, patterns as in `.gitignore`
//! link = ["node_modules"]         # ignored files or folders of the main checkout
//! sparse = ["apps/web"]           # only these folders of a large repository
//! fresh = true                    # a new worktree for every task, none from the pool
//!
//! [notify]                        # in the user's file only
//! command = "my-notifier"         # gets a `rekindle.notice/1` on standard input
//! bell = true
//! desktop = true
//! ```
//!
//! An unknown key is a [`Warning`], so that an older rekindle can read a newer file; a wrong type or
//! value is an [`Error`] with its line. The caller reads the files.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8PathBuf;
use rekindle_model::CommandSource;

use crate::{Agent, Preset, Prompt, Stream};

mod duration;
mod from_project;
mod read;
mod settings;
mod worktree;

pub use duration::parse_duration;
pub use from_project::ProjectCommand;
pub use settings::Setting;
pub use worktree::Worktree;

/// The content of one file; the default is an empty file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct File {
    /// The unknown keys.
    pub warnings: Vec<Warning>,
    settings: Vec<Setting>,
    default_agent: Option<String>,
    agents: BTreeMap<String, Entry>,
    run: RunEntry,
    worktree: worktree::Entry,
    notify: Option<Notify>,
}

/// How a person is told about a run: only their own file says it, since a clone must not start a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notify {
    /// The shell command that gets the notice on its standard input.
    pub command: Option<String>,
    /// Whether the terminal rings.
    pub bell: bool,
    /// Whether the desktop shows it.
    pub desktop: bool,
}

impl Notify {
    /// Returns whether nobody wants to be told.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl File {
    /// Returns whether it says how a person is told.
    pub fn has_notify(&self) -> bool {
        self.notify.is_some()
    }
}

/// An unknown key that was ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub path: Utf8PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The key, such as `agents.mine.colour`.
    pub key: String,
    /// The key that was probably meant.
    pub meant: Option<&'static str>,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            path,
            line,
            key,
            meant,
        } = self;
        write!(f, "`{path}` line {line}: unknown key `{key}`")?;
        match meant {
            Some(meant) => write!(f, "; did you mean `{meant}`?"),
            None => Ok(()),
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A file is not TOML, or a value has the wrong type or is invalid.
    #[error("`{path}` line {line}: {problem}")]
    Invalid {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem, with the key.
        problem: String,
    },
    /// There is no agent of this name.
    #[error(
        "unknown agent `{name}`{}; known agents: {}",
        meant(name, known),
        listed(known)
    )]
    UnknownAgent {
        /// The name.
        name: String,
        /// The names of all agents.
        known: Vec<String>,
    },
    /// No file defines the program of an agent.
    #[error("agent `{name}` has neither `preset` nor `command`")]
    NoProgram {
        /// Its name.
        name: String,
    },
}

/// Returns the agent that was probably meant, as a part of a sentence.
fn meant(name: &str, known: &[String]) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match rekindle_text::nearest(name, &known) {
        Some(meant) => format!(", perhaps `{meant}`"),
        None => String::new(),
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The settings of an agent in one file.
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

/// The settings of runs in one file.
#[derive(Debug, Clone, Default, PartialEq)]
struct RunEntry {
    jobs: Option<NonZeroUsize>,
    retries: Option<u32>,
    timeout: Option<Duration>,
    verify: Option<Vec<String>>,
    max_cost: Option<f64>,
}

/// The merged configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The settings of runs.
    pub run: Run,
    /// The settings of worktrees.
    pub worktree: Worktree,
    /// How the user is told about a run.
    pub notify: Notify,
    default_agent: Option<String>,
    agents: BTreeMap<String, Entry>,
    from_project: Vec<ProjectCommand>,
    settings: Vec<Setting>,
    default_from: CommandSource,
}

/// The settings of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The number of parallel tasks.
    pub jobs: NonZeroUsize,
    /// The number of retries of a failed task.
    pub retries: u32,
    /// The time limit of one attempt.
    pub timeout: Duration,
    /// Commands that must succeed on the integrated tree.
    pub verify: Vec<String>,
    /// The cost limit of all agents together, in US dollars.
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

impl Default for Config {
    fn default() -> Self {
        Self::new(File::default(), File::default(), File::default())
    }
}

impl Config {
    /// Merges the files of the user, the team and the project with the defaults, the last one goes
    /// before the others; a missing file is `File::default()`.
    ///
    /// The keys of an agent take precedence one by one, but a `preset` or `command` discards all of
    /// the keys below it, since arguments of one program do not fit another.
    pub fn new(user: File, team: File, project: File) -> Self {
        let from_project = from_project::commands(&team, &project);
        let settings = settings::merged([&user, &team, &project]);
        let default_from = match (&project.default_agent, &team.default_agent) {
            (None, Some(_)) => CommandSource::Project(from_project::TEAM.to_owned()),
            (Some(_), _) | (None, None) => CommandSource::User,
        };
        let mut agents = user.agents;
        for (name, over) in team.agents.into_iter().chain(project.agents) {
            let under = agents.remove(&name).unwrap_or_default();
            agents.insert(name, over.over(under));
        }
        Self {
            notify: user.notify.unwrap_or_default(),
            run: Run::default()
                .under(user.run)
                .under(team.run)
                .under(project.run),
            worktree: Worktree::default()
                .under(&user.worktree)
                .under(&team.worktree)
                .under(&project.worktree),
            default_agent: project
                .default_agent
                .or(team.default_agent)
                .or(user.default_agent),
            agents,
            from_project,
            settings,
            default_from,
        }
    }

    /// Returns the name of the default agent, if configured.
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

    /// Returns the agent of a name.
    pub fn agent(&self, name: &str) -> Result<Agent, Error> {
        let entry = self.agents.get(name);
        let built_in = Preset::of(name).map(Base::Preset);
        let base = entry.and_then(|entry| entry.base.clone()).or(built_in);
        if let Some(base) = base {
            return Ok(entry.unwrap_or(&Entry::default()).agent(name, &base));
        }
        let name = name.to_owned();
        Err(match entry {
            Some(_) => Error::NoProgram { name },
            None => Error::UnknownAgent {
                name,
                known: self.agents(),
            },
        })
    }

    /// Returns every setting that holds, by key, with its file and line.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns who chose the program of the default agent.
    pub fn default_from(&self) -> CommandSource {
        let name = self.default_agent.as_deref().unwrap_or_default();
        match self.source_of(&format!("agents.{name}.")) {
            CommandSource::User => self.default_from.clone(),
            of @ (CommandSource::Typed | CommandSource::Agreed | CommandSource::Project(_)) => of,
        }
    }

    /// Returns whether the project or the user chose the settings with this prefix.
    pub fn source_of(&self, keys: &str) -> CommandSource {
        let mut commands = self.from_project.iter();
        let found = commands.find(|command| command.key.starts_with(keys));
        found.map_or(CommandSource::User, |command| {
            CommandSource::Project(command.file.to_owned())
        })
    }

    /// Returns the commands in the files of the project, which users should see before they run.
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

    /// Returns whether the shell command gets no arguments.
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

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
