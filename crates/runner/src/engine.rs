//! The engine: runs a workflow's tasks in parallel workers and lands their work on one branch.
//!
//! One orchestrator runs at a time, under the workflow's lock. It decides with the
//! [`Board`], claims and starts workers, reads their logs, and
//! lands in plan order. It has no state of its own that matters: after a
//! crash everything is recovered from the run's log, the claims and git.
//! A commit with the trailers of run and task is the proof that a task has
//! landed, so it lands exactly once.

mod board;
mod checkout;
mod checks;
mod ending;
mod evidence;
mod integration;
mod landing;
mod ledger;
mod left;
mod marking;
mod outcome;
mod recovery;
mod scribe;
mod signing;
mod slots;
mod watcher;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Agent;
use rekindle_agents::config::Worktree;
use rekindle_fs::Lock;
use rekindle_git::{ObjectId, Program, Repo, RepoPath, Signing};
use rekindle_model::{
    AgentEnd, AgentTask, Before, Delivery, Destination, Happened, Work, WorkflowId,
};
use rekindle_wire::order::Outfit;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::task::JoinSet;

pub use self::board::Tally;
use self::board::{Board, State};
use self::ending::given_up;
pub use self::ending::{Ending, GivenUp, Skipped};
pub(crate) use self::ending::{standing, standing_with};
pub use self::evidence::{Missing, has_commits, in_git, is_delivered, missing};
use self::integration::Integration;
pub use self::ledger::Cost;
use self::ledger::Ledger;
use self::left::Left;
pub(crate) use self::left::boot;
pub use self::marking::Marker;
pub use self::scribe::Scribe;
pub use self::watcher::{
    After, Begin, Change, Event, HeldBack, LeftOut, Progress, Reporter, RunView, Steering,
    StillAtWork, Watcher, WorkerView,
};
use self::workers::{Active, Over};
use crate::port::FilePort;
use crate::worker::{own_files, paths};
use crate::{Error, StateFolder, process_tree};

/// The time for a stopped worker to end its agent and report.
const STOP_GRACE: Duration = Duration::from_secs(10);
/// How often the view is updated and silent workers are checked.
const TICK: Duration = Duration::from_millis(500);

/// The engine's input.
pub struct Engine<'a> {
    /// The project's folder.
    pub project: &'a Utf8Path,
    /// The folder of rekindle's own files in it.
    pub state: &'a StateFolder,
    /// The workflow.
    pub id: &'a WorkflowId,
    /// Its tasks and settings.
    pub work: &'a Work,
    /// The orchestrator's log, relative to the project.
    pub log: &'a Utf8Path,
    /// Composes the texts of events.
    pub scribe: &'a dyn Scribe,
    /// Composes the prompt for an attempt at a task, with what it has to know about the last one.
    pub brief: &'a dyn Fn(usize, u32, Option<Before<'_>>) -> AgentTask,
    /// Marks the tasks in the list that they come from, if they come from one.
    pub marker: Option<&'a dyn Marker>,
    /// The agent.
    pub agent: &'a Agent,
    /// The number of workers.
    pub jobs: usize,
    /// Whether every task gets a worktree of its own, which is removed after its delivery.
    pub fresh: bool,
    /// What worktrees have besides their commit.
    pub worktree: &'a Worktree,
    /// Whether tasks that were cut short start over instead of going on from where they were.
    pub restart: bool,
    /// No new attempts start once the agents' reported cost exceeds this, in millionths of a dollar.
    pub max_cost: Option<u64>,
    /// The path of this program, which is also the worker.
    pub program: &'a Utf8Path,
    /// The search path for programs.
    pub search_path: &'a std::ffi::OsStr,
    /// A worker that is silent for this long, and whose agent prints nothing, is given up.
    pub silent_after: Duration,
    /// Whether usage limits that the record knows hold for this agent.
    pub heeds_limits: bool,
    /// Returns whether an agent's session can be continued in a folder.
    pub can_go_on: &'a dyn Fn(&str, &Utf8Path) -> bool,
    /// The observer.
    pub watcher: Reporter<'a>,
}

