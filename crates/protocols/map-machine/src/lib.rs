//! The state machine of MAP workflows, as a drop-in for MAP's Python scripts.
//!
//! `rekindle map COMMAND …` answers as `map_orchestrator.py COMMAND …` does, and as `map_step_runner.py`
//! for the commands that a resume needs: the same JSON, exit codes and files. `arguments` parses the
//! command line, `request` calls a function of [`commands`], which reads through a [`desk::Desk`] and
//! returns a [`reply::Reply`]: an object to print and effects. Messages are our own; where MAP's scripts
//! lose data, this crate differs (`docs/map-differences.md`).

mod arguments;
pub mod blueprint;
pub mod boundary;
pub mod briefing;
mod command;
pub mod commands;
mod config;
pub mod desk;
pub mod documents;
mod feedback;
pub mod interruption;
pub mod layout;
mod manifest;
pub mod monitor;
pub mod quarantine;
pub mod reply;
mod request;
mod research;
pub mod root;
mod schema;
pub mod state;
pub mod steps;
pub mod table;
pub mod task_plan;
mod triage;
mod verification;

pub use command::{Access, orchestrator_commands};
pub use desk::Desk;
pub use layout::Branch;
pub use reply::Fault;
pub use request::{Answer, Request};
pub use root::{Root, root};
