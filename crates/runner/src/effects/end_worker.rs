//! A worker of ours that is ended, with all that it started.

use std::time::Duration;

use rekindle_fs::{Holder, Liveness};
use rekindle_model::WorkflowId;
use rustix::process::{Pid, Signal};

use super::Repeated;
use crate::port::{FilePort, Held};
use crate::reach::Site;
use crate::{Error, crash, process_tree};

/// How long a worker has to end by itself after TERM, as in the engine.
const STOP_GRACE: Duration = Duration::from_secs(10);
/// How long the kernel may take over a worker that was killed.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// How often it is looked whether the claim is free.
const PAUSE: Duration = Duration::from_millis(20);

/// Ends the worker that holds a task's newest claim; a claim that nobody holds is done.
pub(super) fn perform(site: &Site, id: &WorkflowId, task: &str) -> Result<Repeated, Error> {
    let port = site.state.port(id);
    let attempt = port.newest(task);
    if attempt == 0 {
        return Ok(Repeated::Already);
    }
    let was_held = matches!(port.held(task, attempt)?, Held::By(_));
    if was_held {
        crash::point("end-worker-before-term");
        signal(&port, task, attempt, &[Signal::TERM, Signal::CONT])?;
        if !is_released(&port, task, attempt, STOP_GRACE)? {
            signal(&port, task, attempt, &[Signal::KILL])?;
        }
    }
    // What a worker that was killed has left goes too: it could still write to the worktree.
    let token = port.order(task, attempt).map(|order| order.token);
    if let Some(token) = token.filter(|token| !token.is_empty()) {
        process_tree::end(&token, None, STOP_GRACE);
    }
    if !is_released(&port, task, attempt, LAST_WAIT)? {
        let task = task.to_owned();
        return Err(Error::WorkerStays { task });
    }
    crash::point("end-worker-after-end");
    Ok(if was_held {
        Repeated::Done
    } else {
        Repeated::Already
    })
}

/// Sends signals to the worker, if it is known who that is.
fn signal(port: &FilePort, task: &str, attempt: u32, signals: &[Signal]) -> Result<(), Error> {
    let Some(holder) = known_holder(port, task, attempt)? else {
        return Ok(());
    };
    // A number alone could by now be somebody else's, and what a claim says is a text in a file.
    let order = port.order_path(task, attempt);
    if holder.process.is_alive() != Liveness::Alive
        || !process_tree::is_worker(holder.process.pid, &order)
    {
        return Ok(());
    }
    let pid = i32::try_from(holder.process.pid)
        .ok()
        .and_then(Pid::from_raw);
    for &signal in signals {
        if let Some(pid) = pid {
            // It may be gone by now, which is all that is wanted.
            rustix::process::kill_process(pid, signal).ok();
        }
    }
    Ok(())
}

/// Returns who holds a claim; a worker that has just taken it says so a moment later.
fn known_holder(port: &FilePort, task: &str, attempt: u32) -> Result<Option<Holder>, Error> {
    let mut waited = Duration::ZERO;
    loop {
        match port.held(task, attempt)? {
            Held::Free => return Ok(None),
            Held::By(Some(holder)) => return Ok(Some(holder)),
            Held::By(None) if waited >= LAST_WAIT => return Ok(None),
            Held::By(None) => {}
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

/// Waits until nobody holds a claim. Returns false when the time is over before.
fn is_released(port: &FilePort, task: &str, attempt: u32, limit: Duration) -> Result<bool, Error> {
    let mut waited = Duration::ZERO;
    while matches!(port.held(task, attempt)?, Held::By(_)) {
        if waited >= limit {
            return Ok(false);
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
    Ok(true)
}