impl<'a> Engine<'a> {
    /// Runs until every task has landed or nothing more can be done; `lock` is the workflow's.
    ///
    /// If it ends with an error, every running worker was reported.
    pub fn drive(mut self, lock: &'a Lock) -> Result<Ending, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::Runtime);
        let prepared = runtime.and_then(|runtime| Ok((runtime, Ground::open(&self)?)));
        let (runtime, ground) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                // An earlier orchestrator may have left them.
                let mut report = |left: &_| self.watcher.progress(&Progress::StillAtWork(left));
                self.state.report_workers(self.id, &mut report);
                return Err(error);
            }
        };
        let ending = runtime.block_on(async {
            let mut orchestrator = Orchestrator::new(self, ground, lock);
            let checkout = orchestrator.look_at_checkout();
            let ending = orchestrator.work().await;
            if let Err(error) = &ending {
                orchestrator.tell_who_is_left(error);
            }
            orchestrator.tell_of_checkout(checkout);
            orchestrator.stamp();
            ending
        });
        // Threads that wait for workers of an earlier orchestrator may take long.
        runtime.shutdown_background();
        ending
    }
}

struct Orchestrator<'a> {
    engine: Engine<'a>,
    lock: &'a Lock,
    port: FilePort,
    repo: Repo,
    board: Board,
    tip: ObjectId,
    /// The files of the last commit, if known.
    tip_tree: Option<ObjectId>,
    /// Tasks that landed and changed nothing.
    unchanged: BTreeSet<usize>,
    active: BTreeMap<usize, Active>,
    /// Why the last attempt of a task failed.
    trouble: BTreeMap<usize, String>,
    /// Tasks that may not start before a time.
    not_before: BTreeMap<usize, tokio::time::Instant>,
    /// Agents' sessions, so that a retry can continue one.
    sessions: BTreeMap<usize, String>,
    /// The newest attempts whose agents have done their work.
    ended: BTreeMap<usize, (u32, AgentEnd)>,
    /// What attempts left that were cut short.
    left: BTreeMap<usize, Left>,
    attempts: u32,
    ledger: Ledger,
    /// When this orchestrator began.
    began: tokio::time::Instant,
    /// When it wrote down last that it lives.
    stamped: Option<tokio::time::Instant>,
    stops: Arc<AtomicU8>,
    /// Why the agent did not start, once that has happened; no other attempt is made.
    cannot_start: Option<String>,
    stop_said: u8,
    /// What worktrees have besides their commit.
    outfit: Outfit,
    /// Where merged work is checked, once some was.
    integration: Option<Integration>,
    signing: Signing,
    /// The git folder that all worktrees of the repository share.
    common_dir: Utf8PathBuf,
    /// The project's folder in the repository; empty if it is the top.
    folder: Utf8PathBuf,
    /// The run's own files that are tracked in the base.
    tracked: Vec<String>,
}

/// What the engine needs to know about the repository before it starts.
struct Ground {
    repo: Repo,
    signing: Signing,
    base: ObjectId,
    common_dir: Utf8PathBuf,
    folder: Utf8PathBuf,
    tracked: Vec<String>,
}

impl Ground {
    fn open(engine: &Engine<'_>) -> Result<Self, Error> {
        let program = Program::find(engine.search_path)?.for_work();
        let repo = Repo::at(&program, engine.project);
        let base = ObjectId::parse(&engine.work.settings.base)?;
        let common_dir = repo.common_dir()?;
        let folder = repo.prefix()?;
        let own = own_files(&folder, engine.scribe.own_folders());
        let tracked = tracked(&repo, &base, own)?;
        let signing = match (engine.work.destination, repo.tree_of(base.as_str())?) {
            (Destination::Branch, Some(tree)) => repo.signing(&tree)?,
            (Destination::Branch, None) | (Destination::Worktree, _) => Signing::Off,
        };
        Ok(Self {
            repo,
            signing,
            base,
            common_dir,
            folder,
            tracked,
        })
    }
}

