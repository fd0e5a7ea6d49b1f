//! Follows a run that another rekindle works on: what its files say, look by look. It writes nothing.
//!
//! Workers are found by their claims, and what happened by the lines that they and their orchestrator append
//! to their logs. [`Follower::view`] makes of it the same view as the engine itself shows.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_agents::Stream;
use rekindle_model::{Destination, FailureKind, Happened, Standing, Work, WorkTask, WorkflowId};

use crate::StateFolder;
use crate::engine::{
    After, Begin, Change, Progress, Reporter, RunView, Scribe, Steering, WorkerView, standing,
    standing_with,
};
use crate::output_log::last_line;
use crate::port::{FilePort, Held, Position};

/// How long a limit without a known end is waited for.
const LIMIT_WAIT: Duration = Duration::from_secs(300);

/// Follows one run.
pub struct Follower<'a> {
    port: FilePort,
    scribe: &'a dyn Scribe,
    /// The folder of the orchestrators' logs, absolute, and where it is in the project.
    logs: Option<Utf8PathBuf>,
    project: Utf8PathBuf,
    /// How far each log of an orchestrator is read.
    positions: BTreeMap<Utf8PathBuf, Position>,
    /// The newest attempt of each task that is not over.
    attempts: BTreeMap<String, Attempt>,
    /// What is in the logs before the first look is not news.
    has_looked: bool,
    began: Timestamp,
}

/// The newest attempt of a task.
struct Attempt {
    number: u32,
    log: Utf8PathBuf,
    position: Position,
    output: Utf8PathBuf,
    stream: Stream,
    since: Option<Timestamp>,
    is_held: bool,
    output_len: u64,
    last_sign: Timestamp,
}

/// What is new since the last look.
#[derive(Debug, Default)]
pub struct Look {
    /// Attempts that were at work at the first look.
    found: Vec<(String, u32)>,
    /// What happened, by task and attempt.
    happened: Vec<(String, u32, Happened)>,
}

impl Look {
    /// Returns whether nothing happened, so that the record is as it was.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.happened.is_empty()
    }
}

impl<'a> Follower<'a> {
    /// Returns one that has not looked yet; `logs` is the folder of the orchestrators' logs, relative to the
    /// project, if they keep some.
    pub fn new(
        state: &StateFolder,
        id: &WorkflowId,
        logs: Option<Utf8PathBuf>,
        scribe: &'a dyn Scribe,
        now: Timestamp,
    ) -> Self {
        Self {
            port: state.port(id),
            scribe,
            logs,
            project: state.project().to_owned(),
            positions: BTreeMap::new(),
            attempts: BTreeMap::new(),
            has_looked: false,
            began: now,
        }
    }

    /// Looks at the claims and reads on in the logs.
    pub fn look(&mut self, work: &Work, now: Timestamp) -> Look {
        let mut look = Look::default();
        let is_left = |task: &&WorkTask| match task.standing {
            Standing::Open | Standing::AtWork | Standing::Blocked => true,
            Standing::Skipped | Standing::Done => false,
        };
        let begun = self.port.begun();
        for task in work.tasks.iter().filter(is_left) {
            if begun.has(&task.id) {
                self.look_at(&task.id, now, &mut look);
            }
        }
        self.read_orchestrators(&mut look);
        self.has_looked = true;
        look
    }

    fn look_at(&mut self, task: &str, now: Timestamp, look: &mut Look) {
        let newest = self.port.newest(task);
        let known = self.attempts.get(task).map_or(0, |known| known.number);
        if newest > known {
            let Some(order) = self.port.order(task, newest) else {
                return;
            };
            let folder = self.port.attempt_folder(task, newest);
            let attempt = Attempt {
                number: newest,
                log: order.log,
                position: Position::default(),
                output: folder.join("output.log"),
                stream: Stream::of(&order.stream).unwrap_or_default(),
                since: None,
                is_held: false,
                output_len: 0,
                last_sign: now,
            };
            self.attempts.insert(task.to_owned(), attempt);
        }
        let Some(attempt) = self.attempts.get_mut(task) else {
            return;
        };
        let was_held = attempt.is_held;
        // Whether it is held is asked first: what is written until then is still read.
        let held = self.port.held(task, attempt.number);
        attempt.is_held = matches!(held, Ok(Held::By(_)));
        if let Ok(Held::By(Some(holder))) = held {
            attempt.since = holder.since.parse().ok();
        }
        if !attempt.is_held && !was_held && attempt.position != Position::default() {
            return;
        }
        let (lines, position) = self.port.read(&attempt.log, attempt.position);
        let output = attempt.output.symlink_metadata();
        let len = output.map_or(0, |found| found.len());
        if position != attempt.position || len != attempt.output_len {
            attempt.last_sign = now;
        }
        attempt.position = position;
        attempt.output_len = len;
        let number = attempt.number;
        if self.has_looked {
            let heard = lines.iter().filter_map(|line| self.scribe.heard(line));
            let of_it = heard.filter(|(of, attempt, _)| of == task && *attempt == number);
            look.happened.extend(of_it);
        } else if attempt.is_held {
            look.found.push((task.to_owned(), number));
        }
    }

