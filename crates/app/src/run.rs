//! Starts a run from a plan.

mod prepare;

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{Expected, ObjectId};
use rekindle_model::{CommandSource, ProtocolName, WorkflowId};
use rekindle_protocol::Ask;
use rekindle_protocol::capability::{Draft, TaskSource};
use rekindle_runner::{Ending, Runner};
use rekindle_world::World as _;

use self::prepare::{Prepared, draft, prepare};
use crate::engine::{EngineOptions, drive, hold_branch};
use crate::face::Enter;
use crate::lists::ListDocuments;
use crate::{EngineWish, Error, Face, News, Outline, Project, preflight};

/// Options for starting a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// What was typed about agents and workers.
    pub engine: EngineWish,
    /// The branch; without one the run gets its own.
    pub branch: Option<String>,
    /// Commands that must succeed on every integrated tree.
    pub verify: Vec<String>,
    /// Who chose them.
    pub verify_from: CommandSource,
    /// How often a failed task is retried.
    pub retries: u32,
    /// How long one attempt may take, where a person said so.
    pub timeout: Option<Duration>,
    /// How long otherwise, unless the agent has a limit of its own.
    pub default_timeout: Duration,
    /// Show what would run and write nothing.
    pub dry_run: bool,
    /// Go on without asking.
    pub yes: bool,
}

impl RunOptions {
    /// Returns the options of a run about which nothing more was said.
    pub(crate) const fn of(engine: EngineWish) -> Self {
        Self {
            engine,
            branch: None,
            verify: Vec::new(),
            verify_from: CommandSource::Typed,
            retries: 2,
            timeout: None,
            default_timeout: Duration::from_secs(45 * 60),
            dry_run: false,
            yes: false,
        }
    }
}

