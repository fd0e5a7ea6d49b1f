//! A rekindle that was started: when it first did something, how it ended, and what it said.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::interruption::{Interruption, TICK};
use crate::{Error, processes};

/// How many characters of what it said are told.
const MOST_TOLD: usize = 2000;

/// How often somebody looks whether the outputs of what was killed have ended.
const MOST_LOOKS: usize = 200;

/// A living rekindle; its outputs are read all the time, so that it never waits for us.
#[derive(Debug)]
pub(crate) struct Orchestrator {
    child: Child,
    begun: Instant,
    patience: Patience,
    stdout: JoinHandle<Heard>,
    stderr: JoinHandle<String>,
}

/// How long a rekindle may take, and who is ended with one that takes longer.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    /// What it and everything that it has started have inherited.
    pub(crate) mark: String,
}

/// What came on standard output.
#[derive(Debug, Default)]
struct Heard {
    /// When a worker was started or found at work, or work landed.
    first_deed: Option<Instant>,
    last_line: String,
}

/// How a rekindle ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// From its start to the first thing it did.
    pub(crate) to_first_deed: Option<Duration>,
    /// Its answer, if it was asked for one.
    pub(crate) last_line: String,
    /// Why, if it did not succeed.
    pub(crate) said: String,
}

/// The ways in which a rekindle ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Succeeded,
    Failed,
    /// It did not, and was killed with everything that it had started.
    Never,
}

impl Orchestrator {
    pub(crate) fn start(command: &mut Command, patience: Patience) -> Result<Self, Error> {
        let begun = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Error::system("start rekindle"))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Ok(Self {
            child,
            begun,
            patience,
            stdout: std::thread::spawn(move || stdout.map(hear).unwrap_or_default()),
            stderr: std::thread::spawn(move || {
                let text = stderr.and_then(|pipe| std::io::read_to_string(pipe).ok());
                text.unwrap_or_default()
            }),
        })
    }

    /// Waits until it has ended.
    pub(crate) fn wait(self, interruption: &Interruption) -> Result<Ended, Error> {
        self.follow(interruption, || {})
    }

    /// Waits until it has ended and does something at every look; one that takes too long is killed.
    pub(crate) fn follow(
        mut self,
        interruption: &Interruption,
        mut meanwhile: impl FnMut(),
    ) -> Result<Ended, Error> {
        loop {
            let status = self.child.try_wait();
            let status = status.map_err(Error::system("wait for rekindle"))?;
            // Something that it has left may hold its outputs, which is no end either.
            if let Some(status) = status.filter(|_| self.is_silent()) {
                return Ok(self.ended(status));
            }
            interruption.check()?;
            if self.begun.elapsed() >= self.patience.limit {
                return Ok(self.given_up());
            }
            std::thread::sleep(TICK);
            meanwhile();
        }
    }

    /// Returns whether its outputs have come to their end.
    fn is_silent(&self) -> bool {
        self.stdout.is_finished() && self.stderr.is_finished()
    }

    fn ended(self, status: ExitStatus) -> Ended {
        let end = if status.success() {
            End::Succeeded
        } else {
            End::Failed
        };
        let (begun, (heard, stderr)) = (self.begun, self.outputs());
        Ended {
            end,
            to_first_deed: heard.first_deed.map(|at| at.duration_since(begun)),
            said: reason(&heard.last_line, &stderr).unwrap_or_else(|| status.to_string()),
            last_line: heard.last_line,
        }
    }

    /// Kills it with everything that it has started, and tells what they were about.
    fn given_up(mut self) -> Ended {
        let Patience { limit, mark } = self.patience.clone();
        let at_work = processes::described(&mark);
        processes::end(&mark);
        self.child.kill().and_then(|()| self.child.wait()).ok();
        for _ in 0..MOST_LOOKS {
            if self.is_silent() {
                break;
            }
            std::thread::sleep(TICK);
        }
        let (begun, (heard, stderr)) = (self.begun, self.outputs());
        let said = reason(&heard.last_line, &stderr).unwrap_or_else(|| "nothing".to_owned());
        Ended {
            end: End::Never,
            to_first_deed: heard.first_deed.map(|at| at.duration_since(begun)),
            said: format!(
                "it did not end within {} s and was killed; there were: {at_work}; it said last: {said}",
                limit.as_secs()
            ),
            last_line: heard.last_line,
        }
    }

    /// Returns what came on both outputs; of one that somebody still holds, nothing.
    fn outputs(self) -> (Heard, String) {
        (read(self.stdout), read(self.stderr))
    }
}

