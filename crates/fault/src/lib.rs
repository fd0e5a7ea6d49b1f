//! Named crash points at which a build for tests dies, or finds the disk full or broken.
//!
//! A crash point is passed with [`point()`], or with [`change()`], [`growth()`] and [`write()`]
//! before a change of the disk. In a normal build they do nothing. With the feature `crash-points`
//! the environment of the process controls them:
//!
//! | variable | effect |
//! | --- | --- |
//! | `REKINDLE_CRASH_AT` | the process aborts at this crash point: `[command/]name[:n]` |
//! | `REKINDLE_FAIL_AT` | the n-th change fails: `[command/]eio:n` alone, `[command/]enospc:n` with all later ones that need room |
//! | `REKINDLE_POINTS` | every passing is recorded in this file, and the order above happens once in all processes together |
//!
//! `n` counts the passings of one process, from 1. `command` is the first word on its command line,
//! so that a worker can be meant and not its orchestrator.
//!
//! `fs` and `git` pass a crash point before each call that changes the disk, and `runner` those
//! between intent, effect and outcome.

#[cfg(feature = "crash-points")]
mod armed;
#[cfg(not(feature = "crash-points"))]
mod idle;

#[cfg(feature = "crash-points")]
pub use armed::{change, growth, point, write};
#[cfg(not(feature = "crash-points"))]
pub use idle::{change, growth, point, write};
