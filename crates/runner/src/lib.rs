//! Applies confirmed plans: lock, journal, effects, agents.
//!
//! A [`Runner`] holds a workflow's lock. Before effects start they are in the
//! journal with all that is needed to finish them; each is marked when it is
//! done. After a crash the next runner finishes the rest. Effects
//! can be repeated: a line that is already in a log is not appended again.
//! [`Reach`] says where they may write.

mod agent;
mod agreed;
mod apply;
mod attempt_log;
mod binding;
mod branch_lock;
mod cleaning;
mod crash;
mod effects;
mod engine;
mod error;
mod finished;
mod follow;
mod heartbeat;
mod last_life;
mod mirror;
mod notify;
mod outfit;
mod output_log;
mod pool;
mod port;
mod ports;
mod process_tree;
mod pruning;
mod reach;
mod sealed;
mod session;
mod signals;
mod state_folder;
mod stopping;
mod teardown;
mod transaction;
mod worker;

pub use apply::{Output, Recovered, Runner, report};
pub use attempt_log::AttemptLog;
pub use binding::Foreign;
pub use branch_lock::hold_branch;
pub use cleaning::{Leftover, ignored_in, leftovers, remove, trim_pool};
pub use crash::places as crash_places;
pub use engine::{
    After, Begin, Change, Cost, Ending, Engine, Event, GivenUp, HeldBack, LeftOut, Marker, Missing,
    Progress, Reporter, RunView, Scribe, Skipped, Steering, StillAtWork, Tally, Watcher,
    WorkerView, has_commits, in_git, is_delivered, missing,
};
pub use error::Error;
pub use finished::FinishedWorkflows;
pub use follow::{Follower, Look};
pub use heartbeat::{Attempt, beat};
pub use notify::{Untold, notify};
pub use reach::Reach;
pub use session::{become_program, run_session};
pub use signals::outlive_signals;
pub use state_folder::StateFolder;
pub use stopping::{Asked, Urgency};
pub use teardown::Teardown;
pub use transaction::Transaction;
pub use worker::work;
