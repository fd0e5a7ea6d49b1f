//! The conformance cases: one folder each, laid out in a scratch place, held against a binary.
//!
//! A case is a folder with a `case.json`, and beside it what stands there before the run:
//! `project/` and `home/`.
//! [`Case::load`] reads one, [`check`] runs all its parts, each in a [`Scene`] of its own.
//! Where an expected text or a folder's name says `/DEV/ledger-api` or `-DEV-ledger-api`,
//! the scratch path is put in.

pub use case::Case;
pub use check::check;
pub use difference::difference;
pub use error::Error;
pub use scene::Scene;
pub use teams::Stage;

mod case;
mod check;
mod clock;
mod difference;
mod error;
mod home;
mod scene;
mod snapshot;
mod teams;
