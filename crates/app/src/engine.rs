//! Runs a workflow's tasks in parallel, for `run` and `resume`.

use std::cell::Cell;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rekindle_agents::Agent;
use rekindle_agents::config::Worktree;
use rekindle_model::{
    AgentChoice, Attempted, Before, Command, CommandRole, CommandSource, Destination, Happened,
    Intent, ListSource, Moment, Work, WorkflowId,
};
use rekindle_protocol::Ask;
use rekindle_protocol::capability;
use rekindle_runner::{Attempt, Ending, Engine, Marker, Reporter, Runner, Scribe, Teardown};
use rekindle_world::{Clock, Zone};

use crate::last_session::can_go_on;
use crate::{Error, Face, News, Project};

/// Options for running tasks.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Who chose the agent's command.
    pub agent_from: CommandSource,
    /// The agent.
    pub agent: Agent,
    /// The same as a run's record keeps it.
    pub choice: AgentChoice,
    /// The number of workers, if a person gave one for this call.
    pub jobs: Option<usize>,
    /// The default number of workers, unless the workflow has its own.
    pub default_jobs: usize,
    /// Whether every task gets a worktree of its own instead of one of the pool.
    pub fresh: bool,
    /// What worktrees have besides their commit.
    pub worktree: Worktree,
    /// The commands that prepare worktrees, and those that run before they are removed.
    pub outfit: Vec<Command>,
    /// Whether tasks that were cut short start over.
    pub restart: bool,
    /// The cost limit in millionths of a dollar that a person gave for this call; no new attempts start once
    /// the reported cost has reached it. It overrides the run's own limit.
    pub max_cost: Option<u64>,
    /// The configured limit for runs that were started without one.
    pub default_max_cost: Option<u64>,
    /// A worker that is silent for this long is given up.
    pub silent_after: Duration,
}

/// Composes the protocol's texts for events, with the project's time.
pub(crate) struct ProtocolScribe {
    protocol: &'static dyn capability::Engine,
    clock: Clock,
    zone: Zone,
    /// The newest time that was recorded or heard.
    latest: Cell<Option<Timestamp>>,
}

impl ProtocolScribe {
    pub(crate) fn new(
        protocol: &'static dyn capability::Engine,
        clock: Clock,
        zone: Zone,
        latest: Option<Timestamp>,
    ) -> Self {
        let latest = Cell::new(latest);
        Self {
            protocol,
            clock,
            zone,
            latest,
        }
    }

    /// A worker does not wait for limits, so it needs no time zone.
    fn of_a_worker(protocol: &'static dyn capability::Engine, clock: Clock) -> Self {
        Self::new(protocol, clock, Zone::Fixed(TimeZone::UTC), None)
    }
}

impl Scribe for ProtocolScribe {
    fn record(
        &self,
        workflow: &str,
        actor: &str,
        task: &str,
        attempt: u32,
        happened: &Happened,
    ) -> String {
        let at = Moment::next(self.clock.now(), self.latest.get());
        self.latest.set(Some(at.order()));
        self.protocol
            .record(workflow, actor, task, attempt, happened, at)
    }

    fn heard(&self, line: &str) -> Option<(String, u32, Happened)> {
        if let Some(time) = self.protocol.heard_at(line) {
            self.follow(time);
        }
        self.protocol.heard(line)
    }

    fn follow(&self, time: Timestamp) {
        self.latest.set(self.latest.get().max(Some(time)));
    }

    fn latest(&self) -> Option<Timestamp> {
        self.latest.get()
    }

    fn log(&self, workflow: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf {
        self.protocol.attempt_log(workflow, actor, task, attempt)
    }

    fn own_folders(&self) -> &'static [&'static str] {
        self.protocol.own_folders()
    }

    fn evidence(&self, attempted: &Attempted) -> Vec<(&'static str, String)> {
        self.protocol.evidence(attempted)
    }

    fn mirrored(&self, file: &[u8], happened: &Happened) -> Option<Vec<u8>> {
        self.protocol.mirrored(file, happened, self.clock.now())
    }

