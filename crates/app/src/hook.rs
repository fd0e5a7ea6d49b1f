//! Handles the hook events of coding agents.
//!
//! An agent must not suffer from its hooks: a look at a few paths comes first, and where no protocol
//! has anything nothing else is done. An agent that rekindle itself has started is told nothing: its
//! prompt says what to do. What a hook could not do goes into a log of its own, see [`complain`].

mod briefing;
mod journal;
mod note;
pub(crate) mod told;

use camino::Utf8Path;
use jiff::SignedDuration;
use rekindle_agents::hook::session_context;
use rekindle_agents::traces::UsedTools;
use rekindle_model::{Summary, WorkflowId};
use rekindle_protocol::Protocol;
use rekindle_protocol::capability::{CheckpointList, Open};
use rekindle_world::World;

use self::briefing::{
    Place, Standing, briefing, line_for_person, pointer, state_of, worth_telling,
};
use self::note::note;
use self::told::Knows;
use crate::last_session::{LastSession, Own, last_session};
use crate::lists::RunsOfLists;
use crate::resume::refuse_held;
use crate::{AtWork, Error, Project, Query, survey};

pub use self::journal::complain;
pub use rekindle_agents::hook::{Event, Moment};
pub use rekindle_runner::{Attempt, outlive_signals};

/// What an agent does about an interrupted workflow; the same words wherever one is told of it.
pub const RECIPE: &str = "Do nothing about it unless the user asks. Then call `plan`, show it, and after the user's yes call `resume` with its `digest`.";

/// A workflow in which nothing happened for longer is not what the agent's session is about.
const IN_USE: SignedDuration = SignedDuration::from_hours(24);

/// Does what is due at a moment of an agent's life. Returns what the agent is to be told, if anything.
///
/// `attempt` is the attempt of the engine that the agent belongs to, where rekindle has started it.
pub fn hook(
    project: &Project,
    event: &Event,
    attempt: Option<&Attempt>,
) -> Result<Option<String>, Error> {
    match (attempt, event.moment) {
        (Some(attempt), Moment::PostToolUse) => {
            crate::engine::beat(project, attempt)?;
            return Ok(None);
        }
        (Some(_), _) | (None, Moment::PostToolUse) => return Ok(None),
        (None, _) => {}
    }
    let started_in = project.folder();
    let Some(project) = nearest(project) else {
        return Ok(None);
    };
    match event.moment {
        Moment::SessionStart => Ok(brief(&project, event, started_in)),
        Moment::PreCompact | Moment::SessionEnd => keep(&project, event).map(|()| None),
        Moment::Stop | Moment::StopFailure => note(&project, event).map(|()| None),
        Moment::PostToolUse => Ok(None),
    }
}

/// Finds the folder that has something of a protocol: the agent's, or one above it in its repository.
pub fn nearest(project: &Project) -> Option<Project> {
    project.nearest(Project::has_protocol)
}

/// Returns what a session is told of what is open here, as the output of a hook.
fn brief(project: &Project, event: &Event, started_in: &Utf8Path) -> Option<String> {
    let world = project.world();
    let Open {
        workflows: open,
        unread,
        ..
    } = survey::quick_open(project, &world);
    let muted = crate::mute::muted(project);
    let heard = open
        .into_iter()
        .filter(|summary| !muted.contains(&summary.id.to_string()));
    let open = worth_telling(heard.collect(), world.now());
    let own = match &event.session {
        Some(id) if event.goes_on => Own::GoesOn(id),
        Some(id) => Own::Begins(id),
        None => Own::None,
    };
    let last = last_session(project, &open, own);
    let mut standing = Vec::new();
    let runs = RunsOfLists::of(&world, open.iter().map(|summary| &summary.id));
    for summary in open {
        // Who is at work is told where it can be known; what is open is told in any case.
        let at_work = AtWork::on(project, runs.worked_on(&summary.id))
            .ok()
            .flatten();
        standing.push(Standing { summary, at_work });
    }
    let place = Place {
        folder: project.folder(),
        is_elsewhere: started_in != project.folder(),
    };
    let background = |id: &WorkflowId| survey::one(&world, id).background(&world);
    let whole = || briefing(&place, &standing, unread, last.as_ref(), &background);
    let text = match knows(project, event, &standing, last.as_ref()) {
        Knows::All => None,
        Knows::Earlier => pointer(&standing, last.as_ref()),
        Knows::Nothing => whole(),
    }?;
    let line = line_for_person(&standing);
    Some(session_context(&text, line.as_deref()))
}

