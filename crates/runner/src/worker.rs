//! A worker: a small supervisor process of one attempt, which outlives the orchestrator.
//!
//! It holds the attempt's claim, creates the worktree, starts the agent, records
//! events in its own log, ends the agent's whole process tree if it must,
//! runs the checks, turns the worktree into a commit, and reports the
//! delivery last. When it dies, the kernel releases its claim.

mod copied;
mod delivery;
mod done;
mod furnish;
mod place;
mod slot;
mod submodule;
mod supervise;
mod worktree;

pub(crate) use self::worktree::{is_ready, make_anew};

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::{Exit, Stream, StreamEnd, StreamReader, Verdict, judge};
use rekindle_fs::Lock;
use rekindle_git::{ObjectId, OwnWorktree, Program, Repo, RepoPath, Version};
use rekindle_model::{FailureKind, Happened, Kill, ProtocolName, Stage, Victim, WorkflowId};
use rekindle_wire::order::Order;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::done::Done;
use self::supervise::Ended;
use crate::output_log::OutputLog;
use crate::port::{FilePort, read_order};
use crate::{Error, Scribe, StateFolder};

/// The default interval of heartbeats; the shortest limit of any protocol is five minutes.
pub(crate) const BEAT: Duration = Duration::from_secs(30);
/// The number of missed heartbeats after which a worker counts as silent.
const BEATS_OF_A_LIMIT: u32 = 10;

/// Returns the interval of heartbeats for a given limit of silence.
pub(crate) fn beat_within(limit: Duration) -> Duration {
    BEAT.min(limit / BEATS_OF_A_LIMIT)
}

/// Does one attempt as its order says. Returns after the last report.
///
/// `scribe` returns the protocol's texts for events, `key` is the path of the user's key.
///
/// # Errors
/// [`Error::NoOrder`] for an order that was not written for its project, or that is elsewhere.
pub fn work(
    order_file: &Utf8Path,
    key: Option<&Utf8Path>,
    protocols: &'static [ProtocolName],
    scribe: &dyn Fn(ProtocolName) -> Option<Box<dyn Scribe>>,
) -> Result<(), Error> {
    let no_order = || Error::NoOrder {
        path: order_file.to_owned(),
    };
    let (order, id, state) = ours(order_file, key, protocols).ok_or_else(no_order)?;
    let scribe = scribe(id.protocol).ok_or_else(no_order)?;
    // A session of its own: the end of the terminal or of the orchestrator does not end the work.
    rustix::process::setsid().ok();
    // Orphaned descendants become our children, so that none can escape.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).ok();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    let port = state.port(&id);
    let outcome = runtime.block_on(attempt(&order, &port, &state, scribe.as_ref()));
    runtime.shutdown_background();
    outcome
}

/// Reads an order that has our seal at this very place.
fn ours(
    file: &Utf8Path,
    key: Option<&Utf8Path>,
    protocols: &'static [ProtocolName],
) -> Option<(Order, WorkflowId, StateFolder)> {
    let told = read_order(file)?;
    let id = told.id(protocols)?;
    let state = StateFolder::of(&told.project, key, protocols);
    let port = state.port(&id);
    let is_here = port.order_path(&told.task, told.attempt) == file;
    let order = port.order(&told.task, told.attempt).filter(|_| is_here)?;
    Some((order, id, state))
}

async fn attempt(
    order: &Order,
    port: &FilePort,
    state: &StateFolder,
    scribe: &dyn Scribe,
) -> Result<(), Error> {
    let lock = match port.hold(order, scribe.stamp()) {
        Ok(lock) => lock,
        // Somebody else does this very attempt: nothing is left to do.
        Err(rekindle_fs::LockError::Held { .. }) => return Ok(()),
        Err(error @ rekindle_fs::LockError::Unusable(_)) => return Err(error.into()),
    };
    if port.newest(&order.task) > order.attempt {
        return Ok(());
    }
    let worker = Worker {
        order,
        scribe,
        port,
        state,
        main: Repo::at(&git(order), order.project.clone()),
    };
    let _slot = match worker.slot() {
        // The orchestrator took the lock for us.
        Some(slot) if Lock::is_inherited(&slot.lock_path()) => None,
        Some(slot) => match slot.take(&order.task, scribe.stamp())? {
            Some(lock) => Some(lock),
            // Another attempt is in the worktree.
            None => return Ok(()),
        },
        None => None,
    };
    // An error of the worker is reported as a failure with a reason, since silence would look like a kill.
    let last = worker
        .run()
        .await
        .unwrap_or_else(|error| failed(format!("the worker failed: {error}")));
    if let (Some(place), Happened::Failed { reason, .. }) = (&order.place, &last) {
        // Only for later investigation; the failure itself is in the record.
        worker.leave_evidence(place, Err(reason.clone())).ok();
    }
    // The report of an attempt that was given up must not count, and its claim is no longer ours.
    if port.newest(&order.task) == order.attempt && lock.verify().is_ok() {
        worker.say(&last)?;
    }
    Ok(())
}

