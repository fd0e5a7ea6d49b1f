//! What the sessions of coding agents in a project were doing, for the lists of tasks that they worked on.

use std::cmp::Reverse;

use rekindle_model::{ProtocolName, Session};
use rekindle_protocol::Doing;
use rekindle_protocol::sessions::{Reach, Scope};
use rekindle_world::World;

/// Returns what the sessions of a project were doing, the newest first; nothing where no list wants it.
pub(crate) fn of_sessions(
    world: &dyn World,
    protocols: impl IntoIterator<Item = ProtocolName>,
) -> Vec<Doing> {
    let mut protocols = protocols.into_iter();
    if !protocols.any(|name| rekindle_registry::find(name).marks().is_some()) {
        return Vec::new();
    }
    let (_, keeper) = rekindle_registry::sessions();
    let mut sessions = keeper.survey(world, Scope::Project, Reach::Recent).sessions;
    sessions.sort_by_key(|session| Reverse(session.last_activity));
    let all = sessions.iter().map(|session| doing(world, session));
    all.collect()
}

fn doing(world: &dyn World, session: &Session) -> Doing {
    let project = world.resolve(world.project());
    let project = project.unwrap_or_else(|_| world.project().to_owned());
    let touched = session.touched_paths();
    let touched = touched.filter_map(|path| Some(path.strip_prefix(&project).ok()?.to_owned()));
    Doing {
        prompt: session.prompt.clone(),
        touched: touched.collect(),
        step: session.todo.as_ref().and_then(|todo| todo.begun.clone()),
    }
}
