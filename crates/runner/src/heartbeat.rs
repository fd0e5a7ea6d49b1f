//! A heartbeat from inside of an attempt: its agent's hooks report that the agent works.
//!
//! The worker writes heartbeats of its own; this one proves that the agent itself does something.
//! It follows the same rules: it is written to the log of the attempt, in the protocol's form, and only by
//! the newest attempt.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Happened, ProtocolName, Stage, WorkflowId};

use crate::worker::{BEAT, say};
use crate::{Error, Scribe, StateFolder};

/// The attempt that a process belongs to, by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The project.
    pub project: Utf8PathBuf,
    /// The workflow.
    pub id: WorkflowId,
    /// The task.
    pub task: String,
    /// The number of the attempt.
    pub number: u32,
    /// The mark of all processes of the attempt.
    pub token: String,
}

/// Writes a heartbeat, unless one was written a moment ago.
///
/// Only the newest attempt writes one. `key` is the path of the user's key.
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
