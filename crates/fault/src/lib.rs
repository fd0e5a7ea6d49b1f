//! Named places at which a build for tests dies, or finds the disk full or broken.
//!
//! A place is passed with [`point()`], or with [`change()`], [`growth()`] and [`write()`] by whatever
//! changes the disk. In a normal build all of them do nothing. With the feature `crash-points` they
//! listen to the environment of the process:
//!
//! | variable | what it does |
//! | --- | --- |
//! | `REKINDLE_CRASH_AT` | the process kills itself at the place of this name: `[command/]name[:n]` |
//! | `REKINDLE_FAIL_AT` | the n-th change fails: `[command/]eio:n` alone, `[command/]enospc:n` with all after it that need room |
//! | `REKINDLE_POINTS` | every passing is noted in this file, and what is ordered happens once in all processes together |
//!
//! `n` counts the passings of one process, from 1. `command` is the first word on its command line,
//! so that a worker can be meant and not the orchestrator that started it.
//!
//! This crate knows no place by itself: `fs` and `git` pass one before each call that changes the
//! disk, and `runner` passes those between intent, effect and outcome.

#[cfg(feature = "crash-points")]
mod armed;
#[cfg(not(feature = "crash-points"))]
mod idle;

#[cfg(feature = "crash-points")]
pub use armed::{change, growth, point, write};
#[cfg(not(feature = "crash-points"))]
pub use idle::{change, growth, point, write};