fn read<T: Default>(reader: JoinHandle<T>) -> T {
    if reader.is_finished() {
        reader.join().unwrap_or_default()
    } else {
        T::default()
    }
}

fn hear(pipe: impl Read) -> Heard {
    let mut heard = Heard::default();
    for line in BufReader::new(pipe).lines().map_while(Result::ok) {
        if line.contains("\"rekindle.progress/1\"") {
            heard.first_deed.get_or_insert_with(Instant::now);
        }
        heard.last_line = line;
    }
    heard
}

/// Returns why a rekindle that was asked for JSON failed: the words of its error, or whatever it said last.
fn reason(last_line: &str, stderr: &str) -> Option<String> {
    let object: Value = serde_json::from_str(last_line).unwrap_or_default();
    let message = object.pointer("/error/message").and_then(Value::as_str);
    let causes = object.pointer("/error/causes").and_then(Value::as_array);
    let causes = causes.into_iter().flatten().filter_map(Value::as_str);
    let in_words = message.map(|message| {
        let words: Vec<&str> = std::iter::once(message).chain(causes).collect();
        words.join(": ")
    });
    let said = [
        in_words.as_deref().unwrap_or(last_line).trim(),
        stderr.trim(),
    ];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
    let told = said.join("; ").chars().take(MOST_TOLD).collect();
    (!said.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a script; its processes can be told from those of other tests by the mark.
    fn ended(script: &str, mark: &str, limit: Duration) -> Ended {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).env(processes::MARK, mark);
        let patience = Patience {
            limit,
            mark: mark.to_owned(),
        };
        let begun = Orchestrator::start(&mut shell, patience).unwrap();
        begun.wait(&Interruption::default()).unwrap()
    }

    #[test]
    fn the_reason_is_never_empty() {
        let failed = |script: &str| {
            let ended = ended(script, "the-reason", Duration::MAX);
            assert_eq!(ended.end, End::Failed);
            ended.said
        };
        assert_eq!(failed("exit 1"), "exit status: 1");
        assert_eq!(failed("echo no >&2; exit 1"), "no");
        assert_eq!(
            failed("echo '{\"a\":1}'; echo no >&2; exit 1"),
            "{\"a\":1}; no"
        );
        let error =
            r#"{"schema":"rekindle.error/1","error":{"message":"broken","causes":["it fell"]}}"#;
        assert_eq!(
            failed(&format!("echo progress; echo '{error}'; exit 1")),
            "broken: it fell"
        );
    }

    #[test]
    fn one_that_never_ends_is_killed_and_it_is_told_what_was_going_on() {
        // Without `exec` a shell may stay beside what it waits for, and both are to go.
        let ended = ended("sleep 1000; exit 0", "never-ends", Duration::ZERO);
        assert_eq!(ended.end, End::Never);
        let said = ended.said;
        let begin = "it did not end within 0 s and was killed; there were: process ";
        assert!(said.starts_with(begin), "{said}");
        assert!(said.contains("`sh -c sleep 1000; exit 0`"), "{said}");
        assert!(said.ends_with("; it said last: nothing"), "{said}");
        assert_eq!(processes::living("never-ends"), []);
    }

    /// What it has left behind and holds its outputs would be waited for as well.
    #[test]
    fn one_whose_outputs_never_end_is_given_up() {
        // Long enough for the shell to end before it.
        let limit = Duration::from_millis(300);
        let ended = ended("sleep 1000 & exit 0", "never-silent", limit);
        assert_eq!(ended.end, End::Never);
        assert_eq!(processes::living("never-silent"), []);
    }
}