fn git(order: &Order) -> Program {
    let (path, [major, minor, patch]) = &order.git;
    let version = Version {
        major: *major,
        minor: *minor,
        patch: *patch,
    };
    Program::checked(path.clone().into_std_path_buf(), version).for_work()
}

struct Worker<'a> {
    order: &'a Order,
    scribe: &'a dyn Scribe,
    port: &'a FilePort,
    state: &'a StateFolder,
    /// The project, whose repository has the worktree.
    main: Repo,
}

impl Worker<'_> {
    fn say(&self, happened: &Happened) -> Result<(), Error> {
        say(self.order, self.port, self.scribe, happened)
    }

    async fn run(&self) -> Result<Happened, Error> {
        let base = ObjectId::parse(&self.order.base)?;
        let mut stop = signal(SignalKind::terminate()).map_err(Error::Runtime)?;
        let (done, mut output) = if let Some(done) = self.done_before() {
            let stage = Stage::Verifying;
            self.say(&Happened::Beat { stage })?;
            (done, OutputLog::new(self.output(), self.redactor()))
        } else {
            self.make_ready(&base)?;
            // The files that were brought into the worktree have secrets that it masks.
            let mut output = OutputLog::new(self.output(), self.redactor());
            match self.implement(&mut stop, &mut output).await? {
                Ok(done) => (done, output),
                Err(happened) => return Ok(happened),
            }
        };
        if let Some(failed) = self.idle(&base, &done)? {
            return Ok(failed);
        }
        if let Some(failed) = self.check(&done, &mut stop, &mut output).await? {
            return Ok(failed);
        }
        if let Some(place) = &self.order.place {
            return self.deliver_place(place, &base, done);
        }
        let delivered = self.deliver(&base, done)?;
        self.remove_delivered(&delivered, &mut stop, &mut output)
            .await?;
        Ok(delivered)
    }

    /// Returns where the output of agent and checks is kept.
    fn output(&self) -> Utf8PathBuf {
        let order = self.order;
        let folder = self.port.attempt_folder(&order.task, order.attempt);
        folder.join("output.log")
    }

    fn limit(&self) -> Option<Duration> {
        self.order.timeout.map(Duration::from_secs)
    }

    /// Prepares the worktree for the agent.
    fn make_ready(&self, base: &ObjectId) -> Result<(), Error> {
        self.say(&Happened::Claimed)?;
        match (&self.order.place, self.slot()) {
            _ if self.order.goes_on => self.keep()?,
            (Some(place), _) => self.prepare_place(place, base)?,
            (None, Some(slot)) => self.prepare_slot(&slot, base)?,
            (None, None) => self.prepare(base)?,
        }
        self.say(&Happened::Started {
            base: self.order.base.clone(),
        })
    }

    /// Runs the agent. The error is what is to be reported instead of work.
    async fn implement(
        &self,
        stop: &mut Signal,
        output: &mut OutputLog,
    ) -> Result<Result<Done, Happened>, Error> {
        let mut reader = StreamReader::new(Stream::of(&self.order.stream).unwrap_or(Stream::Plain));
        if self.order.place.is_none()
            && let Some(ended) = self.set_up(stop, output).await?
        {
            return Ok(Err(ended));
        }
        let mut session: Option<String> = None;
        let mut cost: Option<u64> = None;
        let ended = self
            .supervise(
                &self.order.agent,
                Stage::Implementing,
                self.limit(),
                stop,
                output,
                &mut |line| {
                    let news = reader.push_line(line).unwrap_or_default();
                    // Recorded at once: after a crash it is all that is left of the agent's conversation,
                    // and its cost counts however the attempt ends.
                    if let Some(id) = news.session.filter(|id| session.as_ref() != Some(id)) {
                        session = Some(id.clone());
                        self.say(&Happened::Session { id }).ok();
                    }
                    let told = news.cost_usd.map(microdollars);
                    if let Some(microdollars) = told.filter(|told| Some(*told) != cost) {
                        cost = Some(microdollars);
                        self.say(&Happened::Cost { microdollars }).ok();
                    }
                },
            )
            .await?;
        let exit = match ended {
            Ended::Exit(exit) => Some(exit),
            Ended::TimedOut | Ended::Stopped | Ended::NotStarted(_) => None,
        };
        let verdict = match ended {
            // A shell reports with these that it cannot execute or find what it was to run.
            Ended::Exit(Exit::Code(code @ (126 | 127))) if reader.summary().ended.is_none() => {
                let said = crate::output_log::last_line(&self.output(), Stream::Plain);
                return Ok(Err(not_started(format!("exit code {code}: {said}"))));
            }
            Ended::Exit(exit) => judge(reader.summary(), exit),
            // It may hang after its last report, which counts nevertheless.
            Ended::TimedOut if reader.summary().ended == Some(StreamEnd::Success) => {
                Verdict::Succeeded
            }
            Ended::TimedOut => return Ok(Err(self.timed_out())),
            Ended::Stopped => return Ok(Err(Happened::Stopped { killed: None })),
            Ended::NotStarted(reason) => return Ok(Err(not_started(reason))),
        };
        Ok(match verdict {
            Verdict::Succeeded => Ok(self.done(reader.summary(), exit)?),
            Verdict::Failed(reason) => Err(failed(reason)),
            Verdict::Limited { until } => Err(Happened::Limited { until }),
            // Killed from outside: not a report of the agent, so not its failure.
            Verdict::Killed(signal) => Err(killed(Victim::Agent, signal)),
        })
    }

    /// Runs the checks of the work. Returns what is to be reported instead of the work.
    async fn check(
        &self,
        done: &Done,
        stop: &mut Signal,
        output: &mut OutputLog,
    ) -> Result<Option<Happened>, Error> {
        for check in &self.order.checks {
            let ended = self
                .supervise(
                    check,
                    Stage::Verifying,
                    self.limit(),
                    stop,
                    output,
                    &mut |_| {},
                )
                .await?;
            let shown = check.arguments.last().map_or("", String::as_str);
            return Ok(Some(match ended {
                Ended::Exit(Exit::Code(0)) => continue,
                Ended::Exit(Exit::Code(code)) => {
                    // What an agent was not allowed to do is why its work does not pass.
                    let denied = done.denied.as_ref();
                    let denied = denied.map(|tool| format!("`{tool}` was not allowed; "));
                    let reason = format!(
                        "{}the check `{shown}` ended with exit code {code}",
                        denied.unwrap_or_default()
                    );
                    failed(reason)
                }
                Ended::TimedOut => self.timed_out(),
                // Stopped by a person or killed from outside: says nothing about the work.
                Ended::Stopped => Happened::Stopped { killed: None },
                Ended::Exit(Exit::Signal(signal)) => killed(Victim::Check, signal),
                Ended::NotStarted(reason) => failed(format!("the check `{shown}`: {reason}")),
            }));
        }
        Ok(None)
    }

    /// Returns the worktree, if it is the one that the repository has for this attempt.
    fn own(&self) -> Result<OwnWorktree, Error> {
        let (program, order) = (self.main.program(), self.order);
        Ok(OwnWorktree::open(
            program,
            &order.common_dir,
            &order.worktree,
        )?)
    }

    fn timed_out(&self) -> Happened {
        Happened::Failed {
            reason: format!(
                "it took longer than {} s",
                self.order.timeout.unwrap_or_default()
            ),
            kind: FailureKind::Timeout,
        }
    }
}

