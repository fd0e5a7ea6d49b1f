//! Looking without touching: inspect, plan, explain.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{
    Assessment, Code, Explanation, Finding, Intent, Plan, ProtocolName, State, Summary, Then, Work,
    WorkflowId,
};
use rekindle_protocols::{Ask, Case};
use rekindle_world::{RealWorld, Recorder, Recording, Witness, World};

use crate::last_session::last_session;
use crate::{Error, LastSession, Project};

/// What a person named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The protocol, where one was named.
    pub protocol: Option<ProtocolName>,
    /// The workflow as it was typed.
    pub name: Option<String>,
    /// A file with the host's task list, relative to the project or absolute.
    pub tasks: Option<Utf8PathBuf>,
    /// The checkpoint to go back to.
    pub checkpoint: Option<String>,
    /// With as little context as possible.
    pub fresh: bool,
    /// After the protocol's own validators.
    pub validate: bool,
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

    /// Returns the first option that only protocols understand which resume from checkpoints.
    fn checkpoint_option(&self) -> Option<&'static str> {
        let options = [
            ("--checkpoint", self.checkpoint.is_some()),
            ("--fresh", self.fresh),
            ("--validate", self.validate),
        ];
        let given = options.into_iter().find(|(_, is_given)| *is_given);
        given.map(|(option, _)| option)
    }

    /// Returns the protocol and the name that are meant; the name may carry the protocol.
    fn parts(&self) -> (Option<ProtocolName>, Option<String>) {
        let Some(text) = &self.name else {
            return (self.protocol, None);
        };
        let (named, rest) = WorkflowId::split(text);
        match (self.protocol, named) {
            // With a protocol given apart, another one before the colon belongs to the name.
            (Some(protocol), Some(named)) if protocol != named => {
                (Some(protocol), Some(text.clone()))
            }
            (protocol, named) => (protocol.or(named), Some(rest.to_owned())),
        }
    }
}

/// A workflow that was looked at.
pub struct Inspected {
    /// The protocol.
    pub protocol: ProtocolName,
    /// How the last session of a coding agent here ended, where that is worth knowing.
    pub last_session: Option<LastSession>,
    /// Whether the protocol has anything in the project.
    is_here: bool,
    /// Whether it was named.
    is_named: bool,
    pub(crate) case: Box<dyn Case>,
}

impl Inspected {
    /// Returns whether nothing is here, and no protocol was named that could say so in its own words.
    pub fn is_nothing(&self) -> bool {
        !self.is_here && !self.is_named
    }

    /// Returns what the evidence means.
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
    /// How the last session of a coding agent here ended, where that is worth knowing.
    pub last_session: Option<LastSession>,
    /// The work, where the workflow's tasks are the engine's to run.
    pub(crate) work: Option<Work>,
    /// Folders outside of the project that are the workflow's to write to.
    pub(crate) roots: Vec<Utf8PathBuf>,
}

impl Planned {
    /// Returns it with how the last session of a coding agent here ended, and what that means for it.
    ///
    /// What agents do and leave is no part of what is agreed to.
    pub(crate) fn beside_sessions(mut self, project: &Project) -> Self {
        self.last_session = last_session_about(project, &self.assessment);
        let finding = self.of_sessions();
        self.assessment.findings.extend(finding);
        self
    }

    /// Returns what has to be known of the last session before work is done a second time.
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

/// Looks at one workflow, or at all of a protocol while none is chosen.
///
/// With `capture`, all that was read is also written to that file, to be played back elsewhere.
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
            rekindle_fs::create(capture, &recorder.finish())?;
            inspected
        }
    };
    // What agents wrote down for themselves is no part of a capture.
    inspected.last_session = last_session_about(project, inspected.assessment());
    Ok(inspected)
}

