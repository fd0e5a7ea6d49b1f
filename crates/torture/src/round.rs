//! One run with its disturbances: who is killed or stopped, and when.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rekindle_wire::torture::Killed;
use rustix::process::Signal;

use crate::Error;
use crate::interruption::{Interruption, TICK};
use crate::orchestrator::Ended;
use crate::ordeal::{Disturbance, What};
use crate::processes::{self, Process, Role};
use crate::scene::{SILENT_AFTER, Scene};

/// More resumes than this are no recovery any more.
const MOST_RESUMES: usize = 200;

/// Longer than a silent worker is waited for.
const STOPPED_FOR: Duration = Duration::from_millis(SILENT_AFTER * 1000 + 500);

/// What was done in a round.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) killed: Killed,
    pub(crate) stopped: usize,
    pub(crate) resumes: usize,
    /// From the start of a resume to the first thing it did.
    pub(crate) restarts: Vec<Duration>,
    /// Why it never came to an end.
    pub(crate) stuck: Option<String>,
}

pub(crate) struct Round<'a> {
    scene: &'a Scene,
    interruption: &'a Interruption,
    coming: VecDeque<Disturbance>,
    told: Told,
}

impl<'a> Round<'a> {
    pub(crate) fn new(
        scene: &'a Scene,
        interruption: &'a Interruption,
        disturbances: Vec<Disturbance>,
    ) -> Self {
        Self {
            scene,
            interruption,
            coming: disturbances.into(),
            told: Told::default(),
        }
    }

    /// Runs and resumes until the plan is done.
    pub(crate) fn run(mut self) -> Result<Told, Error> {
        loop {
            self.interruption.check()?;
            let resumed = self.scene.has_run();
            let ended = self.orchestrator()?;
            if resumed {
                self.told.restarts.extend(ended.to_first_deed);
            }
            if ended.succeeded {
                return Ok(self.told);
            }
            self.told.resumes += 1;
            if self.told.resumes > MOST_RESUMES {
                self.told.stuck = Some(ended.said);
                return Ok(self.told);
            }
        }
    }

    /// Follows one orchestrator to its end, disturbing what it is about.
    fn orchestrator(&mut self) -> Result<Ended, Error> {
        let mut orchestrator = self.scene.start()?;
        let mut since = Instant::now();
        loop {
            if let Some(ended) = orchestrator.ended()? {
                return Ok(ended);
            }
            self.interruption.check()?;
            std::thread::sleep(TICK);
            let due = self.coming.front().copied();
            let due = due.filter(|next| since.elapsed() >= next.after);
            if due.is_some_and(|next| self.disturb(next)) {
                self.coming.pop_front();
                since = Instant::now();
            }
        }
    }

    /// Returns whether there was somebody to disturb.
    fn disturb(&mut self, disturbance: Disturbance) -> bool {
        let living = processes::living(self.scene.mark());
        let of = |role: Role| {
            let fitting: Vec<Process> = living
                .iter()
                .copied()
                .filter(|one| one.role == role)
                .collect();
            disturbance.among(&fitting)
        };
        match disturbance.what {
            What::Kill(role) => of(role).is_some_and(|victim| {
                let hit = processes::send(victim, Signal::KILL);
                let count = match role {
                    Role::Orchestrator => &mut self.told.killed.orchestrators,
                    Role::Worker => &mut self.told.killed.workers,
                    Role::Agent | Role::Other => &mut self.told.killed.agents,
                };
                *count += usize::from(hit);
                hit
            }),
            What::KillAll => {
                let hits = living
                    .iter()
                    .filter(|one| processes::send(**one, Signal::KILL));
                let hit = hits.count() > 0;
                self.told.killed.everything += usize::from(hit);
                hit
            }
            What::Stop(role) => of(role).is_some_and(|victim| {
                let hit = processes::send(victim, Signal::STOP);
                if hit {
                    self.interruption.pause(STOPPED_FOR);
                    processes::send(victim, Signal::CONT);
                    self.told.stopped += 1;
                }
                hit
            }),
        }
    }
}