    fn stamp(&self) -> String {
        self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    fn after(&self, time: Duration) -> Timestamp {
        let now = self.clock.now();
        now.checked_add(time).unwrap_or(now)
    }

    fn until(&self, time: &str) -> Option<Duration> {
        let now = self.clock.now();
        let at = time.parse().ok().or_else(|| {
            rekindle_agents::limit::reset_time(time, &now.to_zoned(self.zone.get()), |name| {
                TimeZone::get(name).ok()
            })
        })?;
        // A time that is just past means no wait; only an unreadable one is unknown.
        Some(Duration::try_from(Timestamp::duration_since(at, now)).unwrap_or_default())
    }
}

/// Marks the tasks of a run in the list that they come from.
struct ListMarker<'r> {
    marks: &'static dyn capability::TaskMarks,
    source: &'r ListSource,
}

impl<'r> ListMarker<'r> {
    fn of(work: &'r Work) -> Option<Self> {
        let source = work.settings.list.as_ref()?;
        let (protocol, _) = rekindle_registry::split(&source.id);
        let marks = rekindle_registry::find(protocol?).marks()?;
        Some(Self { marks, source })
    }
}

impl Marker for ListMarker<'_> {
    fn list(&self) -> &str {
        &self.source.id
    }

    fn path(&self) -> &Utf8Path {
        &self.source.path
    }

    fn mark(&self, file: &[u8], task: &str, title: &str) -> Option<Vec<u8>> {
        self.marks.mark(file, task, title)
    }

    fn with_marks_of(&self, base: &[u8], theirs: &[u8]) -> Vec<u8> {
        self.marks.with_marks_of(base, theirs)
    }
}

impl EngineOptions {
    /// Returns the limit of costs: as typed for this call, as for the run, as configured.
    pub(crate) fn limit(&self, work: &Work) -> Option<u64> {
        self.max_cost
            .or(work.settings.max_cost)
            .or(self.default_max_cost)
    }

    /// Returns the agent's command with all its arguments, quoted for a shell.
    pub(crate) fn command(&self) -> Command {
        let agent = &self.agent;
        let words = agent.words();
        let words: Vec<_> = words
            .iter()
            .map(|word| rekindle_text::shell_word(word))
            .collect();
        Command {
            text: match agent.shell_command() {
                Some(command) => command.to_owned(),
                None => words.join(" "),
            },
            role: CommandRole::Agent,
            source: self.agent_from.clone(),
            tasks: 0,
        }
    }
}

/// Refuses to report a run as complete if its work is not in git: only commits are proof.
pub(crate) fn refuse_missing(project: &Project, id: &WorkflowId, work: &Work) -> Result<(), Error> {
    let missing = rekindle_runner::missing(project.folder(), &project.search_path, id, work);
    match missing.map_err(Error::Run)? {
        None => Ok(()),
        Some(missing) => Err(Error::WorkMissing {
            id: id.clone(),
            branch: work.settings.branch.clone(),
            missing,
        }),
    }
}

/// Locks the branch on which a run lands, so that no other run lands there meanwhile.
pub(crate) fn hold_branch(
    project: &Project,
    branch: &str,
    purpose: &str,
) -> Result<rekindle_fs::Lock, Error> {
    let program = rekindle_git::Program::find(&project.search_path).map_err(Error::Git)?;
    let repo = rekindle_git::Repo::at(&program, project.folder());
    match rekindle_runner::hold_branch(&repo, branch, purpose, project.now()) {
        Err(rekindle_runner::Error::Lock(source @ rekindle_fs::LockError::Held { .. })) => {
            let branch = branch.to_owned();
            Err(Error::BranchHeld { branch, source })
        }
        other => other.map_err(Error::Run),
    }
}

