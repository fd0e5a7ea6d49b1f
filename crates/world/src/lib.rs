//! The read-only view of a project: real, in memory, recorded.
//!
//! A protocol sees the world only through [`World`]. So it can be tested with a
//! tree in memory ([`MemoryWorld`]), a run can be recorded to one file and
//! played back on another machine ([`Recorder`], [`Recording`]), and a plan can
//! carry a digest of all that it was made from ([`Witness`]). The form that
//! reads the disk is behind the feature `real`.

mod database;
mod git;
mod memory;
mod process;
#[cfg(feature = "real")]
mod process_table;
#[cfg(feature = "real")]
mod real;
#[cfg(feature = "real")]
mod real_database;
#[cfg(feature = "real")]
mod real_git;
mod recording;
#[cfg(feature = "real")]
mod side_by_side;
mod view;
mod witness;
#[cfg(feature = "real")]
mod zone;

pub use database::{DatabaseQuestion, DatabaseRow};
pub use git::{
    GitAnswer, GitChange, GitCommit, GitEntry, GitHeadName, GitPath, GitQuestion, GitRepository,
    GitTouch, GitTouched, GitWorktree,
};
pub use memory::MemoryWorld;
pub use process::{Carrier, Opener, ProcessAnswer, ProcessQuestion};
#[cfg(feature = "real")]
pub use process_table::{carries, carrying, processes};
#[cfg(feature = "real")]
pub use real::{Clock, RealWorld};
pub use recording::{CAPTURE_SCHEMA, Recorder, Recording, RecordingError};
pub use view::{End, Entry, Kind, Meta, Owner, Ownership, ReadError, Seen, World};
pub use witness::{Readings, Witness};
#[cfg(feature = "real")]
pub use zone::Zone;

#[cfg(test)]
mod contract_tests;
