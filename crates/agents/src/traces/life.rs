//! Who of those that had a session is still there, and what a dead one has left.

use std::cell::RefCell;
use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_world::{Carrier, Opener, ProcessAnswer, ProcessQuestion, World};

use super::Owner;
use crate::Preset;

/// Whether the owner of a session is still there, the surest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    /// It is not.
    Gone,
    /// It may be; in which process, if one comes into question.
    Unknown(Option<u32>),
    /// It is; in which process, if that is known.
    Alive(Option<u32>),
}

/// The processes of this machine; each question is asked once, because it may go through all of them.
pub struct Lives<'w> {
    world: &'w dyn World,
    answers: RefCell<BTreeMap<ProcessQuestion, Option<ProcessAnswer>>>,
}

impl<'w> Lives<'w> {
    /// Returns a view of the processes that has asked nothing yet.
    pub fn new(world: &'w dyn World) -> Self {
        Self {
            world,
            answers: RefCell::default(),
        }
    }

    fn ask(&self, question: ProcessQuestion) -> Option<ProcessAnswer> {
        if let Some(answer) = self.answers.borrow().get(&question) {
            return answer.clone();
        }
        let answer = self.world.processes(&question).ok();
        self.answers.borrow_mut().insert(question, answer.clone());
        answer
    }

    /// Returns whether the owner of a session is still there.
    pub fn life(&self, owner: &Owner) -> Life {
        match owner {
            Owner::Process {
                pid,
                start_time,
                started,
            } => {
                // The file names the machine and not the boot: ticks begin anew with each.
                let is_before_boot = started
                    .zip(self.boot())
                    .is_some_and(|(started, boot)| started < boot);
                if !is_before_boot && self.start(*pid) == Some(*start_time) {
                    Life::Alive(Some(*pid))
                } else {
                    Life::Gone
                }
            }
            Owner::Lock(file) => {
                if self.is_locked(file) {
                    // The process that has it open holds it; a program that serves us is recognized by that.
                    Life::Alive(self.openers(file).first().map(|opener| opener.pid))
                } else {
                    Life::Gone
                }
            }
            Owner::Opener {
                file,
                folder,
                at,
                other,
            } => {
                let mut openers = self.openers(file);
                openers.retain(|opener| opener.was_there(*at));
                let mut here = openers
                    .iter()
                    .filter(|one| one.folder.as_ref() == Some(folder));
                match here.next() {
                    // Of two sessions that it may have, it has one.
                    Some(opener) if other.is_some() && opener.was_there(*other) => {
                        Life::Unknown(Some(opener.pid))
                    }
                    Some(opener) => Life::Alive(Some(opener.pid)),
                    // One that serves many folders works in none of them.
                    None if !openers.is_empty() => Life::Unknown(None),
                    None => Life::Gone,
                }
            }
        }
    }

    /// Returns who has a file open.
    pub fn openers(&self, file: &Utf8Path) -> Vec<Opener> {
        let file = file.to_owned();
        let answer = self.ask(ProcessQuestion::Openers { file });
        let Some(ProcessAnswer::Openers(openers)) = answer else {
            return Vec::new();
        };
        openers
    }

    /// Returns the processes that this one descends from.
    pub fn ancestors(&self) -> Vec<u32> {
        let answer = self.ask(ProcessQuestion::Ancestors);
        let Some(ProcessAnswer::Ancestors(ancestors)) = answer else {
            return Vec::new();
        };
        ancestors
    }

    /// Finds the processes that a session started and left; those of the session that started us,
    /// `own_pid`, are not left.
    pub fn left_by(
        &self,
        agent: Preset,
        session: &str,
        folder: &Utf8Path,
        own_pid: Option<&str>,
    ) -> Vec<Carrier> {
        let ancestors = self.ancestors();
        let mut left = match agent {
            Preset::Opencode => {
                let mut left = self.carriers("OPENCODE_PID");
                left.retain(|one| {
                    let has_lost = one.value.parse().is_ok_and(|pid| self.start(pid).is_none());
                    let place = one.folder.as_ref();
                    has_lost && place.is_some_and(|place| place.starts_with(folder))
                });
                left
            }
            Preset::Codex => self.of_session("CODEX_THREAD_ID", session),
            Preset::Claude => self.of_session("CLAUDE_CODE_SESSION_ID", session),
            Preset::Gemini => Vec::new(),
        };
        let ours: Vec<Carrier> =
            own_pid.map_or_else(Vec::new, |own| self.of_session("CLAUDE_PID", own));
        left.retain(|one| {
            !ancestors.contains(&one.pid) && !ours.iter().any(|other| other.pid == one.pid)
        });
        left
    }

    fn of_session(&self, variable: &str, value: &str) -> Vec<Carrier> {
        let mut found = self.carriers(variable);
        found.retain(|one| one.value == value);
        found
    }

    fn carriers(&self, variable: &str) -> Vec<Carrier> {
        let variable = variable.to_owned();
        let answer = self.ask(ProcessQuestion::Carriers { variable });
        let Some(ProcessAnswer::Carriers(carriers)) = answer else {
            return Vec::new();
        };
        carriers
    }

    fn start(&self, pid: u32) -> Option<u64> {
        let answer = self.ask(ProcessQuestion::Start { pid });
        let Some(ProcessAnswer::Start(start)) = answer else {
            return None;
        };
        start
    }

    fn boot(&self) -> Option<jiff::Timestamp> {
        let answer = self.ask(ProcessQuestion::Boot);
        let Some(ProcessAnswer::Boot(boot)) = answer else {
            return None;
        };
        boot
    }

    fn is_locked(&self, file: &Utf8Path) -> bool {
        let file: Utf8PathBuf = file.to_owned();
        matches!(
            self.ask(ProcessQuestion::Locked { file }),
            Some(ProcessAnswer::Locked(true))
        )
    }
}
