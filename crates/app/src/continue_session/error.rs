//! Why a session of a coding agent is not continued.

use camino::Utf8PathBuf;
use rekindle_model::{Code, WorkflowId};
use rekindle_wire::exit;

/// Why a session of a coding agent is not continued.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A process has it open.
    #[error("`{id}` is not continued: {message}")]
    Held {
        /// The session.
        id: WorkflowId,
        /// Who has it open.
        message: String,
    },
    /// It waits for a person, and none is there.
    #[error("`{id}` waits for a person: {question}")]
    PersonNeeded {
        /// The session.
        id: WorkflowId,
        /// What it asked.
        question: String,
    },
    /// The configured agent of that name cannot continue a session.
    #[error("the configuration of the agent `{agent}` does not say how it continues a session")]
    CannotContinue {
        /// The agent.
        agent: String,
    },
    /// Nothing of it can be handed over.
    #[error("`{id}` cannot be handed over: its transcript cannot be read")]
    NoHandover {
        /// The session.
        id: WorkflowId,
    },
    /// Its program continues sessions only in their own folders.
    #[error("`{id}` can only be continued in its own folder")]
    OwnFolderOnly {
        /// The session.
        id: WorkflowId,
    },
    /// Another agent was named, which does not know the session.
    #[error("`{id}` goes on in its own program, and not in `{agent}`")]
    OtherAgent {
        /// The session.
        id: WorkflowId,
        /// The agent that was named.
        agent: String,
    },
    /// The folder that was named is missing.
    #[error("there is no folder `{path}`")]
    NoFolder {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// There is no place for rekindle's own files.
    #[error("neither HOME nor XDG_STATE_HOME names a folder")]
    NoStateFolder,
    /// The program could not be started.
    #[error("cannot start `{program}` in `{folder}`")]
    NotStarted {
        /// The program.
        program: String,
        /// The folder.
        folder: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl From<SessionError> for crate::Error {
    fn from(error: SessionError) -> Self {
        Self::Session(Box::new(error))
    }
}

impl SessionError {
    /// Returns the exit code of a command that ends with this.
    pub fn exit(&self) -> u8 {
        match self {
            Self::Held { .. } => exit::HELD,
            Self::PersonNeeded { .. } => exit::CHOICE,
            Self::NoFolder { .. } | Self::OwnFolderOnly { .. } | Self::OtherAgent { .. } => {
                exit::USAGE
            }
            Self::CannotContinue { .. }
            | Self::NoHandover { .. }
            | Self::NoStateFolder
            | Self::NotStarted { .. } => exit::CANNOT,
        }
    }

    /// Returns the code that explains it, if it has one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Held { .. } => Some(Code::SessionHeld),
            Self::PersonNeeded { .. }
            | Self::CannotContinue { .. }
            | Self::NoHandover { .. }
            | Self::OwnFolderOnly { .. }
            | Self::OtherAgent { .. }
            | Self::NoFolder { .. }
            | Self::NoStateFolder
            | Self::NotStarted { .. } => None,
        }
    }

    /// Returns what helps.
    pub fn hint(&self) -> String {
        match self {
            Self::Held { .. } => "go on in the window of that process, or end it first".to_owned(),
            Self::PersonNeeded { id, .. } => {
                format!("answer in its own program: `rekindle resume {id}` in a terminal opens it")
            }
            Self::CannotContinue { agent } => format!(
                "set `resume` of `[agents.{agent}]` in the configuration, or remove that section"
            ),
            Self::NoHandover { id } => format!("`rekindle inspect {id}` shows what is known"),
            Self::OwnFolderOnly { .. } => {
                "`--in-folder` is for sessions of Claude Code and Codex".to_owned()
            }
            Self::OtherAgent { id, agent } => {
                format!("`rekindle resume {id} --with {agent}` hands it over to a new session")
            }
            Self::NoFolder { .. } => "check the path given with `--in-folder`".to_owned(),
            Self::NoStateFolder => "set HOME to your home folder".to_owned(),
            Self::NotStarted { program, .. } => {
                format!("install `{program}`, or add its folder to PATH")
            }
        }
    }
}
