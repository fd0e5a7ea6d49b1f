//! Commands that only read: inspect, plan, explain.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{
    Assessment, Code, Command, Explanation, Fact, Finding, Intent, Plan, ProtocolName, Summary,
    Then, Work, WorkflowId,
};
use rekindle_protocol::capability::TaskSource;
use rekindle_protocol::{Ask, Case, ResumeOption};
use rekindle_world::{Readings, RealWorld, Recorder, Recording, Witness, World};

use crate::beside::Beside;
use crate::choose::{chosen, inspect_world};
use crate::continue_session::findings_of_resume;
use crate::last_session::last_session;
use crate::{Error, LastSession, Project, Query, records};

/// The result of reading a workflow.
pub struct Inspected {
    /// The protocol.
    pub protocol: ProtocolName,
    /// How the last session of a coding agent here ended, if that matters.
    pub last_session: Option<LastSession>,
    /// Findings about rekindle's own records.
    pub of_records: Vec<Finding>,
    /// The workflow of another protocol that it worked on, where it is a session of a coding agent.
    pub workflow: Option<WorkflowId>,
    /// Whether the project has a workflow of the protocol.
    pub(crate) is_here: bool,
    /// Whether the workflow was named.
    pub(crate) is_named: bool,
    pub(crate) case: Box<dyn Case>,
}

impl Inspected {
    /// Returns whether there is nothing, and no protocol was named that could report so in its own words.
    pub fn is_nothing(&self) -> bool {
        !self.is_here && !self.is_named
    }

    /// Returns whether workflows of other protocols come first.
    pub(crate) fn gives_way(&self) -> bool {
        rekindle_registry::find(self.protocol).gives_way()
    }

    /// Returns the assessment.
    pub fn assessment(&self) -> &Assessment {
        self.case.assessment()
    }

    /// Returns the facts, those that only other protocols know included.
    pub fn facts(&self) -> Fact {
        let facts = self.assessment().facts.clone();
        let keeper = rekindle_registry::find(self.protocol).sessions();
        match (keeper, &self.workflow) {
            (Some(keeper), Some(workflow)) => keeper.facts_with(facts, workflow),
            (Some(_) | None, _) => facts,
        }
    }
}

/// What a resume would do.
#[derive(Debug)]
pub struct Planned {
    /// What the evidence means.
    pub assessment: Assessment,
    /// The effects and what follows.
    pub plan: Plan,
    /// The digest of all that was read.
    pub digest: String,
    /// How the last session of a coding agent here ended, if that matters.
    pub last_session: Option<LastSession>,
    /// The work, if the engine runs the workflow's tasks.
    pub(crate) work: Option<Work>,
    /// Commands from project files that run once a person agrees.
    pub commands: Vec<Command>,
    /// Folders outside of the project that the workflow may write to.
    pub(crate) roots: Vec<Utf8PathBuf>,
    /// The unfinished steps of an interrupted command, which a resume finishes first, one line each.
    pub unfinished: Vec<String>,
    /// Whether anything was started and not finished, including agents.
    pub(crate) is_unfinished: bool,
    /// What was read of each file, to name those that have changed since.
    pub readings: Readings,
    /// How far the workflow's journal had come.
    pub(crate) position: u64,
}

impl Planned {
    /// Adds how the last session of a coding agent here ended, and the finding that follows from it.
    ///
    /// Agents are not part of what a person agrees to.
    pub(crate) fn beside_sessions(mut self, project: &Project) -> Self {
        self.last_session = last_session_about(project, &self.assessment);
        let finding = self.of_sessions();
        self.assessment.findings.extend(finding);
        self.assessment.findings.extend(self.of_commits(project));
        self
    }

