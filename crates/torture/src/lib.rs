//! Kills runs at random moments, resumes them, and counts what went wrong.
//!
//! Everything is done with the program itself, as a user would call it, on a
//! copy of a repository: a plan of tasks with dependencies is run once
//! undisturbed and once while orchestrators, workers and agents are killed or
//! stopped. What the branch, the rescues and the process table hold afterwards
//! is the score. Plans and disturbances come from a seed; what the processes are
//! doing at the moment of a disturbance is up to the machine.

#![expect(
    clippy::disallowed_methods,
    reason = "it builds projects, starts rekindle and kills it, as a user would"
)]

mod agent;
mod check;
mod git;
mod interruption;
mod orchestrator;
mod ordeal;
mod processes;
mod random;
mod round;
mod scene;
mod source;

use std::ffi::OsString;
use std::time::Duration;

use camino::Utf8PathBuf;
use rekindle_wire::torture::{Restarts, Score};

pub use crate::interruption::Interruption;
use crate::ordeal::{Ordeal, TASKS};
use crate::random::Random;
use crate::round::{Round, Told};
use crate::scene::Scene;

/// How long a rekindle is waited for: a run of a small repository takes seconds, one of a large repository minutes.
pub const LIMIT: Duration = Duration::from_secs(15 * 60);

/// What to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that is tortured.
    pub program: Utf8PathBuf,
    /// The folders in which git is looked for: the value of `PATH`.
    pub search_path: OsString,
    /// A folder in the repository that is copied; without one, or where it is no repository or one without a commit, a small one is made.
    pub repository: Option<Utf8PathBuf>,
    /// How many kills at least.
    pub kills: usize,
    /// Where chance begins.
    pub seed: u64,
    /// How many workers.
    pub jobs: usize,
    /// How long each rekindle may take before it counts as one that never ends; [`LIMIT`] is long enough for all that do.
    pub limit: Duration,
    /// Tells when it is to end before that.
    pub interruption: Interruption,
}

/// Why there is no score.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused something.
    #[error("could not {what}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// git refused something.
    #[error("git {what}: {said}")]
    Git {
        /// Its arguments.
        what: String,
        /// What it said.
        said: String,
    },
    /// The repository that was to be copied can not be looked into.
    #[error(transparent)]
    Repository(#[from] rekindle_git::Error),
    /// Even the run that nobody disturbed did not end well.
    #[error("the undisturbed run ended badly: {0}")]
    Undisturbed(String),
    /// Somebody wanted it to end.
    #[error("interrupted: what was running is ended, and the copy is removed")]
    Interrupted,
}

impl Error {
    /// Returns what a person can type who trusts a repository that belongs to another user.
    pub fn trust_command(&self) -> Option<String> {
        match self {
            Self::Repository(error) => error.trust_command(),
            Self::System { .. } | Self::Git { .. } | Self::Undisturbed(_) | Self::Interrupted => {
                None
            }
        }
    }

    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}

/// Tortures until there were enough kills; `told` gets the score at the beginning, when it has nothing but what is tortured, and after each run.
///
/// The folder of a round that went wrong is kept and named in the score.
pub fn torture(options: &Options, told: &mut dyn FnMut(&Score)) -> Result<Score, Error> {
    rounds(options, told).map_err(|error| {
        // A signal of the terminal reaches git as well, which then fails.
        if options.interruption.is_wanted() {
            Error::Interrupted
        } else {
            error
        }
    })
}

fn rounds(options: &Options, told: &mut dyn FnMut(&Score)) -> Result<Score, Error> {
    let interruption = &options.interruption;
    let mut random = Random::new(options.seed);
    let repository = source::find(&options.search_path, options.repository.as_deref())?;
    let mut score = Score::new(options.seed, options.jobs, repository);
    told(&score);
    let mut restarts = Vec::new();
    while score.kills() < options.kills && score.wrong.is_empty() {
        let Ordeal {
            needs,
            disturbances,
        } = Ordeal::draw(&mut random.stream());
        let scene = Scene::build(options, &score.repository, &needs)?;
        interruption.check()?;
        let undisturbed = scene.undisturbed(interruption)?;
        scene.begin_anew()?;
        let round = Round::new(&scene, interruption, disturbances).run()?;
        let wrong = check::check(&scene, interruption, &undisturbed, &round, &mut score)?;
        count(&mut score, &round);
        restarts.extend(round.restarts);
        score.restart = Restarts::of(&restarts);
        if !wrong.is_empty() {
            // What a signal of the terminal has spoiled is nobody's fault.
            interruption.check()?;
            let kept = scene.keep();
            score.wrong.extend(wrong);
            score.wrong.push(format!("look around in `{kept}`"));
        }
        told(&score);
    }
    Ok(score)
}

fn count(score: &mut Score, told: &Told) {
    score.runs += 1;
    score.tasks += TASKS;
    score.resumes += told.resumes;
    score.stopped += told.stopped;
    score.killed.orchestrators += told.killed.orchestrators;
    score.killed.workers += told.killed.workers;
    score.killed.agents += told.killed.agents;
    score.killed.everything += told.killed.everything;
}

/// Returns a task's name.
fn name(task: usize) -> String {
    format!("T{:03}", task + 1)
}
