//! `rekindle torture --json`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// The disturbances of the runs, and their results.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Score {
    /// `rekindle.torture/1`.
    pub schema: &'static str,
    /// The random seed.
    pub seed: u64,
    /// The number of workers at once.
    pub jobs: usize,
    /// The repository of the runs.
    pub repository: Tortured,
    /// The number of disturbed runs.
    pub runs: usize,
    /// Tasks in all of these runs.
    pub tasks: usize,
    /// The number of kills.
    pub killed: Killed,
    /// Processes that were stopped for longer than the timeout of a silent worker, and then continued.
    pub stopped: usize,
    /// Restarts of an orchestrator.
    pub resumes: usize,
    /// Tasks with more than one commit.
    pub landed_twice: usize,
    /// Tasks without a commit.
    pub lost: usize,
    /// Bytes that an agent had written and that are neither on the branch nor in a rescue.
    pub bytes_lost: usize,
    /// Processes that were still running after a run.
    pub processes_left: usize,
    /// Worktrees that remained after a run, folders of worktrees that git does not know, and refs that kept work until it landed.
    pub worktrees_leaked: usize,
    /// Runs that did not finish, despite resumes and waiting.
    pub never_ended: usize,
    /// The time from the start of a resume to its first action.
    pub restart: Option<Restarts>,
    /// All faults in words; the exit code is 0 only if there are none.
    pub wrong: Vec<String>,
}

/// The repository of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Tortured {
    /// A copy of an existing repository.
    Copied {
        /// The folder of the original.
        from: String,
    },
    /// A small repository that was created for the test.
    Made {
        /// Why no repository was copied.
        because: String,
    },
}

/// The number of kills by kind.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct Killed {
    /// Orchestrators.
    pub orchestrators: usize,
    /// Workers.
    pub workers: usize,
    /// Agents.
    pub agents: usize,
    /// Kills of all processes at once.
    pub everything: usize,
}

/// The time from the start of a resume to the first worker started, worker found at work, or task landed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Restarts {
    /// The number of measurements.
    pub count: usize,
    /// The median, in milliseconds.
    pub median_ms: f64,
    /// The 99th percentile, in milliseconds.
    pub p99_ms: f64,
}

impl Score {
    /// Returns an empty score.
    pub fn new(seed: u64, jobs: usize, repository: Tortured) -> Self {
        Self {
            schema: "rekindle.torture/1",
            seed,
            jobs,
            repository,
            runs: 0,
            tasks: 0,
            killed: Killed::default(),
            stopped: 0,
            resumes: 0,
            landed_twice: 0,
            lost: 0,
            bytes_lost: 0,
            processes_left: 0,
            worktrees_leaked: 0,
            never_ended: 0,
            restart: None,
            wrong: Vec::new(),
        }
    }

    /// Returns the number of kills.
    pub fn kills(&self) -> usize {
        let Killed {
            orchestrators,
            workers,
            agents,
            everything,
        } = self.killed;
        orchestrators + workers + agents + everything
    }
}

impl Restarts {
    /// Summarizes the measurements; `None` if there are none.
    pub fn of(measured: &[Duration]) -> Option<Self> {
        let mut sorted = measured.to_vec();
        sorted.sort_unstable();
        let rank = |percent: usize| {
            let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(at).map(|time| time.as_secs_f64() * 1e3)
        };
        Some(Self {
            count: sorted.len(),
            median_ms: rank(50)?,
            p99_ms: rank(99)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_of_what_was_measured() {
        assert!(Restarts::of(&[]).is_none());
        let measured: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let restarts = Restarts::of(&measured).unwrap();
        assert_eq!(restarts.count, 200);
        assert!((restarts.median_ms - 100.0).abs() < 1e-9);
        assert!((restarts.p99_ms - 198.0).abs() < 1e-9);
    }
}