    /// Returns why a run must not continue in the project's folder: git has commits of it.
    ///
    /// If all of its record is lost, only git knows that its tasks land as commits.
    fn of_commits(&self, project: &Project) -> Option<Finding> {
        let id = &self.plan.id;
        let open = self.assessment.chosen().filter(|run| run.state.is_open());
        let is_known = |finding: &Finding| finding.code == Code::BrokenRunRecord;
        if rekindle_registry::find(id.protocol).starter().is_none()
            || self.work.is_some()
            || open.is_none()
            || self.assessment.findings.iter().any(is_known)
        {
            return None;
        }
        let began = rekindle_text::file_stamp(&id.name).map(jiff::Timestamp::as_second);
        // Without a repository, or if git fails, nothing can be found.
        let found =
            rekindle_runner::has_commits(project.folder(), &project.search_path, &id.name, began);
        let message = "`rekindle run` started this run, and its record is damaged: `rekindle-run.json` is missing, although commits of the run are on a branch";
        found.unwrap_or(false).then(|| {
            Finding::new(Code::BrokenRunRecord, message).hint(format!(
                "`rekindle explain {}` says what to do",
                Code::BrokenRunRecord
            ))
        })
    }

    /// Returns the finding about the last session before work is repeated.
    pub(crate) fn of_sessions(&self) -> Option<Finding> {
        self.last_session.as_ref().and_then(LastSession::finding)
    }
}

/// An answer to `explain`.
#[derive(Debug)]
pub enum Explained {
    /// Why a task is in its state.
    Task(Explanation),
    /// What a code means.
    Code(Code),
}

/// Reads one workflow, or all of a protocol if none is chosen.
///
/// With `capture`, everything read is also written to that file, to be replayed elsewhere.
pub fn inspect(
    project: &Project,
    query: &Query,
    capture: Option<&Utf8Path>,
) -> Result<Inspected, Error> {
    let world = project.world();
    let mut inspected = match capture {
        None => named_alone(&world, query)?,
        Some(capture) => {
            let recorder = Recorder::new(&world);
            let inspected = named_alone(&recorder, query)?;
            // It contains everything that was read, so only the user may read it.
            rekindle_fs::create_private(capture, &recorder.finish())?;
            inspected
        }
    };
    inspected.workflow = workflow_of_session(project, &inspected);
    // Notes of agents are not part of a capture.
    inspected.last_session = last_session_about(project, inspected.assessment());
    let work = inspected.case.tasks().and_then(TaskSource::work);
    let id = inspected.assessment().id.clone();
    inspected.of_records = records::findings(project, id.as_ref(), work.as_ref());
    Ok(inspected)
}

/// Returns the workflow of another protocol that a session worked on.
fn workflow_of_session(project: &Project, inspected: &Inspected) -> Option<WorkflowId> {
    let keeper = rekindle_registry::find(inspected.protocol).sessions()?;
    let id = inspected.assessment().id.as_ref()?;
    let session = keeper.named(&project.world(), &id.name).pop()?;
    Beside::new(project).of(&session)
}

/// Reads the workflow that was named, without others; all of a protocol if none was.
fn named_alone(world: &dyn World, query: &Query) -> Result<Inspected, Error> {
    let inspected = inspect_world(world, query)?;
    let Some(id) = &inspected.assessment().id else {
        return Ok(inspected);
    };
    let sessions = crate::doing::of_sessions(world, [id.protocol]);
    // A list can be as large as a project; the others of its format are small next to it.
    let is_list = rekindle_registry::find(id.protocol).marks().is_some();
    let is_alone = query.name.is_some() && !query.alone && !is_list;
    if !is_alone && sessions.is_empty() {
        return Ok(inspected);
    }
    let again = Query {
        alone: query.alone || is_alone,
        sessions,
        ..query.of(id.protocol, Some(id.name.clone()))
    };
    inspect_world(world, &again)
}

/// Returns how the last session of a coding agent ended, if a workflow is chosen and open.
pub(crate) fn last_session_about(
    project: &Project,
    assessment: &Assessment,
) -> Option<LastSession> {
    // A session says itself how it ended.
    let is_other = |open: &&Summary| open.state.is_open() && !crate::status::gives_way(open);
    let open = assessment.chosen().filter(is_other)?;
    last_session(project, std::slice::from_ref(open), project.own_session())
}

/// Reads a capture as if it were the project.
pub fn inspect_recording(
    project: &Project,
    file: &Utf8Path,
    query: &Query,
) -> Result<Inspected, Error> {
    let path = project.typed_path(file);
    let bytes = project
        .world()
        .read(&path, u64::MAX)
        .map_err(|reason| Error::Unreadable {
            path: path.clone(),
            reason,
        })?;
    let recording = Recording::parse(&bytes).map_err(|source| Error::Recording { path, source })?;
    named_alone(&recording, query)
}

