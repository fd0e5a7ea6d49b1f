//! kiln from end to end: real files, real processes, an agent that is a script.
//!
//! [`project`] lays out a project and its memory; the other modules are what happens to them.

mod answers;
mod hosts;
mod life;
mod places;
mod project;
mod writes;
