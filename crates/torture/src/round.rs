//! One run with its disturbances: who is killed or stopped, and when.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rekindle_wire::torture::Killed;
use rustix::process::Signal;

use crate::Error;
use crate::interruption::Interruption;
use crate::orchestrator::{End, Ended};
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
            match ended.end {
                End::Succeeded => return Ok(self.told),
                End::Failed if self.told.resumes < MOST_RESUMES => self.told.resumes += 1,
                End::Failed | End::Never => {
                    self.told.stuck = Some(ended.said);
                    return Ok(self.told);
                }
            }
        }
    }

    /// Follows one orchestrator to its end, disturbing what it is about.
    fn orchestrator(&mut self) -> Result<Ended, Error> {
        let orchestrator = self.scene.start()?;
        let mut since = Instant::now();
        orchestrator.follow(self.interruption, || {
            let due = self.coming.front().copied();
            let due = due.filter(|next| since.elapsed() >= next.after);
            if due.is_some_and(|next| self.disturb(next)) {
                self.coming.pop_front();
                since = Instant::now();
            }
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::tests::scene_of;

    #[test]
    fn an_orchestrator_that_never_ends_is_killed_and_the_round_is_over() {
        let scene = scene_of("exec sleep 1000", Duration::ZERO);
        let interruption = Interruption::default();
        let told = Round::new(&scene, &interruption, Vec::new()).run().unwrap();
        let stuck = told.stuck.unwrap();
        assert!(stuck.starts_with("it did not end within 0 s"), "{stuck}");
        assert_eq!(told.resumes, 0);
        assert_eq!(processes::living(scene.mark()), []);
    }

    #[test]
    fn a_run_that_no_resume_brings_to_an_end_is_given_up() {
        let scene = scene_of("echo no >&2; exit 1", Duration::MAX);
        let interruption = Interruption::default();
        let told = Round::new(&scene, &interruption, Vec::new()).run().unwrap();
        assert_eq!(told.stuck.as_deref(), Some("no"));
        assert_eq!(told.resumes, MOST_RESUMES);
    }
}
