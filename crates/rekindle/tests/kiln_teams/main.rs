//! kiln-teams on real repositories: scenes beyond the shown cases, and what a resume leaves of them.
//!
//! A scene is a value; the testkit lays it out with real worktrees.

mod determinism;
mod landing;
mod life;
mod lossless;
mod records;
mod retries;
mod scenes;
mod sources;
mod verdicts;
