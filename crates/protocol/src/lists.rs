//! Task lists: what all formats that tick off tasks in a file share.
//!
//! A [`Format`](format::Format) is a reader: where its lists are, how their lines become tasks, how a
//! task is marked, and what its users would type. Everything else is here: `scan` finds the lines,
//! `grammar`, `numbered` and `reading` read them, `order` and `states` judge the tasks, `assess` the
//! list, and `plan` goes on with it. A format becomes a protocol as [`TaskLists`]. Start at
//! [`format`](mod@format), then `assess`.

mod assess;
pub mod current;
pub mod documents;
mod doing;
mod explain;
mod facts;
pub mod fields;
mod findings;
pub mod format;
pub mod grammar;
mod history;
pub mod mark;
mod messages;
pub mod numbered;
pub mod order;
mod past;
pub mod person;
pub mod plain;
mod plan;
mod protocol;
pub mod reading;
pub mod remarks;
pub mod scan;
pub mod shelf;
pub mod stages;
pub mod states;
pub mod table;
pub mod task;

pub use protocol::TaskLists;
pub use table::{Claim, TaskState};

#[cfg(test)]
mod table_tests;
