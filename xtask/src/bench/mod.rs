//! `cargo xtask bench`: how fast the released binary is, next to what everybody has.
//!
//! A bench is one file with one constant [`Bench`](chore::Bench) and a line in `chore::BENCHES`; it
//! returns a [`Section`](report::Section) of rows and targets. Its input is made by
//! [`generate`] once and then reused; programs to compare with are a constant in [`peer`].
//! Start at [`chore`].

mod breakdown;
mod chore;
mod dialect;
mod generate;
mod git_trace;
mod hook;
mod machine;
mod map;
mod measure;
mod overhead;
mod overview;
mod overview_project;
mod peer;
mod race;
mod replay;
mod replay_project;
mod report;
mod startup;
mod timeline;

pub(crate) use chore::CHORE;
