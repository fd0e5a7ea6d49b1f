//! One run with its disturbances: who is killed or stopped, and when.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rekindle_wire::torture::Killed;
use rustix::process::Signal;

use crate::Error;
use crate::processes::{self, Process, Role};
use crate::random::Random;
use crate::scene::{SILENT_AFTER, Scene};

/// More resumes than this are no recovery any more.
const MOST_RESUMES: usize = 200;

/// The longest pause before the next disturbance.
const PAUSE_MS: u64 = 60;

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

/// What is done to a process.
#[derive(Debug, Clone, Copy)]
enum Disturbance {
    Kill(Role),
    KillAll,
    /// Stopped for longer than a silent worker is waited for, then let go on.
    Stop(Role),
}

pub(crate) struct Round<'a> {
    scene: &'a Scene,
    random: &'a mut Random,
    left: usize,
    told: Told,
}

impl<'a> Round<'a> {
    pub(crate) fn new(scene: &'a Scene, random: &'a mut Random, disturbances: usize) -> Self {
        let told = Told::default();
        Self {
            scene,
            random,
            left: disturbances,
            told,
        }
    }

    /// Runs and resumes until the plan is done.
    pub(crate) fn run(mut self) -> Result<Told, Error> {
        loop {
            let resumed = self.scene.has_run();
            let (succeeded, said) = self.orchestrator(resumed)?;
            if succeeded {
                return Ok(self.told);
            }
            self.told.resumes += 1;
            if self.told.resumes > MOST_RESUMES {
                self.told.stuck = Some(said);
                return Ok(self.told);
            }
        }
    }

    /// Follows one orchestrator to its end, disturbing what it is about.
    fn orchestrator(&mut self, resumed: bool) -> Result<(bool, String), Error> {
        let begun = Instant::now();
        let mut child = self.scene.start()?;
        let first = first_deed(child.stdout.take());
        let said = last_words(&mut child);
        let status = loop {
            let ended = child
                .try_wait()
                .map_err(Error::system("wait for rekindle"))?;
            if let Some(status) = ended {
                break status;
            }
            std::thread::sleep(Duration::from_millis(self.random.below(PAUSE_MS)));
            if self.left > 0 && self.random.one_in(2) {
                self.disturb();
            }
        };
        if let (true, Ok(at)) = (resumed, first.recv()) {
            self.told.restarts.push(at.duration_since(begun));
        }
        Ok((status.success(), said.recv().unwrap_or_default()))
    }

    fn disturb(&mut self) {
        let what = match self.random.below(20) {
            0..=4 => Disturbance::Kill(Role::Orchestrator),
            5..=10 => Disturbance::Kill(Role::Worker),
            11..=15 => Disturbance::Kill(Role::Agent),
            16..=17 => Disturbance::KillAll,
            18 => Disturbance::Stop(Role::Worker),
            _ => Disturbance::Stop(Role::Orchestrator),
        };
        let living = processes::living(self.scene.mark());
        let mut of = |role: Role| {
            let fitting: Vec<Process> = living
                .iter()
                .copied()
                .filter(|one| one.role == role)
                .collect();
            self.random.one_of(&fitting)
        };
        let done = match what {
            Disturbance::Kill(role) => of(role).is_some_and(|victim| {
                let hit = processes::send(victim, Signal::KILL);
                let count = match role {
                    Role::Orchestrator => &mut self.told.killed.orchestrators,
                    Role::Worker => &mut self.told.killed.workers,
                    Role::Agent | Role::Other => &mut self.told.killed.agents,
                };
                *count += usize::from(hit);
                hit
            }),
            Disturbance::KillAll => {
                let hits = living
                    .iter()
                    .filter(|one| processes::send(**one, Signal::KILL));
                let hit = hits.count() > 0;
                self.told.killed.everything += usize::from(hit);
                hit
            }
            Disturbance::Stop(role) => of(role).is_some_and(|victim| {
                let hit = processes::send(victim, Signal::STOP);
                if hit {
                    std::thread::sleep(Duration::from_millis(SILENT_AFTER * 1000 + 500));
                    processes::send(victim, Signal::CONT);
                    self.told.stopped += 1;
                }
                hit
            }),
        };
        self.left -= usize::from(done);
    }
}

/// Tells when the first thing was done: a worker was started or found at work, or work landed.
fn first_deed(stdout: Option<ChildStdout>) -> mpsc::Receiver<Instant> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // The pipe is read to its end, so that the orchestrator never waits for this.
        for line in stdout
            .into_iter()
            .flat_map(|pipe| BufReader::new(pipe).lines())
        {
            if line.is_ok_and(|line| line.contains("\"rekindle.progress/1\"")) {
                sender.send(Instant::now()).ok();
            }
        }
    });
    receiver
}

/// Tells what was said on standard error when it has ended.
fn last_words(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let pipe = child.stderr.take();
    std::thread::spawn(move || {
        let text = pipe.and_then(|pipe| std::io::read_to_string(pipe).ok());
        sender.send(text.unwrap_or_default()).ok();
    });
    receiver
}
