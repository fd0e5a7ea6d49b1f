//! Commands that only read: inspect, plan, explain.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{
    Assessment, Code, Command, Explanation, Finding, Intent, OfferKind, Plan, ProtocolName, State,
    Summary, Then, Work, WorkflowId,
};
use rekindle_protocol::capability::{Open, TaskSource};
use rekindle_protocol::{Ask, Case, ResumeOption};
use rekindle_world::{Readings, RealWorld, Recorder, Recording, Witness, World};

use crate::last_session::last_session;
use crate::{Error, LastSession, Listing, Project};
use crate::{overview, records};

/// The workflow that a person named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The protocol, where one was named.
    pub protocol: Option<ProtocolName>,
    /// The given name of the workflow.
    pub name: Option<String>,
    /// The options that only some protocols support.
    pub options: Vec<(ResumeOption, String)>,
    /// The offers of the protocol that a person accepted.
    pub accepted: Vec<OfferKind>,
    /// Whether other workflows are irrelevant, so that they need not be read.
    pub alone: bool,
}

impl Query {
    /// Returns the same query for one workflow.
    pub(crate) fn of(&self, protocol: ProtocolName, name: Option<String>) -> Self {
        Self {
            protocol: Some(protocol),
            name,
            ..self.clone()
        }
    }

    /// Returns a query for one workflow that reads no other, where its protocol can do that.
    pub(crate) fn only(id: &WorkflowId) -> Self {
        Self {
            alone: true,
            ..Self::default().of(id.protocol, Some(id.name.clone()))
        }
    }

    /// Returns the requested protocol and name; the name may contain the protocol.
    fn parts(&self) -> (Option<ProtocolName>, Option<String>) {
        let Some(text) = &self.name else {
            return (self.protocol, None);
        };
        let (named, rest) = rekindle_registry::split(text);
        match (self.protocol, named) {
            // If the protocol is given separately, a colon in the name is part of the name.
            (Some(protocol), Some(named)) if protocol != named => {
                (Some(protocol), Some(text.clone()))
            }
            (protocol, named) => (protocol.or(named), Some(rest.to_owned())),
        }
    }
}

/// The result of reading a workflow.
pub struct Inspected {
    /// The protocol.
    pub protocol: ProtocolName,
    /// How the last session of a coding agent here ended, if that matters.
    pub last_session: Option<LastSession>,
    /// Findings about rekindle's own records.
    pub of_records: Vec<Finding>,
    /// Whether the project has a workflow of the protocol.
    is_here: bool,
    /// Whether the workflow was named.
    is_named: bool,
    pub(crate) case: Box<dyn Case>,
}

impl Inspected {
    /// Returns whether there is nothing, and no protocol was named that could report so in its own words.
    pub fn is_nothing(&self) -> bool {
        !self.is_here && !self.is_named
    }

    /// Returns whether workflows of other protocols come first.
    fn gives_way(&self) -> bool {
        rekindle_registry::find(self.protocol).gives_way()
    }

    /// Returns the assessment.
    pub fn assessment(&self) -> &Assessment {
        self.case.assessment()
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
        None => inspect_world(&world, query)?,
        Some(capture) => {
            let recorder = Recorder::new(&world);
            let inspected = inspect_world(&recorder, query)?;
            // It contains everything that was read, so only the user may read it.
            rekindle_fs::create_private(capture, &recorder.finish())?;
            inspected
        }
    };
    // Notes of agents are not part of a capture.
    inspected.last_session = last_session_about(project, inspected.assessment());
    let work = inspected.case.tasks().and_then(TaskSource::work);
    let id = inspected.assessment().id.clone();
    inspected.of_records = records::findings(project, id.as_ref(), work.as_ref());
    Ok(inspected)
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
    inspect_world(&recording, query)
}

