//! One run with its disturbances.

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

/// A run that needs more resumes has not recovered.
const MOST_RESUMES: usize = 200;

/// Longer than a silent worker is tolerated.
const STOPPED_FOR: Duration = Duration::from_millis(SILENT_AFTER * 1000 + 500);

/// What happened in a round.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) killed: Killed,
    pub(crate) stopped: usize,
    pub(crate) resumes: usize,
    /// The times from the start of a resume to its first action.
    pub(crate) restarts: Vec<Duration>,
    /// Why it never ended.
    pub(crate) stuck: Option<String>,
}

pub(crate) struct Round<'a> {
    scene: &'a Scene,
    interruption: &'a Interruption,
    coming: VecDeque<Disturbance>,
    tally: Tally,
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
            tally: Tally::default(),
        }
    }

    /// Runs and resumes until the plan is done.
    pub(crate) fn run(mut self) -> Result<Tally, Error> {
        loop {
            self.interruption.check()?;
            let resumed = self.scene.has_run();
            let ended = self.orchestrator()?;
            if resumed {
                self.tally.restarts.extend(ended.to_first_deed);
            }
            match ended.end {
                End::Succeeded => return Ok(self.tally),
                End::Failed if self.tally.resumes < MOST_RESUMES => self.tally.resumes += 1,
                End::Failed | End::Never => {
                    self.tally.stuck = Some(ended.said);
                    return Ok(self.tally);
                }
            }
        }
    }

    /// Follows one orchestrator to its end, with disturbances.
    fn orchestrator(&mut self) -> Result<Ended, Error> {
        let orchestrator = self.scene.start()?;
        let mut since = Instant::now();
        orchestrator.follow(self.interruption, || {
            let next = self.coming.front().copied();
            let next = next.filter(|next| since.elapsed() >= next.after);
            if next.is_some_and(|next| self.disturb(next)) {
                self.coming.pop_front();
                since = Instant::now();
            }
        })
    }

    /// Returns whether a process was disturbed.
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
                    Role::Orchestrator => &mut self.tally.killed.orchestrators,
                    Role::Worker => &mut self.tally.killed.workers,
                    Role::Agent | Role::Other => &mut self.tally.killed.agents,
                };
                *count += usize::from(hit);
                hit
            }),
            What::KillAll => {
                let hits = living
                    .iter()
                    .filter(|one| processes::send(**one, Signal::KILL));
                let hit = hits.count() > 0;
                self.tally.killed.everything += usize::from(hit);
                hit
            }
            What::Stop(role) => of(role).is_some_and(|victim| {
                let hit = processes::send(victim, Signal::STOP);
                if hit {
                    self.interruption.pause(STOPPED_FOR);
                    processes::send(victim, Signal::CONT);
                    self.tally.stopped += 1;
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
        let tally = Round::new(&scene, &interruption, Vec::new()).run().unwrap();
        let stuck = tally.stuck.unwrap();
        assert!(stuck.starts_with("it did not end within 0 s"), "{stuck}");
        assert_eq!(tally.resumes, 0);
        assert_eq!(processes::living(scene.mark()), []);
    }

    #[test]
    fn a_run_that_never_succeeds_is_given_up() {
        let scene = scene_of("echo no >&2; exit 1", Duration::MAX);
        let interruption = Interruption::default();
        let tally = Round::new(&scene, &interruption, Vec::new()).run().unwrap();
        assert_eq!(tally.stuck.as_deref(), Some("no"));
        assert_eq!(tally.resumes, MOST_RESUMES);
    }
}
