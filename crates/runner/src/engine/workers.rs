//! Starts, checks and ends workers.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::config::Worktree;
use rekindle_agents::{Call, Invocation};
use rekindle_model::{Before, MOST_ATTEMPTS, WorkPlace};
use rekindle_wire::order::{Command as OrderCommand, ORDER_SCHEMA, Order, OrderPlace, Outfit};
use tokio::process::Command;
use tokio::task::JoinSet;

use super::ending::held_back;
use super::left::Site;
use super::{
    Begin, HeldBack, Orchestrator, Progress, RunView, STOP_GRACE, Steering, StillAtWork,
    WorkerView, fresh,
};
use crate::last_life::STAMPED_EVERY;
use crate::port::{Held, Position};
use crate::worker::beat_within;
use crate::{Error, process_tree};

/// A running worker.
pub(super) struct Active {
    pub(super) attempt: u32,
    pub(super) log: Utf8PathBuf,
    pub(super) position: Position,
    pub(super) started: tokio::time::Instant,
    pub(super) last_sign: tokio::time::Instant,
    pub(super) output_len: u64,
    /// Its process, if it is a child of ours.
    pub(super) pid: Option<u32>,
    /// The file of what it says before it ends with an error, and where that begins.
    pub(super) errors: Option<(Utf8PathBuf, u64)>,
    /// When it was asked to end.
    pub(super) asked: Option<tokio::time::Instant>,
}

/// A worker that has ended.
pub(super) struct Over {
    pub(super) task: usize,
    pub(super) attempt: u32,
    /// The signal that ended it, if known.
    pub(super) signal: Option<i32>,
    /// Whether it ended by itself with an error.
    pub(super) has_failed: bool,
}

