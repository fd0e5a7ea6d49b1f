//! map: the state machine of MAP workflows, as a drop-in for its Python orchestrator.
//!
//! `rekindle map COMMAND …` answers as `map_orchestrator.py COMMAND …` does, and as `map_step_runner.py`
//! for the commands that a resume needs: the same JSON, the same exit codes, the same files. `words`
//! reads what was typed, `request` hands it to a function of `machine`, which reads through a
//! `desk` and answers with a `reply`: an object to print and effects to carry out. Sentences are
//! our own; where the peer loses data it is not followed (`docs/map-differences.md`).

mod blueprint;
mod boundary;
mod briefing;
mod command;
mod config;
mod desk;
mod documents;
mod fault;
mod feedback;
mod interruption;
mod layout;
mod machine;
mod manifest;
mod monitor;
mod plan;
mod quarantine;
mod reply;
mod request;
mod research;
mod resume;
mod root;
mod state;
mod steps;
mod table;
mod triage;
mod verification;
mod words;

/// The name of the protocol.
const NAME: rekindle_model::ProtocolName = rekindle_model::ProtocolName::new("map");

pub use command::{Access, orchestrator_commands};
pub use layout::Branch;
pub use request::{Answer, Request};
pub use resume::Map;
pub use root::{Root, root};
