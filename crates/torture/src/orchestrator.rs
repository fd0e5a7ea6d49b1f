//! An orchestrator that was started: when it first did something, how it ended, and what it said.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Error;
use crate::interruption::{Interruption, TICK};

/// How many characters of what it said are told.
const MOST_TOLD: usize = 2000;

/// A living orchestrator; its outputs are read all the time, so that it never waits for us.
#[derive(Debug)]
pub(crate) struct Orchestrator {
    child: Child,
    begun: Instant,
    stdout: Receiver<Heard>,
    stderr: Receiver<String>,
}

/// What came on standard output.
#[derive(Debug, Default)]
struct Heard {
    /// When a worker was started or found at work, or work landed.
    first_deed: Option<Instant>,
    last_line: String,
}

/// How an orchestrator ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) succeeded: bool,
    /// From its start to the first thing it did.
    pub(crate) to_first_deed: Option<Duration>,
    /// Why, if it did not succeed.
    pub(crate) said: String,
}

impl Orchestrator {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Error> {
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
            stdout: listen(move || stdout.map(hear).unwrap_or_default()),
            stderr: listen(move || {
                let text = stderr.and_then(|pipe| std::io::read_to_string(pipe).ok());
                text.unwrap_or_default()
            }),
        })
    }

    /// Returns how it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<Ended>, Error> {
        let status = self.child.try_wait();
        let Some(status) = status.map_err(Error::system("wait for rekindle"))? else {
            return Ok(None);
        };
        let heard = self.stdout.recv().unwrap_or_default();
        let stderr = self.stderr.recv().unwrap_or_default();
        Ok(Some(Ended {
            succeeded: status.success(),
            to_first_deed: heard.first_deed.map(|at| at.duration_since(self.begun)),
            said: reason(&heard.last_line, &stderr, status),
        }))
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self, interruption: &Interruption) -> Result<Ended, Error> {
        loop {
            if let Some(ended) = self.ended()? {
                return Ok(ended);
            }
            interruption.check()?;
            std::thread::sleep(TICK);
        }
    }
}

fn listen<T: Send + 'static>(hear: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(hear()).ok());
    receiver
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
fn reason(last_line: &str, stderr: &str, status: ExitStatus) -> String {
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
    if said.is_empty() {
        return status.to_string();
    }
    said.join("; ").chars().take(MOST_TOLD).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_never_empty() {
        let failed = |script: &str| {
            let mut shell = Command::new("sh");
            let begun = Orchestrator::start(shell.args(["-c", script])).unwrap();
            let ended = begun.wait(&Interruption::default()).unwrap();
            assert!(!ended.succeeded);
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
}
