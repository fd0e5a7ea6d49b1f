//! A worker: a small supervisor process of one attempt, which outlives the orchestrator.
//!
//! It holds the attempt's claim, makes the worktree, starts the agent, writes
//! down what happens in its own log, ends the agent's whole tree when it must,
//! runs the checks, turns the worktree into a commit, and says last that the
//! work is there. When it dies, the kernel frees its claim.

mod delivery;
mod place;
mod submodule;
mod supervise;
mod worktree;

pub(crate) use self::worktree::{is_ready, make_anew};

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::{Exit, Stream, StreamEnd, StreamReader, Verdict, judge};
use rekindle_git::{ObjectId, OwnWorktree, Program, Repo, RepoPath, Version};
use rekindle_model::{FailureKind, Happened, Kill, ProtocolName, Stage, Victim, WorkflowId};
use rekindle_wire::order::Order;
use tokio::signal::unix::{SignalKind, signal};

use self::supervise::Ended;
use crate::output_log::OutputLog;
use crate::port::{FilePort, read_order};
use crate::{Error, Scribe, StateFolder};

/// How often a sign of life is written; the shortest limit of any protocol is five minutes.
pub(crate) const BEAT: Duration = Duration::from_secs(30);
/// So many signs of life are due before a worker counts as silent.
const BEATS_OF_A_LIMIT: u32 = 10;

/// Returns how often a worker gives a sign of life that is given up after so much silence.
pub(crate) fn beat_within(limit: Duration) -> Duration {
    BEAT.min(limit / BEATS_OF_A_LIMIT)
}

/// Does one attempt as its order says. Returns when the last word is written.
///
/// `scribe` returns who gives the protocol's words to what happens, `key` is where the user's key is.
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
    let (order, id, port) = ours(order_file, key, protocols).ok_or_else(no_order)?;
    let scribe = scribe(id.protocol).ok_or_else(no_order)?;
    // A session of its own: what ends the terminal or the orchestrator does not end the work.
    rustix::process::setsid().ok();
    // What outlives its parent becomes our child, so that none of it can get away.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).ok();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    let outcome = runtime.block_on(attempt(&order, &port, scribe.as_ref()));
    runtime.shutdown_background();
    outcome
}

/// Reads an order that has our seal at this very place.
fn ours(
    file: &Utf8Path,
    key: Option<&Utf8Path>,
    protocols: &'static [ProtocolName],
) -> Option<(Order, WorkflowId, FilePort)> {
    let told = read_order(file)?;
    let id = told.id(protocols)?;
    let port = StateFolder::of(&told.project, key, protocols).port(&id);
    let is_here = port.order_path(&told.task, told.attempt) == file;
    let order = port.order(&told.task, told.attempt).filter(|_| is_here)?;
    Some((order, id, port))
}

async fn attempt(order: &Order, port: &FilePort, scribe: &dyn Scribe) -> Result<(), Error> {
    let lock = match port.hold(order, scribe.stamp()) {
        Ok(lock) => lock,
        // Somebody else does this very attempt: nothing is left for us to do.
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
        main: Repo::at(&git(order), order.project.clone()),
    };
    worker.say(&Happened::Claimed)?;
    // What keeps a worker from going on is a failure with a reason, not a silence that looks like a kill.
    let last = worker
        .run()
        .await
        .unwrap_or_else(|error| failed(format!("the worker failed: {error}")));
    if let (Some(place), Happened::Failed { reason, .. }) = (&order.place, &last) {
        // Only for those who look into it later; the failure itself stands in the record.
        worker.leave_evidence(place, Err(reason.clone())).ok();
    }
    // The word of an attempt that was given up must not be heard, and its claim is no longer ours.
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
    /// The project, whose repository has the worktree.
    main: Repo,
}