/// Returns what the session knows already; one that cannot be recorded is told everything.
fn knows(
    project: &Project,
    event: &Event,
    standing: &[Standing],
    last: Option<&LastSession>,
) -> Knows {
    let Some(session) = event.session.as_ref().filter(|_| !standing.is_empty()) else {
        return Knows::Nothing;
    };
    let told = told::tell(
        project,
        session,
        &state_of(standing, last),
        event.is_cleared,
    );
    told.unwrap_or(Knows::Nothing)
}

/// Makes a checkpoint of every workflow that the session worked on, if something happened in it since
/// its last one.
///
/// What the session used is read first, since it is cheap: most sessions work on none.
fn keep(project: &Project, event: &Event) -> Result<(), Error> {
    let world = project.world();
    let Some(used) = used_tools(&world, event) else {
        return Ok(());
    };
    // A run that nobody could read within the time is older than those that were, so it is not in use.
    let open = survey::quick_open(project, &world).workflows;
    let touched = open
        .iter()
        .filter(|summary| has_touched(&used, summary, &open));
    let in_use = touched.filter(|summary| is_in_use(&world, summary));
    // One that can not be kept is no reason to leave out the others.
    let kept: Vec<_> = in_use
        .map(|summary| keep_one(project, event, summary))
        .collect();
    kept.into_iter().collect()
}

/// Returns whether a session worked on a workflow: it named it, or used the folders of a protocol that has
/// only this one open, or called rekindle where nothing else is open.
fn has_touched(used: &UsedTools, summary: &Summary, open: &[Summary]) -> bool {
    let mut folders = rekindle_registry::find(summary.id.protocol)
        .folders()
        .iter();
    let is_only_one =
        |of: &dyn Fn(&Summary) -> bool| open.iter().filter(|one| of(one)).count() == 1;
    used.names(&summary.id.name)
        || (is_only_one(&|one| one.id.protocol == summary.id.protocol)
            && folders.any(|folder| used.names(folder)))
        || (is_only_one(&|_| true) && used.names("rekindle"))
}

/// Returns what a session's tools were used for, if any of it could be about a workflow.
fn used_tools(world: &dyn World, event: &Event) -> Option<UsedTools> {
    let used = match (&event.used, &event.transcript) {
        (Some(used), _) => UsedTools::of(used),
        (None, Some(transcript)) => UsedTools::read(world, transcript)?,
        (None, None) => return None,
    };
    let could_be = |protocol: &&dyn Protocol| {
        let mut folders = protocol.folders().iter();
        protocol.is_here(world) && folders.any(|folder| used.names(folder))
    };
    let is_about_any = used.names("rekindle") || rekindle_registry::ALL.iter().any(could_be);
    is_about_any.then_some(used)
}

fn keep_one(project: &Project, event: &Event, summary: &Summary) -> Result<(), Error> {
    refuse_held(project, &summary.id)?;
    let note = match event.moment {
        Moment::PreCompact => "before the conversation was compacted",
        Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::StopFailure
        | Moment::PostToolUse => "at the end of a session",
    };
    let agent = event.agent.map_or("an agent", crate::last_session::title);
    let query = Query::only(&summary.id);
    match crate::checkpoint(project, &query, format!("{agent}: {note}")) {
        // Not every protocol knows checkpoints.
        Ok(_) | Err(Error::NotKept { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns whether something happened in a workflow lately, and after its last checkpoint.
fn is_in_use(world: &dyn World, summary: &Summary) -> bool {
    let Some(last) = summary.last_activity else {
        return false;
    };
    if world.now().duration_since(last) >= IN_USE {
        return false;
    }
    let case = survey::one(world, &summary.id);
    let kept = case.checkpoints().map(CheckpointList::list);
    let kept = kept.unwrap_or_default();
    let kept = kept.iter().filter_map(|kept| kept.at).max();
    kept.is_none_or(|kept| kept < last)
}
