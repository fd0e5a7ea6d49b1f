//! What is known of an agent program: its command line, its stream, how it takes the prompt.

use std::time::Duration;

use crate::Stream;

/// In a template of arguments, the place of the arguments that the configuration adds.
pub(crate) const ARGS: &str = "{args}";
/// In a template of arguments, the place of those that continue a session.
pub(crate) const RESUME: &str = "{resume}";
/// In a template of arguments, the place of the prompt where it is an argument.
pub(crate) const PROMPT: &str = "{prompt}";
/// In the arguments that continue a session, the session's id.
pub(crate) const SESSION: &str = "{session}";

/// An agent program, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// What a person calls it.
    pub name: String,
    /// The program: a name that is looked up in `PATH`, or a path.
    pub program: String,
    /// The arguments. An element `{args}` stands for [`extra`](Self::extra), `{resume}` for
    /// [`resume`](Self::resume) where a session is continued, `{prompt}` for the prompt where it
    /// is an argument (the last one if it has no place); only whole elements are places.
    pub arguments: Vec<String>,
    /// What the user's configuration adds. Nothing is ever added here by ourselves: permissions
    /// and sandbox of an agent are the user's to loosen.
    pub extra: Vec<String>,
    /// The arguments that continue a session, `{session}` being its id; `None` if it can not.
    pub resume: Option<Vec<String>>,
    /// What its output looks like.
    pub stream: Stream,
    /// How it is given the prompt.
    pub prompt: Prompt,
    /// How long one call may take, where the configuration says so.
    pub timeout: Option<Duration>,
}

/// How an agent is given the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// On standard input: no limit of length, and nobody reads it in a list of processes.
    Stdin,
    /// As one argument; Linux allows 128 KiB.
    Argument,
}

impl Agent {
    /// Returns the agent of a shell command; it reads the prompt on standard input.
    pub fn shell(command: impl Into<String>) -> Self {
        Self {
            name: "command".to_owned(),
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), command.into()],
            extra: Vec::new(),
            resume: None,
            stream: Stream::Plain,
            prompt: Prompt::Stdin,
            timeout: None,
        }
    }

    /// Returns the agent of a shell command that is given words of ours: they follow the command,
    /// each one word to the shell whatever is in it.
    pub(crate) fn shell_with_words(name: &str, command: &str) -> Self {
        Self {
            name: name.to_owned(),
            arguments: [
                "-c",
                &format!("{command} \"$@\""),
                name,
                ARGS,
                RESUME,
                PROMPT,
            ]
            .map(str::to_owned)
            .to_vec(),
            ..Self::shell("")
        }
    }

    /// Returns the command of an agent that is a shell command and nothing else.
    pub fn shell_command(&self) -> Option<&str> {
        match self.arguments.as_slice() {
            [option, command] if self.program == "/bin/sh" && option == "-c" => Some(command),
            _ => None,
        }
    }

    /// Returns whether a call with this session continues it; otherwise the call starts anew.
    pub fn continues(&self, session: &str) -> bool {
        self.resume.is_some() && is_session_id(session)
    }
}

/// Returns whether a text can be the id of a session.
///
/// It comes out of an agent's output or a log and goes into a command line, so it must not look
/// like an option nor be of endless length.
pub(crate) fn is_session_id(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    text.len() <= 200
        && text.bytes().all(known)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}
