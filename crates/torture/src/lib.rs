//! Kills runs at random moments, resumes them, and counts what went wrong.
//!
//! Everything is done with the program itself on a copy of a repository: a plan of tasks with
//! dependencies is run once undisturbed and once while orchestrators, workers and agents are killed
//! or stopped. The score is taken from the branch, the rescues and the process table afterwards.
//! Plans and disturbances come from a random seed; their exact timing depends on the machine.

#![expect(
    clippy::disallowed_methods,
    reason = "it creates projects, starts rekindle and kills it, as a user would"
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
use crate::round::{Round, Tally};
use crate::scene::Scene;

/// How long a run may take: seconds in a small repository, minutes in a large one.
pub const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The options of a torture.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program to torture.
    pub program: Utf8PathBuf,
    /// The value of `PATH`, in which git is searched.
    pub search_path: OsString,
    /// A folder in the repository to copy; otherwise a small repository is created.
    pub repository: Option<Utf8PathBuf>,
    /// The minimum number of kills.
    pub kills: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The number of workers.
    pub jobs: usize,
    /// How long each run may take before it counts as endless; [`LIMIT`] is enough for all others.
    pub limit: Duration,
    /// Whether a person wants to stop.
    pub interruption: Interruption,
}

/// Why the torture failed.
#[derive(Debug, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "the message of each variant explains its fields"
)]
pub enum Error {
    /// The system refused a call.
    #[error("could not {what}")]
    System {
        what: String,
        source: std::io::Error,
    },
    /// git failed.
    #[error("git {what}: {said}")]
    Git { what: String, said: String },
    /// The repository to copy cannot be read.
    #[error(transparent)]
    Repository(#[from] rekindle_git::Error),
    /// The undisturbed run failed.
    #[error("the undisturbed run failed: {0}")]
    Undisturbed(String),
    /// A person interrupted it.
    #[error("interrupted: all started processes were stopped, and the copy was removed")]
    Interrupted,
}

impl Error {
    /// Returns the command by which a user trusts a repository of another user.
    pub fn trust_command(&self) -> Option<String> {
        let Self::Repository(error) = self else {
            return None;
        };
        error.trust_command()
    }

    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}

/// Tortures until there were enough kills; `report` gets the score at the start and after each run.
///
/// The folder of a round that went wrong is saved and named in the score.
pub fn torture(options: &Options, report: &mut dyn FnMut(&Score)) -> Result<Score, Error> {
    rounds(options, report).map_err(|error| {
        // A signal from the terminal reaches git too, which then fails.
        if options.interruption.is_wanted() {
            Error::Interrupted
        } else {
            error
        }
    })
}

fn rounds(options: &Options, report: &mut dyn FnMut(&Score)) -> Result<Score, Error> {
    let interruption = &options.interruption;
    let mut random = Random::new(options.seed);
    let repository = source::find(&options.search_path, options.repository.as_deref())?;
    let mut score = Score::new(options.seed, options.jobs, repository);
    report(&score);
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
            // A signal from the terminal may have spoiled the round.
            interruption.check()?;
            let kept = scene.keep();
            score.wrong.extend(wrong);
            score
                .wrong
                .push(format!("the project was saved in `{kept}`"));
        }
        report(&score);
    }
    Ok(score)
}

fn count(score: &mut Score, tally: &Tally) {
    score.runs += 1;
    score.tasks += TASKS;
    score.resumes += tally.resumes;
    score.stopped += tally.stopped;
    score.killed.orchestrators += tally.killed.orchestrators;
    score.killed.workers += tally.killed.workers;
    score.killed.agents += tally.killed.agents;
    score.killed.everything += tally.killed.everything;
}

/// Returns a task's name.
fn name(task: usize) -> String {
    format!("T{:03}", task + 1)
}