/// Returns the plan of a resume; writes nothing.
///
/// The digest does not depend on how the workflow was named, so that a resume can refer to it.
pub fn plan(project: &Project, query: &Query) -> Result<Planned, Error> {
    let world = project.world();
    let mut planned = plan_world(&world, query, &Intent::Open)?;
    let WorkflowId { protocol, name } = planned.plan.id.clone();
    if query.parts() != (Some(protocol), Some(name.clone())) {
        // To resolve the name, other protocols were read too.
        planned = plan_world(&world, &query.of(protocol, Some(name)), &Intent::Open)?;
    }
    if rekindle_registry::find(protocol).sessions().is_some() {
        let findings = findings_of_resume(project, &planned.plan.id);
        planned.assessment.findings.extend(findings);
    }
    Ok(planned.with_records(project).beside_sessions(project))
}

/// Returns the next step of a workflow that was resumed already; writes nothing.
///
/// Records that a resume makes at its start are left out, so that an agent which does the steps itself
/// can ask as often as it likes.
pub fn next_step(project: &Project, query: &Query) -> Result<Planned, Error> {
    let world = project.world();
    let opened = plan_world(&world, query, &Intent::Open)?;
    // A workflow that cannot be resumed has no next step; a resume reports why.
    let is_over = matches!(opened.plan.then, Then::Stop(_)) && opened.plan.steps.is_empty();
    let planned = if is_over {
        opened
    } else {
        let log = opened.plan.log;
        plan_world(&world, query, &Intent::GoOn { log })?
    };
    crate::resume::refuse_blocked(&planned)?;
    Ok(planned.beside_sessions(project))
}

pub(crate) fn plan_world(
    world: &RealWorld,
    query: &Query,
    intent: &Intent,
) -> Result<Planned, Error> {
    let witness = Witness::new(world);
    // Agreement to one checkpoint does not cover another, though both are read from the same files.
    for (ResumeOption(option), value) in &query.options {
        witness.asked(option, value);
    }
    let inspected = inspect_world(&witness, query)?;
    let id = chosen(&inspected, query)?;
    let Some(plan) = inspected.case.plan(&witness, intent) else {
        let protocol = inspected.protocol;
        return Err(match intent {
            Intent::Report(_) => Error::NotKept { id, what: "events" },
            Intent::Checkpoint { .. } => Error::NotKept {
                id,
                what: "checkpoints",
            },
            Intent::Open
            | Intent::GoOn { .. }
            | Intent::Settle { .. }
            | Intent::Answer { .. }
            | Intent::Checked { .. }
            | Intent::Finish { .. } => Error::NothingOf { protocol },
        });
    };
    let belongings = inspected.case.belongings();
    Ok(Planned {
        assessment: inspected.assessment().clone(),
        plan,
        work: inspected.case.tasks().and_then(TaskSource::work),
        commands: belongings.commands,
        roots: belongings.roots,
        digest: witness.digest(),
        readings: witness.readings(),
        last_session: None,
        unfinished: Vec::new(),
        is_unfinished: false,
        position: 0,
    })
}

/// Explains why a task is in its state, or what a code means.
pub fn explain(project: &Project, query: &Query, task: Option<&str>) -> Result<Explained, Error> {
    let Some(task) = task else {
        let name = query.name.clone().unwrap_or_default();
        return match Code::parse(&name) {
            Some(code) => Ok(Explained::Code(code)),
            None => Err(Error::UnknownCode { name }),
        };
    };
    let world = project.world();
    let inspected = inspect_world(&world, query)?;
    let id = chosen(&inspected, query)?;
    let ask = Ask {
        name: Some(id.name.clone()),
        options: query.options.clone(),
        sessions: crate::doing::of_sessions(&world, [id.protocol]),
        ..Ask::default()
    };
    let explained = rekindle_registry::find(inspected.protocol).explain(&world, &ask, task);
    explained
        .map(Explained::Task)
        .ok_or_else(|| Error::UnknownTask {
            id,
            task: task.to_owned(),
        })
}