/// A plan as it was read.
#[derive(Debug, Clone)]
pub struct PlanText {
    /// Its file, relative to the project, or what stands for it.
    pub name: Utf8PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// What came of a run.
#[derive(Debug)]
pub enum Ran {
    /// It was only shown.
    Shown(Box<Outline>),
    /// The person said no.
    Declined,
    /// The person wants the open run of the same plan to go on instead.
    Instead(WorkflowId),
    /// It was started and has ended.
    Ended(WorkflowId, Box<Ending>),
}

/// The name of a plan that comes from standard input.
pub const STANDARD_INPUT: &str = "-";
/// A plan is a few thousand lines, not a gigabyte.
pub(crate) const LARGEST_PLAN: u64 = 256 * 1024 * 1024;

/// Reads the file of a plan.
pub fn read_plan(project: &Project, name: &Utf8Path) -> Result<PlanText, Error> {
    let path = project.typed_path(name);
    let relative = path.strip_prefix(project.folder()).unwrap_or(&path);
    let name = relative.to_owned();
    let read = project.world().read(&path, LARGEST_PLAN);
    let bytes = read.map_err(|reason| Error::Unreadable { path, reason })?;
    Ok(PlanText { name, bytes })
}

/// Starts a run from a plan and works on it until it is done or a person is needed.
pub fn run(
    project: &Project,
    plan: &PlanText,
    options: &RunOptions,
    face: &mut dyn Face,
) -> Result<Ran, Error> {
    if let Some(ran) = crate::lists::run_file(project, plan, options, face)? {
        return Ok(ran);
    }
    let read = draft(plan)?;
    let engine = ready_engine(project, options, face)?;
    if !options.dry_run
        && let Some(open) = open_run(project, read.0, &plan.name)
    {
        if options.yes {
            face.tell(&News::AlsoOpen(&open));
        } else if resume_instead(&open, &plan.name, face)? {
            return Ok(Ran::Instead(open));
        }
    }
    let prepared = prepare(project, plan, read, options, &engine)?;
    face.tell(&News::Findings(prepared.draft.findings()));
    if options.dry_run {
        return Ok(Ran::Shown(Box::new(prepared.outline)));
    }
    if !preflight::has_identity(project) {
        face.tell(&News::NoIdentity);
    }
    face.tell(&News::Uncommitted(preflight::uncommitted(project)));
    if options.yes {
        face.tell(&News::Commands(&prepared.commands()));
    } else if !face.start(&prepared.outline).given()? {
        return Ok(Ran::Declined);
    }
    start(project, prepared, &engine, face)
}

/// Starts a run of the tasks of a list and works on it, as [`run`] does with a plan.
pub(crate) fn run_list(
    project: &Project,
    plan: &PlanText,
    draft: Box<dyn Draft>,
    list: &ListDocuments,
    options: &RunOptions,
    face: &mut dyn Face,
) -> Result<Ran, Error> {
    let engine = ready_engine(project, options, face)?;
    let (protocol, _) = rekindle_registry::starter();
    let mut prepared = prepare(project, plan, (protocol, draft), options, &engine)?;
    face.tell(&News::Findings(prepared.draft.findings()));
    if options.dry_run {
        return Ok(Ran::Shown(Box::new(prepared.outline)));
    }
    if !preflight::has_identity(project) {
        face.tell(&News::NoIdentity);
    }
    if options.yes {
        face.tell(&News::Commands(&prepared.commands()));
    } else if !face.start(&prepared.outline).given()? {
        return Ok(Ran::Declined);
    }
    let tip = ObjectId::parse(&prepared.new.settings.base).map_err(Error::Git)?;
    let base = list.commit(project, &prepared.repo, &tip)?;
    let settings = &mut prepared.new.settings;
    base.as_str().clone_into(&mut settings.base);
    settings.list = Some(list.source.clone());
    (_, prepared.files) = prepared.draft.files(&prepared.new, prepared.now);
    start(project, prepared, &engine, face)
}

/// Returns how the tasks are to be run, once the agent is known to start and was offered to edit.
fn ready_engine(
    project: &Project,
    options: &RunOptions,
    face: &mut dyn Face,
) -> Result<EngineOptions, Error> {
    let engine = || crate::engine_options(project, &options.engine)?.ok_or(Error::NoAgent);
    let found = engine()?;
    preflight::refuse_unstartable(project, &found.agent)?;
    if options.dry_run || !preflight::offer_editing(project, &found.agent, options.yes, face)? {
        return Ok(found);
    }
    engine()
}

/// Returns the newest open run that was started from the same plan file.
fn open_run(project: &Project, protocol: ProtocolName, plan: &Utf8Path) -> Option<WorkflowId> {
    let world = project.world();
    let open = crate::survey::open(&world);
    let is_of_plan = |id: &WorkflowId| {
        let ask = Ask {
            name: Some(id.name.clone()),
            alone: true,
            ..Ask::default()
        };
        let case = rekindle_registry::find(protocol).inspect(&world, &ask);
        let work = case.tasks().and_then(TaskSource::work);
        work.is_some_and(|work| work.settings.plan.as_deref() == Some(plan))
    };
    let ids = open.into_iter().map(|summary| summary.id);
    ids.filter(|id| id.protocol == protocol && is_of_plan(id))
        .max_by(|one, other| one.name.cmp(&other.name))
}

fn resume_instead(open: &WorkflowId, plan: &Utf8Path, face: &mut dyn Face) -> Result<bool, Error> {
    let text = format!("`{plan}` has an open run: {open}");
    face.propose(
        &text,
        "Resume that one instead of starting another?",
        Enter::Yes,
    )
    .given()
}

/// Writes a run and works on it.
fn start(
    project: &Project,
    prepared: Prepared,
    engine: &EngineOptions,
    face: &mut dyn Face,
) -> Result<Ran, Error> {
    let commands = prepared.commands();
    let Prepared {
        id,
        draft,
        new,
        files,
        repo,
        now,
        ..
    } = prepared;
    // A link in its way may lead anywhere; nothing has been made yet that would have to go again.
    let folder = rekindle_fs::confine(project.folder(), &draft.folder(&id.name))?;
    let purpose = format!("run {id}");
    let branch = &new.settings.branch;
    let _branch = hold_branch(project, branch, &purpose)?;
    let (mut runner, _) = Runner::open(
        &project.state(),
        &id,
        &purpose,
        now,
        project.reach(Vec::new()),
    )
    .map_err(|error| Error::from_run(&id, error))?;
    let texts = commands.iter().map(|command| command.text.as_str());
    project.state().agree(&id, texts)?;
    crate::clean::sweep_drafts(project);
    // The branch first: an invalid name must not leave a run behind that can never continue.
    let name = format!("refs/heads/{branch}");
    let base = ObjectId::parse(&new.settings.base).map_err(Error::Git)?;
    let expected = match repo.resolve(&name).map_err(Error::Git)? {
        None => Some(Expected::Missing),
        // The documents of a list are a commit on top of what is there.
        Some(tip) if tip != base && repo.is_ancestor(&tip, &base).map_err(Error::Git)? => {
            Some(Expected::At(tip))
        }
        Some(_) => None,
    };
    if let Some(expected) = expected {
        repo.update_ref(&name, &base, &expected)
            .map_err(Error::Git)?;
    }
    face.tell(&News::Preparing(files.len()));
    rekindle_fs::create_folder(&folder, &files)?;
    let log = draft.log(&id.name, now);
    let ending = drive(project, &id, &log, engine, &mut runner, face)?;
    Ok(match ending {
        Some(ending) => Ran::Ended(id, Box::new(ending)),
        None => Ran::Declined,
    })
}
