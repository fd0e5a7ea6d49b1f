//! A running rekindle: its first action, its end, and its output.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::interruption::{Interruption, TICK};
use crate::{Error, processes};

/// How much of its output is shown.
const MOST_SHOWN: usize = 2000;

/// How often the outputs of a killed process are checked for their end.
const MOST_LOOKS: usize = 200;

/// A running rekindle; its outputs are read all the time, so that it never waits for us.
#[derive(Debug)]
pub(crate) struct Orchestrator {
    child: Child,
    started: Instant,
    patience: Patience,
    stdout: JoinHandle<Heard>,
    stderr: JoinHandle<String>,
}

/// How long a rekindle may take, and the mark of the processes killed with it.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    /// The mark that it and all its children have inherited.
    pub(crate) mark: String,
}

/// Its standard output.
#[derive(Debug, Default)]
struct Heard {
    /// When it first started or found a worker, or landed work.
    first_deed: Option<Instant>,
    last_line: String,
}

/// How a rekindle ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// The time to its first action.
    pub(crate) to_first_deed: Option<Duration>,
    /// Its JSON answer, if requested.
    pub(crate) last_line: String,
    /// Why it failed.
    pub(crate) said: String,
}

/// The ways in which a rekindle ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Succeeded,
    Failed,
    /// It did not end, and was killed with everything it had started.
    Never,
}

impl Orchestrator {
    pub(crate) fn start(command: &mut Command, patience: Patience) -> Result<Self, Error> {
        let started = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Error::system("start rekindle"))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Ok(Self {
            child,
            started,
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

    /// Waits for its end, with a callback at every check; one that takes too long is killed.
    pub(crate) fn follow(
        mut self,
        interruption: &Interruption,
        mut meanwhile: impl FnMut(),
    ) -> Result<Ended, Error> {
        loop {
            let status = self.child.try_wait();
            let status = status.map_err(Error::system("wait for rekindle"))?;
            // A process that it left may still hold its outputs.
            if let Some(status) = status.filter(|_| self.is_silent()) {
                return Ok(self.ended(status));
            }
            interruption.check()?;
            if self.started.elapsed() >= self.patience.limit {
                return Ok(self.given_up());
            }
            std::thread::sleep(TICK);
            meanwhile();
        }
    }

    /// Returns whether its outputs have ended.
    fn is_silent(&self) -> bool {
        self.stdout.is_finished() && self.stderr.is_finished()
    }

    fn ended(self, status: ExitStatus) -> Ended {
        let end = if status.success() {
            End::Succeeded
        } else {
            End::Failed
        };
        self.report(end, &status.to_string())
    }

    /// Kills it with everything it has started, and reports what they were doing.
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
        let mut ended = self.report(End::Never, "nothing");
        ended.said = format!(
            "it did not end within {} s and was killed; still running: {at_work}; last output: {}",
            limit.as_secs(),
            ended.said
        );
        ended
    }

    /// Returns its end with its outputs; one that is still held is empty.
    fn report(self, end: End, silence: &str) -> Ended {
        let (heard, stderr) = (read(self.stdout), read(self.stderr));
        Ended {
            end,
            to_first_deed: heard.first_deed.map(|at| at - self.started),
            said: reason(&heard.last_line, &stderr).unwrap_or_else(|| silence.to_owned()),
            last_line: heard.last_line,
        }
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

/// Returns why a rekindle failed: the error in its JSON, or its last output.
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
    let shown = said.join("; ").chars().take(MOST_SHOWN).collect();
    (!said.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a script; the mark distinguishes its processes from those of other tests.
    fn ended(script: &str, mark: &str, limit: Duration) -> Ended {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).env(processes::MARK, mark);
        let patience = Patience {
            limit,
            mark: mark.to_owned(),
        };
        let started = Orchestrator::start(&mut shell, patience).unwrap();
        started.wait(&Interruption::default()).unwrap()
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
    fn a_run_that_never_ends_is_killed_and_its_processes_are_reported() {
        // Without `exec` the shell may wait for its child, and both must go.
        let ended = ended("sleep 1000; exit 0", "never-ends", Duration::ZERO);
        assert_eq!(ended.end, End::Never);
        let said = ended.said;
        let begin = "it did not end within 0 s and was killed; still running: process ";
        assert!(said.starts_with(begin), "{said}");
        assert!(said.contains("`sh -c sleep 1000; exit 0`"), "{said}");
        assert!(said.ends_with("; last output: nothing"), "{said}");
        assert_eq!(processes::living("never-ends"), []);
    }

    /// A process that it left behind holds its outputs.
    #[test]
    fn a_run_whose_outputs_never_end_is_given_up() {
        // Long enough for the shell to end before it.
        let limit = Duration::from_millis(300);
        let ended = ended("sleep 1000 & exit 0", "never-silent", limit);
        assert_eq!(ended.end, End::Never);
        assert_eq!(processes::living("never-silent"), []);
    }
}
