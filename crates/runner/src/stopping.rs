//! Asks whoever works on a workflow to end, from another process.

use rekindle_fs::{Error, Holder, Liveness, Occupancy};
use rekindle_model::WorkflowId;
use rustix::process::{Pid, Signal, kill_process};

use crate::StateFolder;

/// How urgently work is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Running tasks finish and land; nothing new starts.
    AfterRunningTasks,
    /// The running agents are stopped too.
    Now,
}

/// Who was asked to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Nobody is at work.
    Nobody,
    /// The rekindle with this process.
    Rekindle(u32),
    /// Workers whose rekindle has ended, by their tasks.
    Workers(Vec<String>),
    /// Workers whose rekindle has ended; they were left to finish.
    LeftToFinish(Vec<String>),
}

impl StateFolder {
    /// Asks whoever works on a workflow to end; a process is signaled only if it surely is the one.
    pub fn ask_to_end(&self, id: &WorkflowId, urgency: Urgency) -> Result<Asked, Error> {
        if let Occupancy::Held(Some(holder)) = self.holder(id)?
            && is_orchestrator(&holder)
        {
            let pid = holder.process.pid;
            send(pid, Signal::TERM);
            // A second signal of the same kind could merge with the first.
            if urgency == Urgency::Now {
                send(pid, Signal::INT);
            }
            return Ok(Asked::Rekindle(pid));
        }
        let workers = self.port(id).workers();
        let tasks = || workers.iter().map(|worker| worker.task.clone()).collect();
        Ok(match urgency {
            _ if workers.is_empty() => Asked::Nobody,
            Urgency::AfterRunningTasks => Asked::LeftToFinish(tasks()),
            Urgency::Now => {
                for worker in &workers {
                    send(worker.pid, Signal::TERM);
                }
                Asked::Workers(tasks())
            }
        })
    }
}

/// Returns whether the holder runs a workflow, so that a signal ends it in order.
fn is_orchestrator(holder: &Holder) -> bool {
    let purposes = ["run ", "resume "];
    purposes
        .iter()
        .any(|purpose| holder.purpose.starts_with(purpose))
        && holder.process.is_alive() == Liveness::Alive
}

fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // Whoever has ended meanwhile needs no signal.
        kill_process(pid, signal).ok();
    }
}
