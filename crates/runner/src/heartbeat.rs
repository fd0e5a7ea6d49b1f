//! A sign of life from inside of an attempt: its agent's hooks say that the agent works.
//!
//! The worker writes signs of life of its own; this one tells that the agent itself does something.
//! It is written by the same rules: into the log of the attempt, in the protocol's words, and only by
//! who belongs to the newest attempt.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Happened, ProtocolName, Stage, WorkflowId};

use crate::worker::{BEAT, say};
use crate::{Error, Scribe, StateFolder};

/// The attempt that a process belongs to, as its environment tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The project.
    pub project: Utf8PathBuf,
    /// The workflow.
    pub id: WorkflowId,
    /// The task.
    pub task: String,
    /// Which attempt it is.
    pub number: u32,
    /// What all processes of the attempt carry.
    pub token: String,
}

/// Writes a sign of life, unless one was written a moment ago.
///
/// Whoever is not of the newest attempt of a worker says nothing. `key` is where the user's key is.
pub fn beat(
    attempt: &Attempt,
    key: Option<&Utf8Path>,
    protocols: &'static [ProtocolName],
    scribe: &dyn Scribe,
    now: Timestamp,
) -> Result<(), Error> {
    let port = StateFolder::of(&attempt.project, key, protocols).port(&attempt.id);
    let Some(order) = port.order(&attempt.task, attempt.number) else {
        return Ok(());
    };
    let is_ours = order.token == attempt.token
        && order.project == attempt.project
        && order.id(protocols).as_ref() == Some(&attempt.id)
        && port.newest(&attempt.task) == attempt.number;
    if !is_ours || port.written_within(&order.log, now, BEAT) {
        return Ok(());
    }
    let stage = Stage::Implementing;
    say(&order, &port, scribe, &Happened::Beat { stage })
}
