//! What a worker's claim of success is worth.

use rekindle_protocol::table::Cell::Is;
use rekindle_protocol::table::{inputs, table, values, verdicts};

verdicts! {
    Proof: "proof is";
}

values! {
    /// What a worker's claim of success is worth.
    Proof {
        /// Artifacts, worktree and main confirm it.
        Whole "whole",
        /// `changed_ops.json` or a passing `verify_summary.json` is missing.
        NoArtifacts "no artifacts",
        NoWorktree "no worktree",
        /// The worktree has commits of its own, which workers never make.
        OwnCommits "own commits",
        /// The worktree has other changes than the worker reported.
        Disagrees "disagrees",
        /// One of its paths on main has content that is neither the base's nor the worker's.
        Stranger "stranger on main",
    }
}

inputs! {
    /// What a claim of success is compared with.
    Claim asked by ClaimWhen {
        has_worktree: bool = "worktree",
        /// The worker committed, which workers never do.
        has_own_commits: bool = "own commits",
        /// Both files exist, and the checks passed.
        has_artifacts: bool = "artifacts pass",
        /// The worktree has the changes that the worker reported.
        agrees: bool = "paths agree",
        has_stranger: bool = "stranger on main",
    }
}

table! {
    /// What each claim of success is worth.
    pub(crate) static CLAIMS: Claim, asked by ClaimWhen => Proof;
    "The proof of a success",
    "A worker's report of success is compared with its worktree, its artifacts and main; what cannot be read proves nothing.";
    [has_worktree: Is(false)] => Proof::NoWorktree, "a success needs a worktree";
    [has_own_commits: Is(true)] => Proof::OwnCommits, "workers never commit";
    [has_artifacts: Is(false)] => Proof::NoArtifacts, "a success needs passing artifacts";
    [agrees: Is(false)] => Proof::Disagrees, "the worktree and its artifacts agree";
    [has_stranger: Is(true)] => Proof::Stranger, "other people's work is never overwritten";
    [] => Proof::Whole, "complete evidence is a proof";
}