/// Reads a world: the named protocol, or the only one that has the requested workflow.
pub(crate) fn inspect_world(world: &dyn World, query: &Query) -> Result<Inspected, Error> {
    let inspected = look(world, query)?;
    let protocol = inspected.protocol;
    let known = rekindle_registry::find(protocol).options();
    let mut given = query.options.iter().map(|(option, _)| option);
    match given.find(|option| !known.contains(option)) {
        Some(ResumeOption(option)) => Err(Error::NotOffered { protocol, option }),
        None => Ok(inspected),
    }
}

fn look(world: &dyn World, query: &Query) -> Result<Inspected, Error> {
    let (protocol, name) = query.parts();
    let of = |protocol: ProtocolName, name: Option<String>| {
        let ask = Ask {
            name,
            accepted: query.accepted.clone(),
            alone: query.alone,
            all: false,
            options: query.options.clone(),
        };
        Inspected {
            protocol,
            last_session: None,
            of_records: Vec::new(),
            is_here: rekindle_registry::find(protocol).is_here(world),
            is_named: query.parts().0.is_some(),
            case: rekindle_registry::find(protocol).inspect(world, &ask),
        }
    };
    let look = |protocol: ProtocolName| of(protocol, name.clone());
    if let Some(protocol) = protocol {
        return Ok(look(protocol));
    }
    let mut here: Vec<Inspected> = rekindle_registry::ALL
        .iter()
        .filter(|protocol| protocol.is_here(world))
        .map(|protocol| look(protocol.name()))
        .collect();
    match &name {
        Some(name) => {
            // The only protocol here may have its own words for an unknown name.
            let has_words = |inspected: &Inspected| {
                let assessment = inspected.assessment();
                let mut findings = assessment.findings.iter();
                assessment.id.is_some() || findings.any(|found| found.code == Code::BadFeatureName)
            };
            let could_be = begun_with(&here, name);
            let is_known = |one: &Inspected| one.assessment().state != State::Unknown;
            if let [only] = could_be.as_slice()
                && !here.iter().any(is_known)
            {
                // Not every protocol takes the beginning of a name, but people type what they are shown.
                return Ok(of(only.protocol, Some(only.name.clone())));
            }
            if here.len() == 1
                && let Some(only) = here.pop_if(|only| has_words(only))
            {
                return Ok(only);
            }
            here.retain(is_known);
            if here.is_empty() {
                return Err(unknown(name, could_be, open(world)));
            }
        }
        None if here.len() > 1 || here.iter().all(Inspected::gives_way) => {
            let all = here.iter().flat_map(|one| &one.assessment().workflows);
            let all: Vec<Summary> = all.cloned().collect();
            let of_lists = crate::lists::runs_of(world, &all);
            here.retain(|inspected| {
                let mut open = inspected.assessment().workflows.iter();
                let is_only_of_lists = !of_lists.is_empty()
                    && open.all(|one| !one.state.is_open() || of_lists.contains(&one.id))
                    && of_lists.iter().any(|id| id.protocol == inspected.protocol);
                inspected.assessment().state != State::Nothing && !is_only_of_lists
            });
            // Finished workflows do not make an open one ambiguous.
            let is_over = |inspected: &Inspected| inspected.assessment().state == State::Complete;
            if !here.iter().all(is_over) {
                here.retain(|inspected| !is_over(inspected));
            }
            if !here.iter().all(Inspected::gives_way) {
                here.retain(|inspected| !inspected.gives_way());
            }
        }
        None => {}
    }
    match (here.pop(), here.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => match &name {
            Some(name) => {
                let name = name.clone();
                let among = rekindle_registry::ALL
                    .iter()
                    .filter_map(|protocol| look(protocol.name()).assessment().id.clone())
                    .collect();
                Err(Error::Ambiguous { name, among })
            }
            None => Err(Error::ChoiceNeeded { open: open(world) }),
        },
        // There is no workflow of any protocol: the first protocol reports that in its own words.
        (None, _) => Ok(look(rekindle_registry::starter().0)),
    }
}

