//! The kit that protocols are built from.
//!
//! A [`Protocol`] is one way of keeping workflow state on disk. It reads a project through a
//! read-only [`World`](rekindle_world::World) and returns a [`Case`]: what the files mean, and what is
//! to be done. What only some protocols have is a [`capability`]; asked for one that it lacks, a
//! protocol returns `None`. Decisions are written as [tables](mod@table), and [`prompt`] builds what
//! agents are given to read. Formats that tick off tasks in a file share [`lists`].
//!
//! Nothing here, and nothing in a protocol, writes to the disk or reads it past the `World`.

pub mod capability;
mod case;
mod chronicle;
pub mod happened;
pub mod lists;
pub mod prompt;
mod protocol;
pub mod sessions;
pub mod table;

pub use case::{Belongings, Case, Unreadable};
pub use chronicle::{AFTER, Chronicle};
pub use protocol::{Ask, Doing, Protocol, ResumeOption};
pub use table::Decision;
