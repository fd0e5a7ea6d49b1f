//! A Kiln Teams wave after a crash: a real repository, real worktrees, a task list in the home.
//!
//! [`build`] lays it out from the case's `teams` object, [`check`] looks at what a resume left.

pub(crate) use build::build;
pub(crate) use outcome::{Outcome, check};
pub(crate) use spec::Spec;

mod build;
mod documents;
mod layout;
mod outcome;
mod spec;
mod task_list;
