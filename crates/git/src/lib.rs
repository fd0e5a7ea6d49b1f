//! The git executable behind one small typed port.
//!
//! Nothing else in rekindle starts git, and this crate starts nothing else. [`Program`] is the
//! executable, found and checked once; [`Repo`] is one folder in which it is run. Every question is
//! a method that returns a typed answer, and every change to a repository is a method that says what
//! it expects to find.
//!
//! What this crate guarantees:
//!
//! * The surroundings do not leak in: the variables by which a hook points git at its own
//!   repository are removed, hooks are not run, no prompt is shown, and every run has a time limit.
//! * The user's index is never written, except by [`Repo::reset_hard`] and, for the paths it is
//!   given, by [`Repo::stage`].
//! * Names are bytes ([`RepoPath`]); all lists are read with `-z`.
//! * Whatever a destructive step could lose is kept first by [`Repo::rescue`].
//!
//! It decides nothing: which worktree is stale, or which commit has landed, is for the callers.
//! Start reading at `repo.rs`, then `snapshot.rs` and `rescue/mod.rs`.

mod abandoned;
#[cfg(feature = "fuzzing")]
pub mod any_output;
mod call;
mod changes;
mod commit;
mod destroy;
mod error;
mod head;
mod head_name;
mod id;
mod log;
mod merge;
mod overlay;
mod path;
mod printed;
mod process;
mod program;
mod raw_diff;
mod refs;
mod repo;
mod rescue;
mod scratch;
mod snapshot;
mod standing;
mod status;
mod worktree;

pub use call::{PLACES, SCRUBBED};
pub use changes::{Change, ChangeKind, Entry, Mode};
pub use commit::{Identity, Message};
pub use error::Error;
pub use head::Head;
pub use head_name::{HeadName, head_name_on_disk};
pub use id::ObjectId;
pub use log::Commit;
pub use merge::Merge;
pub use path::RepoPath;
pub use printed::Untracked;
pub use program::{Program, Version};
pub use refs::Expected;
pub use repo::Repo;
pub use rescue::{Rescue, Rescued, Staged};
pub use standing::Indexed;
pub use status::{State, StatusEntry};
pub use worktree::{Checkout, Removal, Worktree};