/// Returns how the last session of a coding agent ended, where a workflow is chosen and open.
pub(crate) fn last_session_about(
    project: &Project,
    assessment: &Assessment,
) -> Option<LastSession> {
    let open = assessment.chosen().filter(|open| open.state.is_open())?;
    last_session(project, std::slice::from_ref(open), project.own_session())
}

/// Looks at what was captured, as if it were here.
pub fn inspect_recording(
    project: &Project,
    file: &Utf8Path,
    query: &Query,
) -> Result<Inspected, Error> {
    let path = project.folder().join(file);
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

/// Looks at a world: at the protocol that is named, or at the only one that has what is meant.
pub(crate) fn inspect_world(world: &dyn World, query: &Query) -> Result<Inspected, Error> {
    let inspected = look(world, query)?;
    let protocol = inspected.protocol;
    match query.checkpoint_option() {
        Some(option) if !rekindle_protocols::find(protocol).resumes_from_checkpoints() => {
            Err(Error::NotOffered { protocol, option })
        }
        Some(_) | None => Ok(inspected),
    }
}

fn look(world: &dyn World, query: &Query) -> Result<Inspected, Error> {
    let (protocol, name) = query.parts();
    let look = |protocol: ProtocolName| {
        let ask = Ask {
            name: name.clone(),
            tasks: query.tasks.clone(),
            checkpoint: query.checkpoint.clone(),
            fresh: query.fresh,
            validate: query.validate,
        };
        Inspected {
            protocol,
            last_session: None,
            is_here: rekindle_protocols::find(protocol).is_here(world),
            is_named: query.parts().0.is_some(),
            case: rekindle_protocols::find(protocol).inspect(world, &ask),
        }
    };
    if let Some(protocol) = protocol {
        return Ok(look(protocol));
    }
    let mut here: Vec<Inspected> = rekindle_protocols::ALL
        .iter()
        .filter(|protocol| protocol.is_here(world))
        .map(|protocol| look(protocol.name()))
        .collect();
    match &name {
        Some(name) => {
            // The only protocol here may have words of its own for a name that it does not know.
            let has_words = |inspected: &Inspected| {
                let assessment = inspected.assessment();
                let mut findings = assessment.findings.iter();
                assessment.id.is_some() || findings.any(|found| found.code == Code::BadFeatureName)
            };
            if here.len() == 1
                && let Some(only) = here.pop_if(|only| has_words(only))
            {
                return Ok(only);
            }
            let could_be = begun_with(&here, name);
            here.retain(|inspected| inspected.assessment().state != State::Unknown);
            if here.is_empty() {
                return Err(unknown(name, could_be, open(world)));
            }
        }
        None if here.len() > 1 => {
            here.retain(|inspected| inspected.assessment().state != State::Nothing);
            // What is over is not in the way of what is not.
            let is_over = |inspected: &Inspected| inspected.assessment().state == State::Complete;
            if !here.iter().all(is_over) {
                here.retain(|inspected| !is_over(inspected));
            }
        }
        None => {}
    }
    match (here.pop(), here.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => match &name {
            Some(name) => {
                let name = name.clone();
                let among = rekindle_protocols::ALL
                    .iter()
                    .filter_map(|protocol| look(protocol.name()).assessment().id.clone())
                    .collect();
                Err(Error::Ambiguous { name, among })
            }
            None => Err(Error::ChoiceNeeded { open: open(world) }),
        },
        // Nothing of any protocol is here: the first one says so in its own words.
        (None, _) => Ok(look(ProtocolName::AgentMemory)),
    }
}

/// Returns the workflows whose names begin as what was typed.
fn begun_with(looked_at: &[Inspected], name: &str) -> Vec<WorkflowId> {
    let workflows = looked_at.iter().flat_map(|one| &one.assessment().workflows);
    let begun = workflows.filter(|summary| !name.is_empty() && summary.id.name.starts_with(name));
    begun.map(|summary| summary.id.clone()).collect()
}

/// Returns why a name leads to no workflow: several begin so, or none does.
fn unknown(name: &str, could_be: Vec<WorkflowId>, open: Vec<Summary>) -> Error {
    let name = name.to_owned();
    if could_be.len() > 1 {
        let among = could_be;
        Error::Ambiguous { name, among }
    } else {
        Error::Unknown { name, open }
    }
}

/// Returns every open workflow of every protocol.
pub(crate) fn open(world: &dyn World) -> Vec<Summary> {
    all(world)
        .into_iter()
        .filter(|summary| summary.state.is_open())
        .collect()
}

/// Returns every workflow of every protocol, open ones first.
pub(crate) fn all(world: &dyn World) -> Vec<Summary> {
    survey(world).0
}

/// Returns every workflow of every protocol, open ones first, and those that are meant without a name.
pub(crate) fn survey(world: &dyn World) -> (Vec<Summary>, Vec<WorkflowId>) {
    let mut workflows = Vec::new();
    let mut chosen = Vec::new();
    let here = rekindle_protocols::ALL.iter();
    for protocol in here.filter(|protocol| protocol.is_here(world)) {
        let case = protocol.inspect(world, &Ask::default());
        workflows.extend_from_slice(&case.assessment().workflows);
        chosen.extend(case.assessment().id.clone());
    }
    workflows.sort_by_key(|summary: &Summary| !summary.state.is_open());
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
            // A protocol that is not here may still say what it would find here.
            .filter(|summary| inspected.is_here && summary.state.is_open())
            .cloned()
            .collect()
    };
    // A name that can be nobody's is another thing than one that is not here.
    let refuses = |finding: &&Finding| {
        assessment.state == State::Nothing || finding.code == Code::BadFeatureName
    };
    if let Some(finding) = assessment.blockers().find(refuses) {
        let finding = Box::new(finding.clone());
        return Err(Error::NotChosen { finding });
    }
    match (&query.name, assessment.state) {
        (Some(name), State::Unknown) => {
            let (_, typed) = WorkflowId::split(name);
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

/// Returns what a resume would do first; writes nothing.
///
/// The digest is the same however the workflow was named, so that it can be agreed to in a resume.
pub fn plan(project: &Project, query: &Query) -> Result<Planned, Error> {
    let world = project.world();
    let mut planned = plan_world(&world, query, &Intent::Open)?;
    let WorkflowId { protocol, name } = planned.plan.id.clone();
    if query.parts() != (Some(protocol), Some(name.clone())) {
        // To find out which one was meant, other protocols were looked at too.
        planned = plan_world(&world, &query.of(protocol, Some(name)), &Intent::Open)?;
    }
    Ok(planned.beside_sessions(project))
}

/// Returns what comes next in a workflow that is taken up already; writes nothing.
///
/// What a resume has to record when it takes the workflow up is left out, so that an agent which
/// works through the steps itself can ask as often as it likes.
pub fn next_step(project: &Project, query: &Query) -> Result<Planned, Error> {
    let world = project.world();
    let opened = plan_world(&world, query, &Intent::Open)?;
    // What can not be taken up has no step, and why that is so is said when it is tried.
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
    // A yes to one checkpoint is none to another, though both are read from the same files.
    if let Some(option) = query.checkpoint_option() {
        let checkpoint = query.checkpoint.as_deref().unwrap_or_default();
        witness.asked(option, checkpoint);
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
    Ok(Planned {
        assessment: inspected.assessment().clone(),
        plan,
        work: inspected.case.work(),
        roots: inspected.case.roots(),
        digest: witness.digest(),
        last_session: None,
    })
}

/// Tells why a task is in its state, or what a code means.
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
        tasks: query.tasks.clone(),
        ..Ask::default()
    };
    let explained = rekindle_protocols::find(inspected.protocol).explain(&world, &ask, task);
    explained
        .map(Explained::Task)
        .ok_or_else(|| Error::UnknownTask {
            id,
            task: task.to_owned(),
        })
}