/// Runs all tasks of a workflow that describes its work; `log` is the log of this resume, and the caller
/// holds the lock of the branch.
///
/// Returns `None` if the workflow has no work for the engine.
pub(crate) fn drive(
    project: &Project,
    id: &WorkflowId,
    log: &Utf8Path,
    options: &EngineOptions,
    runner: &mut Runner,
    face: &mut dyn Face,
) -> Result<Option<Ending>, Error> {
    let protocol = rekindle_registry::find(id.protocol);
    let world = project.world();
    let ask = Ask {
        name: Some(id.name.clone()),
        ..Ask::default()
    };
    let case = protocol.inspect(&world, &ask);
    let (Some(logs), Some(tasks)) = (protocol.engine(), case.tasks()) else {
        return Ok(None);
    };
    let Some(work) = tasks.work() else {
        return Ok(None);
    };
    let scribe = ProtocolScribe::new(logs, project.clock, project.zone.clone(), work.latest);
    let brief = |task: usize, attempt: u32, before: Option<Before<'_>>| {
        tasks.brief(&world, task, attempt, before)
    };
    let max_cost = options.limit(&work);
    if max_cost.is_some() && !options.agent.stream.tells_cost() {
        face.tell(&News::CostUntold(&options.agent));
    }
    let marker = ListMarker::of(&work);
    let engine = Engine {
        marker: marker.as_ref().map(|marker| marker as &dyn Marker),
        project: project.folder(),
        state: &project.state(),
        id,
        work: &work,
        log,
        scribe: &scribe,
        brief: &brief,
        agent: &options.agent,
        jobs: options.jobs.or(work.jobs).unwrap_or(options.default_jobs),
        fresh: options.fresh,
        worktree: &options.worktree,
        restart: options.restart,
        max_cost,
        program: &project.program,
        search_path: &project.search_path,
        silent_after: options.silent_after,
        // A limit is of an agent's account.
        heeds_limits: work
            .settings
            .agent
            .as_ref()
            .is_none_or(|agent| *agent == options.choice),
        can_go_on: &|session, folder| can_go_on(&world, &options.agent, session, folder),
        watcher: Reporter::new(face, id, &scribe),
    };
    let ended = engine.drive(runner.lock()).map_err(Error::Run);
    crate::notify::ended(project, id, &work, ended.as_ref(), face);
    let ending = ended?;
    trim_pool(project, options);
    let is_over = ending.tally.landed + ending.tally.skipped == ending.tally.total;
    if is_over && work.destination == Destination::Branch {
        finish(project, id, log, &ending, runner, face)?;
    }
    Ok(Some(ending))
}

/// How many free worktrees stay in the pool for the next run, if it had fewer workers.
const POOL: usize = 4;
/// How long an unused one stays.
const OLDEST_POOLED: Duration = Duration::from_secs(14 * 24 * 3600);

/// Removes worktrees that the next run will hardly need; what is left is removed another time.
fn trim_pool(project: &Project, options: &EngineOptions) {
    let most = POOL.max(options.jobs.unwrap_or(options.default_jobs));
    let limits = (most, OLDEST_POOLED);
    let search_path = &project.search_path;
    let teardown = teardown(&options.worktree);
    rekindle_runner::trim_pool(
        &project.state(),
        search_path,
        limits,
        teardown,
        project.now(),
    )
    .ok();
}

/// Returns what runs before a worktree is removed.
pub(crate) fn teardown(worktree: &Worktree) -> Teardown<'_> {
    Teardown {
        commands: &worktree.teardown,
        limit: worktree.timeout,
    }
}

/// Reports that the run is complete, once.
fn finish(
    project: &Project,
    id: &WorkflowId,
    log: &Utf8Path,
    ending: &Ending,
    runner: &mut Runner,
    face: &mut dyn Face,
) -> Result<(), Error> {
    let intent = Intent::Finish {
        log: log.to_owned(),
        tip: ending.tip.clone(),
    };
    let query = crate::Query {
        protocol: Some(id.protocol),
        name: Some(id.name.clone()),
        ..crate::Query::default()
    };
    let planned = crate::inspect::plan_world(&project.world(), &query, &intent)?;
    runner
        .apply(&planned.plan.steps, project.now(), face)
        .map_err(Error::Run)
}

/// Writes a heartbeat of an attempt's agent.
pub(crate) fn beat(project: &Project, attempt: &Attempt) -> Result<(), Error> {
    let clock = project.clock;
    let Some(logs) = rekindle_registry::find(attempt.id.protocol).engine() else {
        return Ok(());
    };
    let scribe = ProtocolScribe::of_a_worker(logs, clock);
    let key = project.key.as_deref();
    rekindle_runner::beat(
        attempt,
        key,
        rekindle_registry::names(),
        &scribe,
        clock.now(),
    )
    .map_err(Error::Run)
}

/// Does one attempt as ordered by a file; this is everything that a worker process does.
///
/// `key` is the path of the user's key, which proves that the order is ours.
pub fn worker(order: &Utf8Path, key: Option<&Utf8Path>, clock: Clock) -> Result<(), Error> {
    let scribe = |protocol| {
        let logs = rekindle_registry::find(protocol).engine()?;
        Some(Box::new(ProtocolScribe::of_a_worker(logs, clock)) as Box<dyn Scribe>)
    };
    rekindle_runner::work(order, key, rekindle_registry::names(), &scribe).map_err(Error::Run)
}