impl Orchestrator<'_> {
    /// Reports every worker that is still running although the engine ends with an error. If the run cannot
    /// continue, they are asked to end; otherwise a resume continues with them.
    pub(super) fn tell_who_is_left(&mut self, error: &Error) {
        for task in 0..self.engine.work.tasks.len() {
            let id = self.engine.work.tasks[task].id.clone();
            let attempt = match self.active.get(&task) {
                Some(active) => active.attempt,
                None => self.port.newest(&id),
            };
            let Some(pid) = self.pid_of(task, attempt) else {
                continue;
            };
            let is_asked_to_end = error.ends_the_run();
            if is_asked_to_end {
                ask(pid);
            }
            let left = StillAtWork {
                task: id,
                attempt,
                pid,
                is_asked_to_end,
            };
            self.engine.watcher.progress(&Progress::StillAtWork(&left));
        }
    }

    /// Returns the process of a worker of a task.
    fn pid_of(&self, task: usize, attempt: u32) -> Option<u32> {
        // A worker of ours is known by its process before it has its claim.
        let ours = self.active.get(&task).and_then(|active| active.pid);
        ours.or_else(|| match self.port.held(self.task(task), attempt) {
            Ok(Held::By(Some(holder))) => {
                // A claim is only a text in a file: the process itself must prove that it is the worker.
                let order = self.port.order_path(self.task(task), attempt);
                Some(holder.process.pid).filter(|&pid| process_tree::is_worker(pid, &order))
            }
            Ok(Held::By(None) | Held::Free) | Err(_) => None,
        })
    }

    /// Asks a worker to end its agent and itself, and kills it if it does not; its work can be repeated.
    pub(super) fn ask_to_end(&mut self, task: usize) {
        let attempt = self.active.get(&task).map(|active| active.attempt);
        let Some(pid) = attempt.and_then(|attempt| self.pid_of(task, attempt)) else {
            return;
        };
        let Some(active) = self.active.get_mut(&task) else {
            return;
        };
        match active.asked {
            None => {
                active.asked = Some(tokio::time::Instant::now());
                ask(pid);
            }
            Some(at) if at.elapsed() > STOP_GRACE => send(pid, rustix::process::Signal::KILL),
            Some(_) => {}
        }
    }

    pub(super) fn start_all(&mut self, ended: &mut JoinSet<Over>) -> Result<(), Error> {
        let now = tokio::time::Instant::now();
        self.not_before.retain(|_, time| *time > now);
        while !self.is_stopping() && self.board.n_running() < self.engine.jobs {
            // A limit belongs to the agent's account, so it holds for every task.
            let has_agent = !self.is_over_budget() && self.not_before.is_empty();
            let Some(task) = self.next_task(has_agent) else {
                break;
            };
            self.start(task, has_agent, ended)?;
        }
        Ok(())
    }

    /// Starts a worker: for the checks of work that is there, else for an agent, if there may be one.
    fn start(
        &mut self,
        task: usize,
        has_agent: bool,
        ended: &mut JoinSet<Over>,
    ) -> Result<(), Error> {
        self.lock.verify()?;
        let (begin, order, lock) = match self.take_up(task)? {
            Some((order, lock)) => (Begin::Checks, order, lock),
            None if !has_agent => return Ok(()),
            None => {
                let site = self.site(task)?;
                let begin = match site.last {
                    Some(_) => Begin::Session,
                    None => Begin::Start,
                };
                let order = self.claim(task, &site)?;
                crate::crash::point("after-claim");
                (begin, order, site.lock)
            }
        };
        let attempt = order.attempt;
        let file = self.port.order_path(&order.task, attempt);
        let errors_in = self.port.errors(&order.actor);
        let errors = rekindle_fs::create_output(&errors_in)?;
        let errors_from = errors.metadata().map_or(0, |found| found.len());
        let mut worker = Command::new(self.engine.program);
        // Variables that point git to another repository must not reach an agent.
        for name in rekindle_git::SCRUBBED {
            worker.env_remove(name);
        }
        let child = worker
            .args(["worker", file.as_str()])
            .current_dir(self.engine.project)
            // The worker holds the lock of its worktree from its first moment to its last.
            .stdin(match lock {
                Some(lock) => Stdio::from(lock.hand_over()?),
                None => Stdio::null(),
            })
            .stdout(Stdio::null())
            .stderr(Stdio::from(errors))
            .spawn();
        let mut child = child.map_err(|source| Error::Worker { source })?;
        crate::crash::point("after-worker-start");
        self.attempts += 1;
        self.ledger.begin(task, attempt);
        self.board.started(task, attempt);
        let mut active = Active::new(attempt, order.log);
        active.pid = child.id();
        active.errors = Some((errors_in, errors_from));
        self.active.insert(task, active);
        ended.spawn(async move {
            let status = child.wait().await.ok();
            Over {
                task,
                attempt,
                signal: status.and_then(|status| status.signal()),
                has_failed: status.and_then(|status| status.code()).unwrap_or(0) != 0,
            }
        });
        self.engine.watcher.progress(&Progress::Started(
            &self.engine.work.tasks[task].id,
            attempt,
            begin,
        ));
        Ok(())
    }

    /// Claims a task under the next free number; a file of somebody else's may have one.
    fn claim(&mut self, task: usize, site: &Site) -> Result<Order, Error> {
        loop {
            let attempt = self.board.next_attempt(task);
            if attempt > MOST_ATTEMPTS {
                let folder = self.port.task_folder(self.task(task));
                return Err(Error::NoNumber { folder });
            }
            let order = self.order(task, attempt, site);
            match self.port.claim(&order) {
                Err(Error::Files(rekindle_fs::Error::Exists { .. })) => {
                    self.board.attempt_seen(task, attempt);
                }
                other => return other.map(|()| order),
            }
        }
    }

    fn order(&self, task: usize, attempt: u32, site: &Site) -> Order {
        let engine = &self.engine;
        let entry = &engine.work.tasks[task];
        let is_free = |slot: &usize| !self.active.values().any(|active| active.has_slot(*slot));
        let slot = (1..=self.active.len() + 1).find(is_free).unwrap_or(1);
        let actor = format!("executor-{slot}");
        let before = match &site.last {
            Some(last) => Some(Before::CutShort(&last.why)),
            None => self.trouble.get(&task).map(|why| Before::Failed(why)),
        };
        let brief = (engine.brief)(task, attempt, before);
        let worktree = site.worktree.clone();
        let token = format!("{}-{}-{attempt}-{}", engine.id.name, entry.id, fresh());
        // The agent runs in the project's folder of its worktree, and its session must belong to that folder.
        let place = worktree.join(&self.folder);
        let session = self.sessions.get(&task);
        let session = session.filter(|session| (engine.can_go_on)(session, &place));
        let call = Call {
            id: engine.id,
            project: engine.project,
            task: &brief,
            folder: &worktree,
            token: &token,
            session: session.map(String::as_str),
        };
        let number = site.slot;
        let number = number.unwrap_or_else(|| u32::try_from(slot - 1).unwrap_or_default());
        let more = crate::ports::variables(engine.project, number);
        let command = |invocation| command(invocation, &more);
        let of_outfit = |commands: &[OrderCommand]| {
            let lines = commands.iter().map(crate::outfit::shown);
            lines
                .map(|line| command(Invocation::check(line, &call)))
                .collect()
        };
        let outfit = Outfit {
            setup: of_outfit(&self.outfit.setup),
            teardown: of_outfit(&self.outfit.teardown),
            ..self.outfit.clone()
        };
        let base = match (&site.last, &entry.place) {
            (Some(last), _) => last.base.clone(),
            (None, Some(place)) => place.base.clone(),
            (None, None) => self.tip.as_str().to_owned(),
        };
        Order {
            schema: ORDER_SCHEMA.to_owned(),
            seal: String::new(),
            protocol: engine.id.protocol.to_string(),
            workflow: engine.id.name.clone(),
            task: entry.id.clone(),
            attempt,
            log: engine
                .scribe
                .log(&engine.id.name, &actor, &entry.id, attempt),
            actor,
            project: engine.project.to_owned(),
            base,
            goes_on: site.last.is_some(),
            agent: command(engine.agent.invocation(&call)),
            checks: self
                .checks(task)
                .map(|check| command(Invocation::check(check, &call)))
                .collect(),
            stream: engine.agent.stream.name().to_owned(),
            git: self.git(),
            common_dir: self.common_dir.clone(),
            folder: self.folder.clone(),
            tracked: self.tracked.clone(),
            timeout: engine.work.settings.timeout,
            unless_empty: (!entry.may_be_empty).then(|| self.about_empty().to_owned()),
            after: engine.scribe.latest().map(|latest| latest.to_string()),
            beat: u64::try_from(beat_within(engine.silent_after).as_millis()).ok(),
            place: entry.place.as_ref().map(order_place),
            worktree,
            slot: site.slot,
            outfit,
            token,
        }
    }

    /// Returns the checks of a task's work.
    pub(super) fn checks(&self, task: usize) -> impl Iterator<Item = &String> {
        let work = self.engine.work;
        work.tasks[task].checks.iter().chain(&work.settings.verify)
    }

    /// Returns what to do about an attempt that changes nothing although that is right.
    const fn about_empty(&self) -> &'static str {
        match self.engine.marker {
            Some(_) => "if nothing has to be changed, its agent marks the task in the list",
            None => "if nothing has to be changed, say `Allow-Empty: yes` below it in the plan",
        }
    }

    /// Returns the folder of a worktree that belongs to a task alone.
    pub(super) fn worktree(&self, task: usize) -> Utf8PathBuf {
        if let Some(place) = &self.engine.work.tasks[task].place {
            return place.worktree.clone();
        }
        self.engine
            .state
            .worktrees(self.engine.id)
            .join(crate::state_folder::encoded(self.task(task)))
    }

    fn git(&self) -> (Utf8PathBuf, [u32; 3]) {
        let program = self.repo.program();
        let version = program.version();
        let path = program.path().to_string_lossy().into_owned();
        (path.into(), [version.major, version.minor, version.patch])
    }

    /// Waits for a worker that an earlier orchestrator started, by its claim.
    pub(super) fn follow_adopted(&self, task: usize, attempt: u32, ended: &mut JoinSet<Over>) {
        let (port, id) = (self.port.clone(), self.task(task).to_owned());
        ended.spawn_blocking(move || {
            port.wait_released(&id, attempt).ok();
            Over {
                task,
                attempt,
                signal: None,
                has_failed: false,
            }
        });
    }

    /// Checks all workers: for the view, and for silent ones.
    pub(super) fn look(&mut self) {
        let now = tokio::time::Instant::now();
        let is_stamped = |at| now.duration_since(at) < STAMPED_EVERY;
        if !self.stamped.is_some_and(is_stamped) {
            self.stamp();
        }
        let mut views = Vec::new();
        let mut silent = Vec::new();
        for (&task, active) in &mut self.active {
            let id = &self.engine.work.tasks[task].id;
            let (lines, position) = self.port.read(&active.log, active.position);
            let output = self
                .port
                .attempt_folder(id, active.attempt)
                .join("output.log");
            let len = output.symlink_metadata().map_or(0, |found| found.len());
            if !lines.is_empty() || len != active.output_len {
                active.last_sign = now;
            }
            active.position = position;
            active.output_len = len;
            let quiet = now.duration_since(active.last_sign);
            if quiet > self.engine.silent_after {
                silent.push(task);
            }
            views.push(WorkerView {
                task: id.clone(),
                title: self.engine.work.tasks[task].title.clone(),
                attempt: active.attempt,
                elapsed: now.duration_since(active.started),
                silent: quiet,
                last_line: crate::output_log::last_line(&output, self.engine.agent.stream),
            });
        }
        for task in silent {
            self.ask_to_end(task);
        }
        let view = RunView {
            tally: self.board.tally(),
            workers: views,
            held_back: self.held_back(now),
            steering: if self.is_stopping() {
                Steering::Stopping
            } else {
                Steering::Running
            },
            elapsed: now.duration_since(self.began),
        };
        self.engine.watcher.view(&view);
    }

    /// Returns the tasks that cannot start, those that wait for a limit first.
    fn held_back(&self, now: tokio::time::Instant) -> Vec<HeldBack> {
        let limited = self.not_before.iter().map(|(task, until)| {
            let left = until.duration_since(now).as_secs().div_ceil(60);
            HeldBack {
                task: self.task(*task).to_owned(),
                why: format!("waits for the agent's limit, {left} min left"),
            }
        });
        limited
            .chain(held_back(&self.engine.work.tasks, &self.board))
            .collect()
    }
}

