//! `rekindle torture --json`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// What was done to runs, and what came of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Score {
    /// `rekindle.torture/1`.
    pub schema: &'static str,
    /// Where chance began.
    pub seed: u64,
    /// Workers at once.
    pub jobs: usize,
    /// What the runs were made on.
    pub repository: Tortured,
    /// Runs that were disturbed.
    pub runs: usize,
    /// Tasks in all of these runs.
    pub tasks: usize,
    /// Who was killed.
    pub killed: Killed,
    /// Processes that were stopped for longer than a silent worker is waited for, and then went on.
    pub stopped: usize,
    /// Orchestrators that were started again.
    pub resumes: usize,
    /// Tasks with more than one commit.
    pub landed_twice: usize,
    /// Tasks without a commit.
    pub lost: usize,
    /// Bytes that an agent had written and that are neither on the branch nor in a rescue.
    pub bytes_lost: usize,
    /// Processes that were there when a run was over.
    pub processes_left: usize,
    /// Worktrees that were there when a run was over, with folders of worktrees that git does not know any more, and with refs that kept work until it landed.
    pub worktrees_leaked: usize,
    /// Runs that did not come to an end, however often they were resumed or however long one waited.
    pub never_ended: usize,
    /// How long a resume took to its first deed.
    pub restart: Option<Restarts>,
    /// Everything that is wrong, in words; nothing else makes the exit code 0.
    pub wrong: Vec<String>,
}

/// What the runs were made on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Tortured {
    /// A copy of somebody's repository.
    Copied {
        /// The folder that it was copied from.
        from: String,
    },
    /// A small repository that was made for it.
    Made {
        /// Why none was copied.
        because: String,
    },
}

/// How many of each were killed.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct Killed {
    /// Orchestrators.
    pub orchestrators: usize,
    /// Workers.
    pub workers: usize,
    /// Agents.
    pub agents: usize,
    /// Times that all processes were killed at once.
    pub everything: usize,
}

/// From the start of a resume to the first worker started, worker found at work, or task landed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Restarts {
    /// How many were measured.
    pub count: usize,
    /// Half of them were not slower, in milliseconds.
    pub median_ms: f64,
    /// Ninety-nine of a hundred were not slower, in milliseconds.
    pub p99_ms: f64,
}

impl Score {
    /// Returns the score of nothing yet.
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

    /// Returns how often somebody was killed.
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
    /// Sums up what was measured; `None` of nothing.
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
