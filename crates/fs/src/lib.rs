//! The only writer of files: atomic replace, durable append, locks, journal.
//!
//! All crash guarantees are made here: a file is old or new and never half written, an appended
//! record is on the disk before the call returns, and a lock ends with its holder. The crate has no
//! clock, configuration or protocol; callers pass times as text and paths that [`confine`] has
//! checked.
//!
//! Start at [`replace()`] for files that are rewritten, [`Log`] for files that grow, [`Lock`] for
//! exclusive writing, [`read_within`] for untrusted files, and [`Journal`] for recovery. Each
//! system call that changes the disk is in `disk.rs`.

mod attributes;
mod confine;
mod copies;
mod disk;
mod error;
mod fingerprint;
mod folder;
mod guarded;
pub mod journal;
mod last_life;
mod lock;
mod log;
mod process;
mod relocate;
mod replace;
mod seal;
mod sole;
mod temporary;
mod tree;

pub use confine::{confine, confine_unlinked};
pub use copies::{copy_into, link_into, remove_copy};
pub use disk::places;
pub use error::Error;
pub use fingerprint::{Content, Fingerprint, ParseFingerprintError};
pub use folder::{
    Company, create_folder, discard, ensure_dir, ensure_private_dir, remove_copies, remove_empty,
    rename,
};
pub use guarded::{GuardedFile, Line, list_within, read_followed, read_within, refuse_links};
pub use journal::Journal;
pub use last_life::{Departure, LastLife};
pub use lock::{ForeignLock, Holder, Lock, LockError, Occupancy};
pub use log::{Log, Tail};
pub use process::{Liveness, ProcessIdentity};
pub use relocate::Relocation;
pub use replace::{
    Durability, create, create_private, remove, replace, replace_followed, write_sealed,
};
pub use seal::{Key, Seal};
pub use temporary::{
    Unfinished, create_output, draft_beside, scratch, sweep_drafts, sweep_unfinished,
    temporary_folder,
};
pub use tree::{Draft, Modes, Node, Tree};
