//! A worker: a small supervisor process of one attempt, which outlives the orchestrator.
//!
//! It holds the attempt's claim, makes the worktree, starts the agent, writes
//! down what happens in its own log, ends the agent's whole tree when it must,
//! runs the checks, turns the worktree into a commit, and says last that the
//! work is there. When it dies, the kernel frees its claim.

mod place;
mod submodule;
mod worktree;

pub(crate) use self::worktree::{is_ready, make_anew};

use std::fs::File;
use std::process::Stdio;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::{Exit, Stream, StreamEnd, StreamReader, Summary, Verdict, judge};
use rekindle_git::{
    Expected, Message, ObjectId, OwnWorktree, Program, Removal, Repo, RepoPath, Version,
};
use rekindle_model::{
    Delivery, FailureKind, Happened, Kill, ProtocolName, Stage, Victim, WorkflowId,
};
use rekindle_wire::order::{Command as OrderCommand, Order};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::output_log::OutputLog;
use crate::port::{FilePort, read_order};
use crate::{Error, Scribe, StateFolder, process_tree};

/// How often a sign of life is written; the shortest limit of any protocol is five minutes.
pub(crate) const BEAT: Duration = Duration::from_secs(30);
/// So many signs of life are due before a worker counts as silent.
const BEATS_OF_A_LIMIT: u32 = 10;
/// Whatever an order says, a log is not flooded.
const SHORTEST_BEAT: Duration = Duration::from_millis(100);
/// How long a process tree has to end by itself after TERM.
const GRACE: Duration = Duration::from_secs(5);
/// A line of an agent's output longer than this is cut.
const LONGEST_LINE: u64 = 1024 * 1024;

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
        .unwrap_or_else(|error| failed(format!("the worker could not go on: {error}")));
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

/// How a command under supervision ended.
enum Ended {
    Exit(Exit),
    TimedOut,
    Stopped,
    NotStarted(String),
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