/// Records an event of an attempt, in the protocol's words.
pub(crate) fn say(
    order: &Order,
    port: &FilePort,
    scribe: &dyn Scribe,
    happened: &Happened,
) -> Result<(), Error> {
    // If the clock was set back since the order was written, the record must still come after it.
    if let Some(after) = order.after.as_ref().and_then(|after| after.parse().ok()) {
        scribe.follow(after);
    }
    let record = scribe.record(
        &order.workflow,
        &order.actor,
        &order.task,
        order.attempt,
        happened,
    );
    // The host's record comes first: the next reader relies on it.
    if let Some(place) = &order.place {
        crate::mirror::update(&place.mirror, scribe, happened)?;
    }
    port.append(&order.log, &record)
}

/// Returns the folders of a project in a worktree that belong to the run and never land.
pub(crate) fn own_files(folder: &Utf8Path, own_folders: &[&str]) -> Vec<String> {
    let names = own_folders.iter().chain(&[".rekindle"]);
    names.map(|name| folder.join(name).into_string()).collect()
}

/// Returns names as paths of a repository.
pub(crate) fn paths(names: &[String]) -> Vec<RepoPath> {
    let names = names.iter().map(String::as_str);
    names.map(RepoPath::from).collect()
}

/// Returns where agent and checks run in a worktree: the project's folder, which is created if the commit lacks it.
pub(crate) fn working_folder(
    worktree: &Utf8Path,
    folder: &Utf8Path,
) -> std::io::Result<Utf8PathBuf> {
    // The commit may have a link of this name, which must not lead an agent out of its worktree.
    let path = rekindle_fs::confine(worktree, folder).map_err(std::io::Error::other)?;
    rekindle_fs::ensure_dir(&path).map_err(std::io::Error::other)?;
    Ok(path)
}

/// Returns the ref that keeps an attempt's commit until it has landed.
pub(crate) fn work_ref(workflow: &str, task: &str, attempt: u32) -> String {
    // The name must be valid in git for any id: an id such as `T1.lock` must be able to land.
    format!(
        "refs/rekindle/work/{}/{}/{attempt}",
        rekindle_git::ref_part(workflow),
        rekindle_git::ref_part(task)
    )
}

/// Converts dollars to millionths, which can be added without error.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cost is positive and far below the limit"
)]
fn microdollars(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

fn failed(reason: String) -> Happened {
    Happened::Failed {
        reason,
        kind: FailureKind::Work,
    }
}

fn not_started(reason: String) -> Happened {
    Happened::Failed {
        reason,
        kind: FailureKind::Start,
    }
}

fn killed(victim: Victim, signal: i32) -> Happened {
    let signal = Some(signal);
    Happened::Stopped {
        killed: Some(Kill { victim, signal }),
    }
}
