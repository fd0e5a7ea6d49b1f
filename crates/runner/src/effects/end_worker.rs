//! Ends one of our workers and all its processes.

use std::time::Duration;

use rekindle_fs::{Holder, Liveness};
use rekindle_model::WorkflowId;
use rustix::process::{Pid, Signal};

use super::Repeated;
use crate::port::{FilePort, Held};
use crate::reach::Site;
use crate::{Error, crash, process_tree};

/// The time for a worker to end after TERM, as in the engine.
const STOP_GRACE: Duration = Duration::from_secs(10);
/// The time for the kernel to remove a killed worker.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// How often the claim is checked.
const PAUSE: Duration = Duration::from_millis(20);

/// Ends the worker that holds a task's newest claim; without a holder it is done.
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
    // Processes of a killed worker are ended too: they could still write to the worktree.
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

/// Signals the worker, if its process is known.
fn signal(port: &FilePort, task: &str, attempt: u32, signals: &[Signal]) -> Result<(), Error> {
    let Some(holder) = known_holder(port, task, attempt)? else {
        return Ok(());
    };
    // A number alone could belong to another process, and the claim is only a text in a file.
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
            // It may have ended by itself.
            rustix::process::kill_process(pid, signal).ok();
        }
    }
    Ok(())
}

/// Returns the holder of a claim; a worker that has just taken it writes its name a moment later.
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

/// Waits until nobody holds a claim. Returns false if the time is over before.
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