impl Worker<'_> {
    fn say(&self, happened: &Happened) -> Result<(), Error> {
        say(self.order, self.port, self.scribe, happened)
    }

    async fn run(&self) -> Result<Happened, Error> {
        let base = ObjectId::parse(&self.order.base)?;
        match &self.order.place {
            Some(place) => self.prepare_place(place, &base)?,
            None => self.prepare(&base)?,
        }
        self.say(&Happened::Started {
            base: self.order.base.clone(),
        })?;
        let folder = self
            .port
            .attempt_folder(&self.order.task, self.order.attempt);
        let mut stop = signal(SignalKind::terminate()).map_err(Error::Runtime)?;
        let mut reader = StreamReader::new(Stream::of(&self.order.stream).unwrap_or(Stream::Plain));
        let mut output = OutputLog::create(&folder.join("output.log"))?;
        let limit = self.order.timeout.map(Duration::from_secs);
        let mut session: Option<String> = None;
        let mut cost: Option<u64> = None;
        let ended = self
            .supervise(
                &self.order.agent,
                Stage::Implementing,
                limit,
                &mut stop,
                &mut output,
                &mut |line| {
                    let news = reader.push_line(line).unwrap_or_default();
                    // Kept at once: after a crash it is all that is left of the agent's conversation,
                    // and what was spent is spent however the attempt ends.
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
        let verdict = match ended {
            Ended::Exit(exit) => judge(reader.summary(), exit),
            // It may hang after its last word, which counts nevertheless.
            Ended::TimedOut if reader.summary().ended == Some(StreamEnd::Success) => {
                Verdict::Succeeded
            }
            Ended::TimedOut => return Ok(self.timed_out()),
            Ended::Stopped => return Ok(Happened::Stopped { killed: None }),
            Ended::NotStarted(reason) => Verdict::Failed(reason),
        };
        match verdict {
            Verdict::Succeeded => {}
            Verdict::Failed(reason) => return Ok(failed(reason)),
            Verdict::Limited { until } => return Ok(Happened::Limited { until }),
            // Killed from outside: no word of the agent's, so no failure of its own.
            Verdict::Killed(signal) => return Ok(killed(Victim::Agent, signal)),
        }
        for check in &self.order.checks {
            let ended = self
                .supervise(
                    check,
                    Stage::Verifying,
                    limit,
                    &mut stop,
                    &mut output,
                    &mut |_| {},
                )
                .await?;
            let shown = check.arguments.last().map_or("", String::as_str);
            match ended {
                Ended::Exit(Exit::Code(0)) => {}
                Ended::Exit(Exit::Code(code)) => {
                    let reason = format!("the check `{shown}` ended with exit code {code}");
                    return Ok(failed(reason));
                }
                Ended::TimedOut => return Ok(self.timed_out()),
                // Stopped by a person or killed from outside: no word on the work.
                Ended::Stopped => return Ok(Happened::Stopped { killed: None }),
                Ended::Exit(Exit::Signal(signal)) => return Ok(killed(Victim::Check, signal)),
                Ended::NotStarted(reason) => {
                    return Ok(failed(format!("the check `{shown}`: {reason}")));
                }
            }
        }
        match &self.order.place {
            Some(place) => self.deliver_place(place, &base, reader.summary()),
            None => self.deliver(&base, reader.summary()),
        }
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

/// Writes down what happened to an attempt, in the protocol's words.
pub(crate) fn say(
    order: &Order,
    port: &FilePort,
    scribe: &dyn Scribe,
    happened: &Happened,
) -> Result<(), Error> {
    // A clock that was set back since the order was written must not put this word before it.
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
    // The host's record comes first: what stands there is what the next reader goes by.
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

/// Returns where agent and checks run in a worktree: the project's folder, which is made if the commit lacks it.
pub(crate) fn working_folder(
    worktree: &Utf8Path,
    folder: &Utf8Path,
) -> std::io::Result<Utf8PathBuf> {
    // The commit may have a link under this name, which must not lead an agent out of its worktree.
    let path = rekindle_fs::confine(worktree, folder).map_err(std::io::Error::other)?;
    rekindle_fs::ensure_dir(&path).map_err(std::io::Error::other)?;
    Ok(path)
}

/// Returns the ref that keeps an attempt's commit until it has landed.
pub(crate) fn work_ref(workflow: &str, task: &str, attempt: u32) -> String {
    // Any id gives a name that git accepts: an id such as `T1.lock` must be able to land.
    format!(
        "refs/rekindle/work/{}/{}/{attempt}",
        rekindle_git::ref_part(workflow),
        rekindle_git::ref_part(task)
    )
}

/// Returns dollars as millionths, which can be added without error.
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

fn killed(victim: Victim, signal: i32) -> Happened {
    let signal = Some(signal);
    Happened::Stopped {
        killed: Some(Kill { victim, signal }),
    }
}