impl<'a> Orchestrator<'a> {
    fn new(engine: Engine<'a>, ground: Ground, lock: &'a Lock) -> Self {
        Self {
            tip: ground.base,
            tip_tree: None,
            unchanged: BTreeSet::new(),
            port: engine.state.port(engine.id),
            repo: ground.repo,
            board: Board::new(&engine.work.tasks, engine.work.settings.retries),
            active: BTreeMap::new(),
            trouble: BTreeMap::new(),
            not_before: BTreeMap::new(),
            sessions: BTreeMap::new(),
            ended: BTreeMap::new(),
            left: BTreeMap::new(),
            attempts: 0,
            ledger: Ledger::new(&engine.work.tasks),
            began: tokio::time::Instant::now(),
            stamped: None,
            stops: Arc::new(AtomicU8::new(0)),
            stop_said: 0,
            cannot_start: None,
            integration: None,
            outfit: workers::outfit(engine.worktree, &ground.folder),
            signing: ground.signing,
            common_dir: ground.common_dir,
            folder: ground.folder,
            tracked: ground.tracked,
            engine,
            lock,
        }
    }

    fn task(&self, task: usize) -> &str {
        &self.engine.work.tasks[task].id
    }

    fn say(&self, task: usize, attempt: u32, happened: &Happened) -> Result<(), Error> {
        // If the host keeps the record, there is no log of ours.
        if self.engine.work.destination == Destination::Worktree {
            return Ok(());
        }
        let workflow = &self.engine.id.name;
        let record =
            self.engine
                .scribe
                .record(workflow, "orchestrator", self.task(task), attempt, happened);
        self.port.append(self.engine.log, &record)
    }

    async fn work(&mut self) -> Result<Ending, Error> {
        let wake = Arc::new(Notify::new());
        self.listen(&wake)?;
        if let Signing::Impossible(reason) = &self.signing {
            self.engine.watcher.progress(&Progress::Unsigned(reason));
        }
        self.stamp();
        if self.engine.work.destination == Destination::Branch {
            // The view is there at once, however long it takes to find out what has been done.
            self.look();
        }
        self.recover().await?;
        self.forget_left();
        self.run(&wake).await
    }

    /// Writes down that it lives, so that the next one knows when it died.
    ///
    /// On a full disk the time of a death is less exact, and nothing else.
    fn stamp(&mut self) {
        let now = rekindle_text::format_seconds(self.engine.scribe.after(Duration::ZERO));
        self.lock.stamp(&now).ok();
        self.stamped = Some(tokio::time::Instant::now());
    }

    async fn run(&mut self, wake: &Notify) -> Result<Ending, Error> {
        let mut ended: JoinSet<Over> = JoinSet::new();
        for (task, attempt) in self
            .active
            .iter()
            .map(|(task, active)| (*task, active.attempt))
            .collect::<Vec<_>>()
        {
            self.follow_adopted(task, attempt, &mut ended);
        }
        let mut tick = tokio::time::interval(TICK);
        loop {
            self.land_all().await?;
            self.start_all(&mut ended)?;
            self.obey_stops();
            if self.active.is_empty() && !self.is_waiting_for_limit() {
                break;
            }
            tokio::select! {
                Some(joined) = ended.join_next(), if !ended.is_empty() => {
                    if let Ok(over) = joined {
                        self.settle(over).await?;
                    }
                }
                () = wake.notified() => {}
                _ = tick.tick() => self.look(),
            }
        }
        if self.board.tally().left == 0 && self.engine.work.destination == Destination::Branch {
            self.sweep();
        }
        Ok(self.ending())
    }

    /// Waits for a slow operation, while the view and signals are still handled.
    async fn attend<T>(&mut self, awaited: impl Future<Output = T>) -> T {
        tokio::pin!(awaited);
        loop {
            tokio::select! {
                done = &mut awaited => return done,
                () = tokio::time::sleep(TICK) => {
                    self.obey_stops();
                    self.look();
                }
            }
        }
    }

    /// Ends all processes that carry a token.
    async fn end_processes(&mut self, token: String) {
        // It checks, waits and checks again, possibly for seconds: not on the main thread.
        let ended =
            tokio::task::spawn_blocking(move || process_tree::end(&token, None, STOP_GRACE));
        self.attend(ended).await.ok();
    }

