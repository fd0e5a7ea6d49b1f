//! The state machine: one function a command, from what is on disk to an answer with its effects.

pub(crate) mod advance;
pub(crate) mod completion;
pub(crate) mod contract;
pub(crate) mod defer;
pub(crate) mod modes;
pub(crate) mod next;
pub(crate) mod restart;
pub(crate) mod restore;
pub(crate) mod results;
pub(crate) mod retry;
pub(crate) mod validate;
pub(crate) mod waves;
