//! The description of an agent program.

use std::time::Duration;

use crate::Stream;

/// Placeholder for the arguments from the configuration.
pub(crate) const ARGS: &str = "{args}";
/// Placeholder for the arguments that continue a session.
pub(crate) const RESUME: &str = "{resume}";
/// Placeholder for a prompt that is an argument.
pub(crate) const PROMPT: &str = "{prompt}";
/// Placeholder for the id of the session to continue.
pub(crate) const SESSION: &str = "{session}";

/// An agent program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The name that users give it.
    pub name: String,
    /// The program: a name in `PATH`, or a path.
    pub program: String,
    /// The arguments. The elements `{args}`, `{resume}` and `{prompt}` are replaced by
    /// [`extra`](Self::extra), [`resume`](Self::resume) and the prompt; a prompt without a
    /// placeholder is the last argument.
    pub arguments: Vec<String>,
    /// The arguments from the configuration: only users relax permissions and sandboxes.
    pub extra: Vec<String>,
    /// The arguments that continue the session `{session}`; `None` if the agent cannot.
    pub resume: Option<Vec<String>>,
    /// The format of its output.
    pub stream: Stream,
    /// How it gets the prompt.
    pub prompt: Prompt,
    /// The time limit of one call, if configured.
    pub timeout: Option<Duration>,
}

/// How an agent gets the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// On standard input: without a length limit, and hidden from process lists.
    Stdin,
    /// As one argument; Linux allows 128 KiB.
    Argument,
}

impl Agent {
    /// Returns a shell command as an agent that reads the prompt on standard input.
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

    /// Returns a shell command as an agent whose arguments follow the command, each as one word.
    pub(crate) fn shell_with_words(name: &str, command: &str) -> Self {
        let command = format!("{command} \"$@\"");
        Self {
            name: name.to_owned(),
            arguments: ["-c", &command, name, ARGS, RESUME, PROMPT]
                .map(str::to_owned)
                .to_vec(),
            ..Self::shell("")
        }
    }

    /// Returns the shell command of an agent without other arguments.
    pub fn shell_command(&self) -> Option<&str> {
        match self.arguments.as_slice() {
            [option, command] if self.program == "/bin/sh" && option == "-c" => Some(command),
            _ => None,
        }
    }

    /// Returns whether a shell runs it.
    pub fn is_shell(&self) -> bool {
        self.program == "/bin/sh"
    }

    /// Returns the program that is started in the end, if that can be known without a shell.
    pub fn shell_program(&self) -> Option<&str> {
        if !self.is_shell() {
            return Some(&self.program);
        }
        crate::shell::program(self.arguments.get(1)?)
    }

    /// Returns whether a call with this session continues it instead of starting a new one.
    pub fn continues(&self, session: &str) -> bool {
        self.resume.is_some() && is_session_id(session)
    }
}

/// Returns whether a text is a valid session id, safe as an argument of a command line.
pub(crate) fn is_session_id(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    text.len() <= 200
        && text.bytes().all(known)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}
