//! Commands that a workflow will run, and who chose them.

/// A command that runs once a person agrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The full command.
    pub text: String,
    /// Its purpose.
    pub role: CommandRole,
    /// Who chose it.
    pub source: CommandSource,
    /// The number of tasks it runs for; 0 if it is not about tasks.
    pub tasks: usize,
}

/// The purpose of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandRole {
    /// It does the work.
    Agent,
    /// It checks the work.
    Check,
    /// It prepares a worktree.
    Setup,
    /// It runs before a worktree is removed.
    Teardown,
}

impl CommandRole {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Check => "check",
            Self::Setup => "setup",
            Self::Teardown => "teardown",
        }
    }
}

/// Who chose a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandSource {
    /// The person who started rekindle.
    Typed,
    /// The user's own configuration, or what is built in.
    User,
    /// The same user, who agreed to this very command for this workflow before.
    Agreed,
    /// A file of the project, which may have come with a clone.
    Project(String),
}

impl Command {
    /// Returns checks that a file of the project asks for, equal ones counted as one.
    pub fn checks_of<'c>(
        file: &str,
        checks: impl IntoIterator<Item = (&'c str, usize)>,
    ) -> Vec<Self> {
        let mut places = std::collections::HashMap::new();
        let mut commands: Vec<Self> = Vec::new();
        for (text, tasks) in checks {
            let place = *places.entry(text).or_insert_with(|| {
                commands.push(Self {
                    text: text.to_owned(),
                    role: CommandRole::Check,
                    source: CommandSource::Project(file.to_owned()),
                    tasks: 0,
                });
                commands.len() - 1
            });
            commands[place].tasks += tasks;
        }
        commands
    }
}
