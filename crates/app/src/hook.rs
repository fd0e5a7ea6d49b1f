//! Handles the hook events of coding agents.
//!
//! An agent must not suffer from its hooks: a look at a few paths comes first, and where no protocol
//! has anything nothing else is done. An agent that rekindle itself has started is told nothing: its
//! prompt says what to do. What a hook could not do goes into a log of its own, see [`complain`].

mod briefing;
mod journal;
mod note;

use camino::Utf8Path;
use jiff::SignedDuration;
use rekindle_agents::hook::session_context;
use rekindle_model::Summary;
use rekindle_protocol::Ask;
use rekindle_protocol::capability::{CheckpointList, Open};
use rekindle_world::World;

use self::briefing::{Place, Standing, briefing};
use self::note::note;
use crate::last_session::{Own, last_session};
use crate::resume::refuse_held;
use crate::{AtWork, Error, Project, Query, inspect};

pub use self::journal::complain;
pub use rekindle_agents::hook::{Event, Moment};
pub use rekindle_runner::{Attempt, outlive_signals};

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
        Moment::SessionStart => {
            let text = brief(&project, event, started_in);
            Ok(text.map(|text| session_context(&text)))
        }
        Moment::PreCompact | Moment::SessionEnd => keep(&project, event).map(|()| None),
        Moment::Stop | Moment::StopFailure => note(&project, event).map(|()| None),
        Moment::PostToolUse => Ok(None),
    }
}

/// Finds the folder that has something of a protocol: the agent's, or one above it in its repository.
pub fn nearest(project: &Project) -> Option<Project> {
    project.nearest(Project::has_protocol)
}

/// Returns the briefing about what is open here.
fn brief(project: &Project, event: &Event, started_in: &Utf8Path) -> Option<String> {
    let world = project.world();
    let Open {
        workflows: open,
        unread,
    } = inspect::quick_open(&world);
    let own = match &event.session {
        Some(id) if event.goes_on => Own::GoesOn(id),
        Some(id) => Own::Begins(id),
        None => Own::None,
    };
    let last = last_session(project, &open, own);
    let mut standing = Vec::new();
    for summary in open {
        // Who is at work is told where it can be known; what is open is told in any case.
        let at_work = AtWork::on(project, &summary.id).ok().flatten();
        standing.push(Standing { summary, at_work });
    }
    let place = Place {
        folder: project.folder(),
        is_elsewhere: started_in != project.folder(),
    };
    briefing(&place, &standing, unread, last.as_ref())
}

/// Makes a checkpoint of every workflow that the session may have been about: something happened in
/// it lately, and since its last checkpoint.
fn keep(project: &Project, event: &Event) -> Result<(), Error> {
    let world = project.world();
    // A run that nobody could read within the time is older than those that were, so it is not in use.
    let open = inspect::quick_open(&world).workflows;
    let in_use = open.iter().filter(|summary| is_in_use(&world, summary));
    // One that cannot be kept is no reason to leave out the others.
    let kept: Vec<_> = in_use
        .map(|summary| keep_one(project, event, summary))
        .collect();
    kept.into_iter().collect()
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
    let ask = Ask {
        name: Some(summary.id.name.clone()),
        alone: true,
        ..Ask::default()
    };
    let case = rekindle_registry::find(summary.id.protocol).inspect(world, &ask);
    let kept = case.checkpoints().map(CheckpointList::list);
    let kept = kept.unwrap_or_default();
    let kept = kept.iter().filter_map(|kept| kept.at).max();
    kept.is_none_or(|kept| kept < last)
}
