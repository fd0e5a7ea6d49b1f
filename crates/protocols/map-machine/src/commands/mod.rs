//! The state machine: one function a command, from what is on disk to an answer with its effects.

pub mod advance;
pub mod completion;
pub mod contract;
pub mod defer;
pub mod modes;
pub mod next;
pub(crate) mod restart;
pub(crate) mod restore;
pub mod results;
pub mod retry;
pub mod validate;
pub mod waves;