    /// Runs a command until it ends, its time is over, or we are told to stop.
    async fn supervise(
        &self,
        command: &OrderCommand,
        stage: Stage,
        limit: Option<Duration>,
        stop: &mut Signal,
        output: &mut OutputLog,
        each_line: &mut dyn FnMut(&str),
    ) -> Result<Ended, Error> {
        // A disk that is full is no failure of the agent's, which would be counted.
        let input = rekindle_fs::scratch(command.input.as_bytes())
            .map_err(|source| Error::Worker { source })?;
        let mut child = match self.start(command, input) {
            Ok(child) => child,
            Err(error) => {
                return Ok(Ended::NotStarted(format!(
                    "it could not be started: {error}"
                )));
            }
        };
        let (lines, mut incoming) = mpsc::channel(64);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(pump(stdout, lines.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(pump(stderr, lines.clone()));
        }
        drop(lines);
        let beat = self.order.beat.map_or(BEAT, Duration::from_millis);
        let mut beat = tokio::time::interval(beat.max(SHORTEST_BEAT));
        beat.tick().await;
        let deadline =
            tokio::time::sleep(limit.unwrap_or(Duration::from_secs(u64::from(u32::MAX))));
        tokio::pin!(deadline);
        let ended = loop {
            tokio::select! {
                status = child.wait() => break match status {
                    Ok(status) => Ended::Exit(exit(status)),
                    Err(error) => Ended::NotStarted(format!("it could not be waited for: {error}")),
                },
                Some(line) = incoming.recv() => each_line(&output.line(&line)),
                _ = beat.tick() => self.say(&Happened::Beat { stage })?,
                () = &mut deadline => break Ended::TimedOut,
                _ = stop.recv() => break Ended::Stopped,
            }
        };
        // Whatever the command left behind goes with it, whether it ended by itself or not.
        let token = self.order.token.clone();
        let own = std::process::id();
        let has_children = !matches!(ended, Ended::Exit(_))
            || rustix::process::waitid(
                rustix::process::WaitId::All,
                rustix::process::WaitIdOptions::EXITED
                    | rustix::process::WaitIdOptions::NOHANG
                    | rustix::process::WaitIdOptions::NOWAIT,
            )
            .is_ok();
        if has_children {
            tokio::task::spawn_blocking(move || process_tree::end(&token, Some(own), GRACE))
                .await
                .ok();
            child.wait().await.ok();
        }
        while let Some(line) = incoming.recv().await {
            each_line(&output.line(&line));
        }
        Ok(ended)
    }

    fn start(&self, command: &OrderCommand, input: File) -> std::io::Result<Child> {
        let folder = working_folder(&self.order.worktree, &self.order.folder)?;
        Command::new(&command.program)
            .args(&command.arguments)
            .envs(command.variables.iter().map(|(name, value)| (name, value)))
            // In a worktree that it broke itself, an agent's git must not find the user's repository.
            .env(
                "GIT_CEILING_DIRECTORIES",
                self.order.worktree.parent().unwrap_or(&self.order.worktree),
            )
            // Some programs take this for the folder that they work in; it would be the user's own.
            .env("PWD", &folder)
            .current_dir(folder)
            .stdin(Stdio::from(input))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }

    /// Turns the worktree into a commit that can land.
    fn deliver(&self, base: &ObjectId, summary: &Summary) -> Result<Happened, Error> {
        let order = self.order;
        let own = self.own()?;
        let here = own.repo();
        // The run's own files are the orchestrator's: they land as they are in the base, whatever the
        // agent did or committed. Where nothing of that kind is about, nothing needs to be put back.
        let is_about =
            |name: &String| order.worktree.join(name).exists() || order.tracked.contains(name);
        let exclude: Vec<RepoPath> = own_files(&order.folder, self.scribe.own_folders())
            .into_iter()
            .filter(is_about)
            .map(|name| RepoPath::from(name.as_str()))
            .collect();
        if !exclude.is_empty() {
            own.detach(base)?;
        }
        let tree = here.snapshot_tree(&exclude)?;
        // An agent that may not write says in all politeness that it is done.
        if let Some(tool) = summary.denied.last()
            && here.tree_of(base.as_str())?.as_ref() == Some(&tree)
        {
            let reason = format!("it changed nothing; `{tool}` was not allowed");
            return Ok(failed(reason));
        }
        let changes = here.between(base, &tree)?;
        if let Some(reason) = submodule::refusal(&self.main, &order.worktree, &changes)? {
            return Ok(failed(reason));
        }
        let message = Message {
            subject: format!("{} attempt {}", order.task, order.attempt),
            body: String::new(),
            trailers: Vec::new(),
        };
        let commit = here.commit_tree(&tree, std::slice::from_ref(base), &message, None)?;
        let name = work_ref(&order.workflow, &order.task, order.attempt);
        match self.main.update_ref(&name, &commit, &Expected::Missing) {
            Ok(()) | Err(rekindle_git::Error::RefMoved { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        // Until the ref was there, a `git gc --prune=now` of the user could take parts of it. The
        // worktree still has everything, and stays.
        if !self.main.is_complete(&commit, Some(base))? {
            self.main.delete_ref(&name, &commit).ok();
            return Err(rekindle_git::Error::Lost { what: name }.into());
        }
        // All of it is in the commit now. What git would not let go of is kept.
        self.main.remove_worktree(&own, Removal::WithChanges).ok();
        Ok(Happened::Implemented(Delivery {
            commit: commit.as_str().to_owned(),
            tree: tree.as_str().to_owned(),
            base: order.base.clone(),
            session: summary.session.clone(),
            cost: summary.cost_usd.map(microdollars),
        }))
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

fn exit(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        // A shell says with these that what it ran was killed.
        (Some(code @ (137 | 143)), _) => Exit::Signal(code - 128),
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    }
}

/// Hands on the lines of a stream until its end.
async fn pump(stream: impl AsyncRead + Unpin, lines: mpsc::Sender<String>) {
    use tokio::io::AsyncReadExt as _;
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end must not fill the memory.
        let mut piece = (&mut reader).take(LONGEST_LINE);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line)
            .trim_end_matches(['\n', '\r'])
            .to_owned();
        if lines.send(text).await.is_err() {
            return;
        }
    }
}
