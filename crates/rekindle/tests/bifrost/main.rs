//! bifrost from end to end: real files, real times, the built binary.
//!
//! [`project`] lays out a feature; the other modules are what happens to it.

mod commands;
mod project;
mod resume;
mod upkeep;
