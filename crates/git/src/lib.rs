//! The git executable behind one small typed port.
//!
//! Nothing else in rekindle starts git, and this crate starts nothing else. [`Program`] is the
//! executable, found and checked once; [`Repo`] is one folder in which it runs. Every question is a
//! method with a typed answer, and every change is a method that takes what it expects to find.
//!
//! * The environment does not leak in: variables that point git at another repository are removed,
//!   hooks do not run, nothing is fetched, no prompt is shown, and every run has a time limit.
//! * A git that only looks starts no other program, whatever the repository configures
//!   (`environment.rs`); filters and merge drivers need [`Program::for_work`].
//! * HEAD, index and files of a worktree are changed only through an [`OwnWorktree`], which is
//!   verified before every step. [`Repo::stage`] writes the user's index, for the given paths.
//! * Names are bytes ([`RepoPath`]); all lists are read with `-z`.
//! * [`Repo::rescue`] saves first what a destructive step could lose.
//!
//! The callers make all decisions. Start reading at `repo.rs`, then `snapshot.rs` and
//! `rescue/mod.rs`.

mod abandoned;
#[cfg(feature = "fuzzing")]
pub mod any_output;
mod branches;
mod bring;
mod brought;
mod call;
mod changes;
mod checked_out;
mod commit;
mod complete;
mod content;
mod environment;
mod error;
mod files;
mod head;
mod head_name;
mod id;
mod log;
mod merge;
mod on_disk;
mod overlay;
mod own;
mod patch;
mod path;
mod printed;
mod process;
mod program;
mod raw_diff;
mod ref_part;
mod refs;
mod register;
mod repo;
mod rescue;
mod scratch;
mod signing;
mod size;
mod snapshot;
mod sparse;
mod standing;
mod status;
mod submodules;
mod touched;
mod worktree;

pub use branches::Branch;
pub use call::PLACES;
pub use changes::{Change, ChangeKind, Entry, Mode};
pub use commit::{Identity, Message};
pub use content::Content;
pub use environment::{SCRUBBED, SETTINGS, VARIABLES, VARIABLES_TO_LOOK, VARIABLES_TO_READ};
pub use error::Error;
pub use head::Head;
pub use head_name::{HeadName, head_name_on_disk};
pub use id::ObjectId;
pub use log::Commit;
pub use merge::Merge;
pub use on_disk::common_dir_on_disk;
pub use own::OwnWorktree;
pub use path::RepoPath;
pub use printed::Untracked;
pub use program::{Program, Version, absolute_folders};
pub use ref_part::ref_part;
pub use refs::Expected;
pub use repo::Repo;
pub use rescue::{Rescue, Rescued, Staged};
pub use signing::Signing;
pub use standing::Indexed;
pub use status::{State, StatusEntry};
pub use touched::Touch;
pub use worktree::{Checkout, Removal, Worktree};
