//! What a scripted agent is told by its environment and its arguments, and how it ends.

use std::io;
use std::process::ExitCode;

use camino::{Utf8Path, Utf8PathBuf};

use super::player::Player;
use super::{Error, Script, Signal};

/// The exit code of an agent that was to die by a signal it ignores.
const SURVIVED: u8 = 95;

/// What a scripted agent is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The script, or a folder of scripts.
    pub script: Utf8PathBuf,
    /// The run.
    pub run: String,
    /// The task.
    pub task: String,
    /// The attempt.
    pub attempt: String,
    /// Where it works.
    pub worktree: Utf8PathBuf,
    /// The session that it is asked to continue.
    pub session: Option<String>,
}

/// How a scripted agent is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code.
    Exit(u8),
    /// By this signal.
    Die(Signal),
}

impl Start {
    /// Takes it from the environment and the arguments; `folder` is where the process stands.
    pub fn new(
        variable: impl Fn(&str) -> Option<String>,
        arguments: &[String],
        folder: Utf8PathBuf,
    ) -> Result<Self, Error> {
        let script = variable("FAKE_AGENT_SCRIPT").ok_or(Error::NotSet("FAKE_AGENT_SCRIPT"))?;
        let told = |name: &str| variable(name).unwrap_or_default();
        let resumed = arguments.iter().position(|word| word == "--resume");
        let worktree = variable("REKINDLE_WORKTREE").map_or(folder, Utf8PathBuf::from);
        Ok(Self {
            script: script.into(),
            run: told("REKINDLE_RUN"),
            task: told("REKINDLE_TASK"),
            attempt: told("REKINDLE_ATTEMPT"),
            worktree,
            session: resumed.and_then(|at| arguments.get(at + 1)).cloned(),
        })
    }

    /// Does what the script says.
    pub fn play(
        &self,
        stdin: &mut dyn io::Read,
        stdout: &mut dyn io::Write,
        stderr: &mut dyn io::Write,
    ) -> Result<Ending, Error> {
        let path = self.script_file()?;
        let text = fs_err::read_to_string(&path)?;
        let script = Script::parse(&text, &|word| self.filled(word))?;
        let folder = path.parent().unwrap_or(Utf8Path::new("/"));
        Player::new(self, folder, stdin, stdout, stderr).play(&script)
    }

    /// Returns the session that is continued, else one that the task and attempt make.
    pub(super) fn session(&self) -> String {
        let word = |text: &str| text.replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        let made = || format!("fake-{}-{}", word(&self.task), word(&self.attempt));
        self.session.clone().unwrap_or_else(made)
    }

    fn script_file(&self) -> Result<Utf8PathBuf, Error> {
        if !self.script.is_dir() {
            return Ok(self.script.clone());
        }
        // A task's id is not ours: it must not lead out of the folder.
        let task = self.task.replace('/', "_");
        let names = [
            format!("{task}.{}", self.attempt),
            task,
            "default".to_owned(),
        ];
        let mut paths = names
            .iter()
            .filter(|name| !name.is_empty() && !name.starts_with('.'))
            .map(|name| self.script.join(name));
        paths.find(|path| path.is_file()).ok_or(Error::NoScript {
            task: self.task.clone(),
            folder: self.script.clone(),
        })
    }

    /// Replaces the variables; any other `$` stays.
    fn filled(&self, text: &str) -> String {
        let variables = [
            ("$TASK", self.task.clone()),
            ("$ATTEMPT", self.attempt.clone()),
            ("$RUN", self.run.clone()),
            ("$WORKTREE", self.worktree.to_string()),
            ("$SESSION", self.session()),
            ("$PID", std::process::id().to_string()),
        ];
        let mut filled = String::new();
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            let (before, from) = rest.split_at(dollar);
            filled.push_str(before);
            let known = variables
                .iter()
                .find_map(|(name, value)| Some((from.strip_prefix(name)?, value.as_str())));
            let (after, value) = known.unwrap_or((&from[1..], "$"));
            filled.push_str(value);
            rest = after;
        }
        filled + rest
    }
}

/// Ends the process so, or returns the code to end it with.
pub fn end_as(ending: Ending) -> ExitCode {
    let signal = match ending {
        Ending::Exit(code) => return ExitCode::from(code),
        Ending::Die(signal) => signal,
    };
    let signal = match signal {
        Signal::Hup => rustix::process::Signal::HUP,
        Signal::Int => rustix::process::Signal::INT,
        Signal::Quit => rustix::process::Signal::QUIT,
        Signal::Abrt => rustix::process::Signal::ABORT,
        Signal::Kill => rustix::process::Signal::KILL,
        Signal::Term => rustix::process::Signal::TERM,
    };
    // It can only fail for a process that is not ours.
    rustix::process::kill_process(rustix::process::getpid(), signal).ok();
    // Only a signal that is ignored lets us come here.
    ExitCode::from(SURVIVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(task: &str, attempt: &str) -> Start {
        let variable = |name: &str| {
            let value = match name {
                "FAKE_AGENT_SCRIPT" => "/scripts",
                "REKINDLE_RUN" => "run-1",
                "REKINDLE_TASK" => task,
                "REKINDLE_ATTEMPT" => attempt,
                "REKINDLE_WORKTREE" => "/wt",
                _ => return None,
            };
            Some(value.to_owned())
        };
        Start::new(variable, &[], "/here".into()).unwrap()
    }

    #[test]
    fn variables_are_replaced_once_and_others_stay() {
        let start = start("$RUN", "2");
        assert_eq!(
            start.filled("$TASK.$ATTEMPT in $WORKTREE costs 5$ $HOME $"),
            "$RUN.2 in /wt costs 5$ $HOME $"
        );
        assert_eq!(start.filled("$SESSION"), "fake--RUN-2");
    }

    #[test]
    fn the_session_is_the_one_that_is_continued() {
        let variable = |name: &str| (name == "FAKE_AGENT_SCRIPT").then(|| "x".to_owned());
        let words = ["-p", "--resume", "abc"].map(str::to_owned);
        let start = Start::new(variable, &words, "/here".into()).unwrap();
        assert_eq!(start.session(), "abc");
        assert_eq!(start.worktree, "/here");
        let none = Start::new(|_| None, &[], "/here".into()).unwrap_err();
        assert_eq!(none.to_string(), "`FAKE_AGENT_SCRIPT` is not set");
    }

    #[test]
    fn the_script_of_the_attempt_goes_before_the_tasks_and_the_default() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(scratch.path()).unwrap();
        for name in ["T1.2", "T1", "default", "a_b"] {
            fs_err::write(folder.join(name), "hang").unwrap();
        }
        let chosen = |task: &str, attempt: &str| {
            let mut start = start(task, attempt);
            folder.clone_into(&mut start.script);
            start.script_file().unwrap().file_name().map(str::to_owned)
        };
        assert_eq!(chosen("T1", "2").as_deref(), Some("T1.2"));
        assert_eq!(chosen("T1", "1").as_deref(), Some("T1"));
        assert_eq!(chosen("T2", "1").as_deref(), Some("default"));
        assert_eq!(chosen("a/b", "1").as_deref(), Some("a_b"));
        assert_eq!(chosen("", "").as_deref(), Some("default"));
        fs_err::remove_file(folder.join("default")).unwrap();
        let mut start = start("T2", "1");
        folder.clone_into(&mut start.script);
        assert!(matches!(start.script_file(), Err(Error::NoScript { .. })));
    }
}
