//! kiln-teams on real repositories: scenes and their state after a resume.
//!
//! A scene is a value; the testkit lays it out with real worktrees.

mod collisions;
mod determinism;
mod heartbeats;
mod hosts;
mod landing;
mod life;
mod lists;
mod lossless;
mod owners;
mod phases;
mod records;
mod retries;
mod scale;
mod scenes;
mod sources;
mod verdicts;
