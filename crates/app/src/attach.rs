//! Follows a run that another rekindle works on, without touching it.

use std::fmt;
use std::time::Duration;

use rekindle_model::{Work, WorkflowId};
use rekindle_protocol::Ask;
use rekindle_protocol::capability::TaskSource;
use rekindle_runner::{Ending, Follower, Reporter, Watcher};

use crate::choose::{chosen, inspect_world};
use crate::engine::ProtocolScribe;
use crate::lists::RunsOfLists;
use crate::{AtWork, Error, Listing, Project, Query, status};

/// How long it waits before it looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// How it ended.
#[derive(Debug)]
pub enum Attached {
    /// The person left; the run goes on.
    Left(WorkflowId),
    /// The rekindle that worked on the run has ended.
    Over(WorkflowId, Box<Ending>),
}

/// Whether a person wants to look on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// They do.
    Stays,
    /// They do not.
    Leaves,
}

/// Why there is nothing to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unattached {
    /// Nobody is at work.
    Nobody,
    /// Only workers are, whose rekindle has ended.
    OnlyWorkers,
    /// Its tasks are not run in parallel.
    OneAtATime,
}

impl fmt::Display for Unattached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "nobody is working on it",
            Self::OnlyWorkers => "the rekindle that started its workers has ended",
            Self::OneAtATime => "its tasks do not run in parallel",
        })
    }
}

/// Follows a run until the rekindle that works on it has ended or the person leaves; `pause` waits for so
/// long, or until the person says something.
pub fn attach(
    project: &Project,
    query: &Query,
    watcher: &mut dyn Watcher,
    pause: &mut dyn FnMut(Duration) -> Attention,
) -> Result<Attached, Error> {
    let found = find(project, query)?;
    let runs = RunsOfLists::of(&project.world(), [&found]);
    let id = runs.worked_on(&found).clone();
    refuse_unattended(project, &id)?;
    let logs = rekindle_registry::find(id.protocol).engine();
    let (Some(logs), Some(mut work)) = (logs, read(project, &id)) else {
        let reason = Unattached::OneAtATime;
        return Err(Error::NotAttached { id, reason });
    };
    let scribe = ProtocolScribe::new(logs, project.clock, project.zone.clone(), work.latest);
    let folder = logs.orchestrator_logs(&id.name);
    let mut follower = Follower::new(&project.state(), &id, folder, &scribe, project.now());
    let mut reporter = Reporter::new(watcher, &id, &scribe);
    loop {
        // Whether somebody is at work is asked first: what happened until then is still told.
        let at_work = AtWork::on(project, &id)?;
        let is_over = !at_work.is_some_and(|who| who.is_rekindle());
        let now = project.now();
        let look = follower.look(&work, now);
        if is_over || !look.is_empty() {
            work = read(project, &id).unwrap_or(work);
            follower.tell(&look, &work, &mut reporter);
        }
        follower.view(&work, now, &mut reporter);
        if is_over {
            let ending = Box::new(Ending::of(&work));
            return Ok(Attached::Over(id.clone(), ending));
        }
        if pause(PAUSE) == Attention::Leaves {
            return Ok(Attached::Left(id.clone()));
        }
    }
}

/// Returns the workflow that is meant: without a name the newest that a rekindle works on.
fn find(project: &Project, query: &Query) -> Result<WorkflowId, Error> {
    if query.name.is_some() {
        let inspected = inspect_world(&project.world(), query)?;
        return chosen(&inspected, query);
    }
    let listing = Listing {
        protocol: query.protocol,
        all: false,
    };
    let overview = status(project, listing);
    let (mut lines, _) = overview.lines();
    lines.sort_by_key(|line| {
        let is_at_work = line.at_work.is_some_and(AtWork::is_rekindle);
        (!is_at_work, std::cmp::Reverse(line.summary.last_activity))
    });
    let first = lines.first().ok_or(Error::Nothing)?;
    Ok(first.summary.id.clone())
}

fn refuse_unattended(project: &Project, id: &WorkflowId) -> Result<(), Error> {
    let reason = match AtWork::on(project, id)? {
        Some(AtWork::Rekindle(_)) => return Ok(()),
        Some(AtWork::Workers(_)) => Unattached::OnlyWorkers,
        None => Unattached::Nobody,
    };
    let id = id.clone();
    Err(Error::NotAttached { id, reason })
}

fn read(project: &Project, id: &WorkflowId) -> Option<Work> {
    let ask = Ask {
        name: Some(id.name.clone()),
        alone: true,
        ..Ask::default()
    };
    let case = rekindle_registry::find(id.protocol).inspect(&project.world(), &ask);
    case.tasks().and_then(TaskSource::work)
}