    fn ending(&self) -> Ending {
        Ending {
            tally: self.board.tally(),
            unchanged: self
                .unchanged
                .iter()
                .map(|task| self.task(*task).to_owned())
                .collect(),
            given_up: given_up(&self.engine.work.tasks, &self.board),
            stopped: self.stops.load(Ordering::Relaxed) > 0,
            over_budget: self.is_over_budget(),
            cannot_start: self.cannot_start.clone(),
            attempts: self.attempts,
            all_attempts: self.ledger.attempts(),
            cost: self.ledger.cost(),
            branch: self.engine.work.settings.branch.clone(),
            tip: self.tip.as_str().to_owned(),
            in_the_way: self.in_the_way().unwrap_or_default(),
        }
    }

    /// Returns the documents of the list that are not committed in the checkout and are on the branch.
    fn in_the_way(&self) -> Result<Vec<String>, Error> {
        let Some(list) = &self.engine.work.settings.list else {
            return Ok(Vec::new());
        };
        let folder = list
            .path
            .parent()
            .filter(|folder| !folder.as_str().is_empty());
        let place = folder.unwrap_or(&list.path).to_string();
        let repo = &self.repo;
        let prefix = repo.prefix()?;
        let mut found = Vec::new();
        for path in repo.uncommitted(&[place])? {
            let Some(name) = path.as_str() else {
                continue;
            };
            let path = RepoPath::from(prefix.join(name).as_str());
            if repo.file_at(&self.tip, &path)?.is_some() {
                found.push(name.to_owned());
            }
        }
        Ok(found)
    }

    /// Handles a person's Ctrl-C or a TERM: the first stops new attempts, the second stops everything.
    fn listen(&self, wake: &Arc<Notify>) -> Result<(), Error> {
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            let mut signal = signal(kind).map_err(Error::Runtime)?;
            let (stops, wake) = (Arc::clone(&self.stops), Arc::clone(wake));
            tokio::spawn(async move {
                while signal.recv().await.is_some() {
                    stops.fetch_add(1, Ordering::Relaxed);
                    wake.notify_one();
                }
            });
        }
        Ok(())
    }

    fn is_stopping(&self) -> bool {
        self.stops.load(Ordering::Relaxed) > 0 || self.cannot_start.is_some()
    }

    /// Returns when a reopened task will be done: now, or with a resume.
    fn when_again(&self) -> After {
        if self.is_stopping() || self.is_over_budget() {
            After::Resume
        } else {
            After::Again
        }
    }

    fn is_over_budget(&self) -> bool {
        let told = self.ledger.cost().told.unwrap_or(0);
        self.engine.max_cost.is_some_and(|most| told >= most)
    }

    fn is_waiting_for_limit(&self) -> bool {
        !self.is_stopping() && !self.not_before.is_empty()
    }

    fn obey_stops(&mut self) {
        let stops = self.stops.load(Ordering::Relaxed);
        if stops > self.stop_said {
            self.stop_said = stops;
            self.engine.watcher.progress(&Progress::Stopping(stops > 1));
        }
        if stops > 1 {
            for task in self.active.keys().copied().collect::<Vec<_>>() {
                self.ask_to_end(task);
            }
        }
    }

    async fn land_all(&mut self) -> Result<(), Error> {
        while let Some((task, attempt, delivery)) = self.board.landable() {
            self.lock.verify()?;
            self.land(task, attempt, &delivery).await?;
        }
        Ok(())
    }

    fn delivered_again(&mut self, task: usize, attempt: u32, delivery: Delivery) {
        self.board.delivered(task, attempt, delivery);
    }

    fn state(&self, task: usize) -> &State {
        self.board.state(task)
    }

    /// Returns the folders of the project that never land.
    fn own_paths(&self) -> Vec<RepoPath> {
        paths(&own_files(&self.folder, self.engine.scribe.own_folders()))
    }
}

/// Returns which of the run's own folders are tracked in a commit.
fn tracked(repo: &Repo, base: &ObjectId, own: Vec<String>) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for name in own {
        if repo.tree_of(&format!("{base}:{name}"))?.is_some() {
            found.push(name);
        }
    }
    Ok(found)
}

/// Returns a text that no other attempt on this machine has.
pub(crate) fn fresh() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    let random = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    format!("{:x}-{random:x}", std::process::id())
}
