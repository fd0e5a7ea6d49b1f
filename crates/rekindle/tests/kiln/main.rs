//! kiln from end to end: real files, real processes, an agent that is a script.
//!
//! [`project`] creates a project and its memory.

mod answers;
mod hosts;
mod life;
mod places;
mod project;
mod writes;