impl Active {
    pub(super) fn new(attempt: u32, log: Utf8PathBuf) -> Self {
        let now = tokio::time::Instant::now();
        Self {
            attempt,
            log,
            position: Position::default(),
            started: now,
            last_sign: now,
            output_len: 0,
            pid: None,
            errors: None,
            asked: None,
        }
    }

    fn has_slot(&self, slot: usize) -> bool {
        let actor = self
            .log
            .parent()
            .and_then(Utf8Path::file_name)
            .unwrap_or_default();
        actor == format!("executor-{slot}")
    }
}

/// Asks a worker to end; a stopped one reacts only when it runs again.
fn ask(pid: u32) {
    send(pid, rustix::process::Signal::TERM);
    send(pid, rustix::process::Signal::CONT);
}

fn send(pid: u32, signal: rustix::process::Signal) {
    if let Some(pid) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        rustix::process::kill_process(pid, signal).ok();
    }
}

/// Returns what worktrees have besides their commit, with commands that no task has yet.
pub(super) fn outfit(worktree: &Worktree, folder: &Utf8Path) -> Outfit {
    let commands = |lines: &[String]| {
        let command = |line: &String| OrderCommand {
            program: String::new(),
            arguments: vec![line.clone()],
            variables: Vec::new(),
            input: String::new(),
        };
        lines.iter().map(command).collect()
    };
    let sparse = worktree.sparse.iter();
    Outfit {
        sparse: sparse.map(|path| folder.join(path).into_string()).collect(),
        copy: worktree.copy.clone(),
        link: worktree.link.clone(),
        setup: commands(&worktree.setup),
        setup_when: worktree.setup_when.clone(),
        teardown: commands(&worktree.teardown),
        limit: worktree.timeout.as_secs(),
    }
}

fn command(invocation: Invocation, more: &[(String, String)]) -> OrderCommand {
    OrderCommand {
        program: invocation.program,
        arguments: invocation.arguments,
        variables: invocation
            .variables
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .chain(more.iter().cloned())
            .collect(),
        input: invocation.input,
    }
}

fn order_place(place: &WorkPlace) -> OrderPlace {
    OrderPlace {
        keep: place.keep.clone(),
        copies: place.copies.clone(),
        copies_folder: place.copies_folder.clone(),
        artifacts: place.artifacts.clone(),
        earlier: place.earlier,
        mirror: place.mirror.clone(),
    }
}
