//! A Kiln Teams wave after a crash: a real repository, real worktrees, a task list in the home.
//!
//! [`build`] lays it out from the case's `teams` object, [`check`] looks at what a resume left.
//! Tests that go on by hand from there begin with a [`Stage`].

pub(crate) use build::build;
pub(crate) use outcome::{Outcome, check};
pub(crate) use spec::Spec;
pub(crate) use stage::NOW;
pub use stage::Stage;

mod build;
mod documents;
mod layout;
mod outcome;
mod spec;
mod stage;
mod task_list;