/// Returns the workflows whose names start with the given text.
fn begun_with(looked_at: &[Inspected], name: &str) -> Vec<WorkflowId> {
    let workflows = looked_at.iter().flat_map(|one| &one.assessment().workflows);
    let begun = workflows.filter(|summary| !name.is_empty() && summary.id.name.starts_with(name));
    begun.map(|summary| summary.id.clone()).collect()
}

/// Returns why a name matches no workflow: several start with it, or none.
fn unknown(name: &str, could_be: Vec<WorkflowId>, open: Vec<Summary>) -> Error {
    let name = name.to_owned();
    if could_be.len() > 1 {
        let among = could_be;
        Error::Ambiguous { name, among }
    } else {
        Error::Unknown { name, open }
    }
}

/// Returns all open workflows of all protocols.
pub(crate) fn open(world: &dyn World) -> Vec<Summary> {
    all(world)
        .into_iter()
        .filter(|summary| summary.state.is_open())
        .collect()
}

/// Returns the open workflows of all protocols, for a caller that must not wait.
pub(crate) fn quick_open(world: &dyn World) -> Open {
    let mut all = Open::default();
    let here = rekindle_registry::ALL.iter();
    for protocol in here.filter(|protocol| protocol.is_here(world)) {
        let open = rekindle_registry::open(*protocol, world);
        all.workflows.extend(open.workflows);
        all.unread += open.unread;
    }
    all
}

/// Returns all workflows of all protocols, open ones first.
pub(crate) fn all(world: &dyn World) -> Vec<Summary> {
    survey(world, Listing::default()).0
}

/// Returns the workflows of a list, open ones first, and those that are meant without a name.
pub(crate) fn survey(world: &dyn World, listing: Listing) -> (Vec<Summary>, Vec<WorkflowId>) {
    let mut workflows = Vec::new();
    let mut chosen = Vec::new();
    let ask = Ask {
        all: listing.all,
        ..Ask::default()
    };
    let asked = |name| listing.protocol.is_none_or(|wanted| wanted == name);
    let here = rekindle_registry::ALL.iter();
    for protocol in here.filter(|protocol| asked(protocol.name()) && protocol.is_here(world)) {
        let case = protocol.inspect(world, &ask);
        workflows.extend_from_slice(&case.assessment().workflows);
        chosen.extend(case.assessment().id.clone());
    }
    let of_lists = crate::lists::runs_of(world, &workflows);
    workflows.retain(|summary: &Summary| !of_lists.contains(&summary.id));
    overview::order(&mut workflows);
    (workflows, chosen)
}

/// Returns the chosen workflow, or why none is.
pub(crate) fn chosen(inspected: &Inspected, query: &Query) -> Result<WorkflowId, Error> {
    let assessment = inspected.assessment();
    if let Some(id) = &assessment.id {
        return Ok(id.clone());
    }
    let open = || {
        assessment
            .workflows
            .iter()
            // A protocol without a workflow here may still report what it would find.
            .filter(|summary| inspected.is_here && summary.state.is_open())
            .cloned()
            .collect()
    };
    // An invalid name is reported differently from an unknown one.
    let refuses = |finding: &&Finding| {
        assessment.state == State::Nothing || finding.code == Code::BadFeatureName
    };
    if let Some(finding) = assessment.blockers().find(refuses) {
        let finding = Box::new(finding.clone());
        return Err(Error::NotChosen { finding });
    }
    match (&query.name, assessment.state) {
        (Some(name), State::Unknown) => {
            let (_, typed) = rekindle_registry::split(name);
            let could_be = begun_with(std::slice::from_ref(inspected), typed);
            Err(unknown(name, could_be, open()))
        }
        (_, State::Choice) => Err(Error::ChoiceNeeded { open: open() }),
        _ if inspected.is_nothing() => Err(Error::Nothing),
        _ => Err(Error::NothingOf {
            protocol: inspected.protocol,
        }),
    }
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