    fn read_orchestrators(&mut self, look: &mut Look) {
        let Some(folder) = &self.logs else {
            return;
        };
        let path = self.project.join(folder);
        let names = rekindle_fs::list_within(&self.project, &path).unwrap_or_default();
        let mut names: Vec<String> = names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect();
        names.sort_unstable();
        for name in names {
            let log = folder.join(name);
            let from = self.positions.get(&log).copied().unwrap_or_default();
            let (lines, position) = self.port.read(&log, from);
            self.positions.insert(log, position);
            if self.has_looked {
                let heard = lines.iter().filter_map(|line| self.scribe.heard(line));
                // A limit was reported by the attempt itself.
                let is_new = |happened: &Happened| !matches!(happened, Happened::Limited { .. });
                look.happened
                    .extend(heard.filter(|(_, _, happened)| is_new(happened)));
            }
        }
    }

    /// Reports what a look found; `work` is the record as it is now.
    pub fn tell(&self, look: &Look, work: &Work, reporter: &mut Reporter<'_>) {
        for (task, attempt) in &look.found {
            reporter.progress(&Progress::Adopted(task, *attempt));
        }
        for (task, attempt, happened) in &look.happened {
            let (task, attempt) = (task.as_str(), *attempt);
            let after = || after(work, task);
            let progress = match happened {
                Happened::Claimed => Progress::Started(task, attempt, Begin::Start),
                Happened::Failed {
                    reason,
                    kind: FailureKind::Start,
                } => Progress::Failed(task, attempt, reason, After::Resume),
                Happened::Failed { reason, .. } => Progress::Failed(task, attempt, reason, after()),
                Happened::Limited { until } => {
                    let until = until.as_ref().and_then(|time| self.scribe.until(time));
                    Progress::Limited(task, attempt, until.unwrap_or(LIMIT_WAIT))
                }
                Happened::Interrupted(kill) => Progress::Interrupted(task, attempt, *kill, after()),
                Happened::Completed { commit } => {
                    Progress::Landed(task, attempt, commit, Change::Something)
                }
                Happened::Implemented(_) if work.destination == Destination::Worktree => {
                    Progress::Finished(task, attempt)
                }
                Happened::Reopened { .. } => Progress::Reopened(task),
                Happened::Started { .. }
                | Happened::Beat { .. }
                | Happened::Session { .. }
                | Happened::Cost { .. }
                | Happened::Ended(_)
                | Happened::Implemented(_)
                | Happened::Stopped { .. }
                | Happened::Blocked { .. } => continue,
            };
            reporter.progress(&progress);
        }
    }

    /// Shows the run as it is now.
    pub fn view(&self, work: &Work, now: Timestamp, reporter: &mut Reporter<'_>) {
        let at_work = |task: &WorkTask| {
            let attempt = self.attempts.get(&task.id)?;
            attempt.is_held.then_some(attempt)
        };
        let running = work.tasks.iter().enumerate();
        let running = running.filter_map(|(index, task)| Some((index, at_work(task)?.number)));
        let (tally, held_back) = standing_with(work, running);
        let since = |time: Timestamp| Duration::try_from(now.duration_since(time));
        let workers = work.tasks.iter().filter_map(|task| {
            let attempt = at_work(task)?;
            Some(WorkerView {
                task: task.id.clone(),
                title: task.title.clone(),
                attempt: attempt.number,
                elapsed: since(attempt.since.unwrap_or(now)).unwrap_or_default(),
                silent: since(attempt.last_sign).unwrap_or_default(),
                last_line: last_line(&attempt.output, attempt.stream),
            })
        });
        reporter.view(&RunView {
            tally,
            workers: workers.collect(),
            held_back,
            steering: Steering::Watching,
            elapsed: since(self.began).unwrap_or_default(),
        });
    }
}

/// Returns what follows for a task whose attempt came to nothing, by the record.
fn after(work: &Work, task: &str) -> After {
    if work.destination == Destination::Worktree {
        return After::Protocol;
    }
    let (_, given_up) = standing(work);
    if given_up.iter().any(|given_up| given_up.task == task) {
        After::Person
    } else {
        After::Again
    }
}
