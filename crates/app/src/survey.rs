//! The workflows of all protocols.

use rekindle_model::{Summary, WorkflowId};
use rekindle_protocol::Ask;
use rekindle_protocol::capability::Open;
use rekindle_world::World;

use crate::{Listing, overview};

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

/// Returns the open workflows that come before sessions of coding agents.
pub(crate) fn quick_open_of_others(world: &dyn World) -> Vec<Summary> {
    let others = rekindle_registry::ALL
        .iter()
        .filter(|protocol| !protocol.gives_way() && protocol.is_here(world));
    let open = others.map(|protocol| rekindle_registry::open(*protocol, world));
    open.flat_map(|open| open.workflows).collect()
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
