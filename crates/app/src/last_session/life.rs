//! Which processes of a session are still alive, and what a dead session has left running.

use std::cell::RefCell;
use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Preset;
use rekindle_agents::traces::Owner;
use rekindle_fs::{Lock, Occupancy, ProcessIdentity};
use rekindle_runner::Opener;

use crate::Project;

/// Whether the process of a session is alive, the surest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Life {
    /// It is dead.
    Gone,
    /// It may be alive; the candidate process, if there is one.
    Unknown(Option<u32>),
    /// It is alive; the process, if known.
    Alive(Option<u32>),
}

/// Which processes have files open, looked up once for each file, since that reads all processes.
#[derive(Default)]
pub(super) struct Openers(RefCell<BTreeMap<Utf8PathBuf, Vec<Opener>>>);

impl Openers {
    fn of(&self, file: &Utf8Path) -> Vec<Opener> {
        let mut known = self.0.borrow_mut();
        let look = || rekindle_runner::openers(file);
        known.entry(file.to_owned()).or_insert_with(look).clone()
    }

    /// Returns whether the process of a session is alive.
    pub(super) fn life(&self, owner: &Owner) -> Life {
        let alive = |is_alive: bool, pid| {
            if is_alive {
                Life::Alive(pid)
            } else {
                Life::Gone
            }
        };
        match owner {
            Owner::Process { pid, start_time } => {
                let process = ProcessIdentity::of(*pid);
                let is_it = process.is_some_and(|process| process.start_time == Some(*start_time));
                alive(is_it, Some(*pid))
            }
            Owner::Lock(file) => alive(matches!(Lock::probe(file), Ok(Occupancy::Held(_))), None),
            Owner::Opener {
                file,
                folder,
                at,
                other,
            } => {
                let mut openers = self.of(file);
                openers.retain(|opener| opener.was_there(*at));
                let mut here = openers
                    .iter()
                    .filter(|one| one.folder.as_ref() == Some(folder));
                match here.next() {
                    // A process that may own two sessions owns one of them.
                    Some(opener) if other.is_some() && opener.was_there(*other) => {
                        Life::Unknown(Some(opener.pid))
                    }
                    Some(opener) => Life::Alive(Some(opener.pid)),
                    // A process that serves many folders is not tied to one.
                    None if !openers.is_empty() => Life::Unknown(None),
                    None => Life::Gone,
                }
            }
        }
    }
}

/// Returns processes that a session started and left, without our own parents.
pub(super) fn left_of(project: &Project, agent: Preset, session: &str) -> Vec<u32> {
    if agent == Preset::Opencode {
        // A shell that was started from there is not a leftover if it is our parent.
        let mut left = rekindle_runner::abandoned("OPENCODE_PID", project.folder());
        let ancestors = rekindle_runner::ancestors();
        left.retain(|pid| !ancestors.contains(pid));
        return left;
    }
    let mut left = rekindle_runner::carrying("CLAUDE_CODE_SESSION_ID", session);
    if let Some(own) = project.variables.get("CLAUDE_PID") {
        let ours = rekindle_runner::carrying("CLAUDE_PID", own);
        left.retain(|pid| !ours.contains(pid));
    }
    left
}
