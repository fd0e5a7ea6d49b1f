//! What a worker's claim of success is worth.

use rekindle_protocol::table::Cell::Is;
use rekindle_protocol::table::{Row, Table, Verdict, inputs, values};

values! {
    /// What a worker's success is worth.
    Proof {
        /// Artifacts, worktree and main all bear it out.
        Whole "whole",
        /// `changed_ops.json` or a passing `verify_summary.json` is not there.
        NoArtifacts "no artifacts",
        /// There is no worktree to take it from.
        NoWorktree "no worktree",
        /// The worktree has commits of its own, which workers never make.
        OwnCommits "own commits",
        /// The worktree holds other changes than the worker says.
        Disagrees "disagrees",
        /// Main holds something at one of its paths that is neither the base's nor the worker's.
        Stranger "stranger on main",
    }
}

inputs! {
    /// What a claim of success is compared with.
    Claim asked by ClaimWhen {
        has_worktree: bool = "worktree",
        /// The worker committed, which workers never do.
        has_own_commits: bool = "own commits",
        /// Both files are there, and the checks passed.
        has_artifacts: bool = "artifacts pass",
        /// The worktree holds what the worker says that it changed.
        agrees: bool = "paths agree",
        has_stranger: bool = "stranger on main",
    }
}

impl Verdict for Proof {
    const COLUMNS: &'static [&'static str] = &["proof is"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

const fn faulty(when: ClaimWhen, then: Proof, source: &'static str) -> Row<Claim, Proof> {
    Row { when, then, source }
}

/// What each claim of success is worth.
pub(crate) static CLAIMS: Table<Claim, Proof> = Table {
    title: "The proof of a success",
    about: "A worker's report of success is compared with its worktree, its artifacts and main; what cannot be read proves nothing.",
    rows: &[
        faulty(
            ClaimWhen {
                has_worktree: Is(false),
                ..ClaimWhen::ANY
            },
            Proof::NoWorktree,
            "a success needs a worktree",
        ),
        faulty(
            ClaimWhen {
                has_own_commits: Is(true),
                ..ClaimWhen::ANY
            },
            Proof::OwnCommits,
            "workers never commit",
        ),
        faulty(
            ClaimWhen {
                has_artifacts: Is(false),
                ..ClaimWhen::ANY
            },
            Proof::NoArtifacts,
            "a success needs passing artifacts",
        ),
        faulty(
            ClaimWhen {
                agrees: Is(false),
                ..ClaimWhen::ANY
            },
            Proof::Disagrees,
            "the worktree and its artifacts agree",
        ),
        faulty(
            ClaimWhen {
                has_stranger: Is(true),
                ..ClaimWhen::ANY
            },
            Proof::Stranger,
            "other people's work is never overwritten",
        ),
    ],
    last: faulty(ClaimWhen::ANY, Proof::Whole, "complete evidence is a proof"),
};
