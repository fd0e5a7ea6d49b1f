//! The workflows of all protocols.

use jiff::SignedDuration;
use rekindle_model::{Summary, WorkflowId};
use rekindle_protocol::capability::{Finished, Known, Open};
use rekindle_protocol::{Ask, Case, Protocol};
use rekindle_runner::FinishedWorkflows;
use rekindle_world::World;

use crate::{Listing, Project, overview};

/// Returns all open workflows of all protocols.
pub(crate) fn open(world: &dyn World) -> Vec<Summary> {
    all(world)
        .into_iter()
        .filter(|summary| summary.state.is_open())
        .collect()
}

/// A workflow in which nothing happened for longer is in `rekindle status`, and no hook looks for it.
pub(crate) const STALE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Returns the open workflows of all protocols, for a caller that must not wait.
pub(crate) fn quick_open(project: &Project, world: &dyn World) -> Open {
    let state = project.state();
    let known = state.finished();
    let (open, found) = look(world, &known, |_| true);
    // What cannot be recorded is looked at again.
    state.keep_finished(known, found).ok();
    open
}

/// Returns the open workflows that come before sessions of coding agents; records nothing.
pub(crate) fn quick_open_of_others(project: &Project) -> Vec<Summary> {
    let known = project.state().finished();
    let is_other = |protocol: &dyn Protocol| !protocol.gives_way();
    look(&project.world(), &known, is_other).0.workflows
}

/// Returns the open workflows of some protocols, and those that were found to be finished.
fn look(
    world: &dyn World,
    known: &FinishedWorkflows,
    is_asked: impl Fn(&dyn Protocol) -> bool,
) -> (Open, FinishedWorkflows) {
    let none = Finished::new();
    let mut found = FinishedWorkflows::new();
    let mut all = Open::default();
    let asked = rekindle_registry::ALL.iter().copied();
    for protocol in asked.filter(|one| is_asked(*one) && one.is_here(world)) {
        let name = protocol.name().as_str();
        let known = Known {
            since: world.now() - STALE,
            finished: known.get(name).unwrap_or(&none),
        };
        let open = rekindle_registry::open(protocol, world, &known);
        all.workflows.extend(open.workflows);
        all.unread += open.unread;
        if !open.finished.is_empty() {
            found.insert(name.to_owned(), open.finished);
        }
    }
    (all, found)
}

/// Returns one workflow, of which nothing else of its protocol is read.
pub(crate) fn one(world: &dyn World, id: &WorkflowId) -> Box<dyn Case> {
    let ask = Ask {
        name: Some(id.name.clone()),
        alone: true,
        ..Ask::default()
    };
    rekindle_registry::find(id.protocol).inspect(world, &ask)
}

/// Returns all workflows of all protocols, open ones first.
pub(crate) fn all(world: &dyn World) -> Vec<Summary> {
    survey(world, Listing::default()).0
}

/// Returns the workflows of a list, open ones first, and those that are meant without a name.
pub(crate) fn survey(world: &dyn World, listing: Listing) -> (Vec<Summary>, Vec<WorkflowId>) {
    let mut workflows = Vec::new();
    let mut chosen = Vec::new();
    let asked = |name| listing.protocol.is_none_or(|wanted| wanted == name);
    let here = rekindle_registry::ALL.iter();
    let here: Vec<_> = here
        .filter(|protocol| asked(protocol.name()) && protocol.is_here(world))
        .collect();
    let ask = Ask {
        all: listing.all,
        sessions: crate::doing::of_sessions(world, here.iter().map(|protocol| protocol.name())),
        ..Ask::default()
    };
    for protocol in here {
        let case = protocol.inspect(world, &ask);
        workflows.extend_from_slice(&case.assessment().workflows);
        chosen.extend(case.assessment().id.clone());
    }
    let of_lists = crate::lists::runs_of(world, &workflows);
    workflows.retain(|summary: &Summary| !of_lists.contains(&summary.id));
    overview::order(&mut workflows);
    (workflows, chosen)
}
