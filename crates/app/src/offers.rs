//! What can be done in a project, so that a front end offers nothing that cannot apply.

use std::collections::BTreeSet;

use rekindle_model::{Intent, Report};
use rekindle_protocol::{Ask, ResumeOption};

use crate::Project;

/// Something that can be done in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offer {
    /// A workflow is here, open or not.
    Workflows,
    /// An open workflow takes events.
    Events,
    /// An open workflow takes checkpoints from others.
    NewCheckpoints,
    /// An open workflow lists checkpoints.
    Checkpoints,
    /// An open workflow can go back to a checkpoint.
    Rollback,
}

/// Looks what can be done in a project.
pub fn offers(project: &Project) -> BTreeSet<Offer> {
    let world = project.world();
    let mut offers = BTreeSet::new();
    let mut add = |offer: Offer, is_offered: bool| {
        if is_offered {
            offers.insert(offer);
        }
    };
    let here = rekindle_registry::ALL.iter();
    for protocol in here.filter(|protocol| protocol.is_here(&world)) {
        let all = protocol.inspect(&world, &Ask::default());
        let workflows = &all.assessment().workflows;
        let is_any = !workflows.is_empty() || all.assessment().id.is_some();
        add(Offer::Workflows, is_any);
        let Some(open) = workflows.iter().find(|summary| summary.state.is_open()) else {
            continue;
        };
        let ask = Ask {
            name: Some(open.id.name.clone()),
            alone: true,
            ..Ask::default()
        };
        let case = protocol.inspect(&world, &ask);
        let takes = |intent: &Intent| case.plan(&world, intent).is_some();
        let sign = Report::heartbeat("agent".to_owned(), String::new());
        add(Offer::Events, takes(&Intent::Report(sign)));
        let note = String::new();
        add(Offer::NewCheckpoints, takes(&Intent::Checkpoint { note }));
        add(Offer::Checkpoints, case.checkpoints().is_some());
        let options = protocol.options();
        add(Offer::Rollback, options.contains(&ResumeOption::CHECKPOINT));
    }
    offers
}
