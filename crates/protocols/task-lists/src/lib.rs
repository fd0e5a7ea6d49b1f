//! Task lists: spec-kit, `OpenSpec` and Kiro, read by one core.
//!
//! A format is a reader: where its lists are, how their lines become tasks, how a task is marked, and
//! what its users would type. Everything else is the same for all of them: `scan` finds the lines,
//! `order` and `states` judge the tasks, `assess` the list, and `plan` goes on with it. Start at
//! `format`(mod@format), then `assess`.

mod assess;
mod current;
mod documents;
mod explain;
mod facts;
mod findings;
mod format;
mod grammar;
mod history;
mod kiro;
mod kiro_tasks;
mod mark;
mod messages;
mod numbered;
mod openspec;
mod order;
mod past;
mod person;
mod plan;
mod protocol;
mod remarks;
mod scan;
mod shelf;
mod spec_kit;
mod spec_kit_tasks;
mod states;
mod table;
mod task;

pub use protocol::{KIRO, OPENSPEC, SPEC_KIT, TaskLists};

#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod torn_tests;
