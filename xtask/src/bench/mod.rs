//! `cargo xtask bench`: how fast the released binary is, next to what everybody has.
//!
//! A bench is one file with one constant [`Bench`](chore::Bench) and a line in `chore::BENCHES`; it
//! returns a [`Section`](report::Section) of rows and targets, of figures that are held against
//! others ([`standing`]), and of a picture ([`chart`]). Its input is made by [`generate`] once and
//! then reused; programs to compare with are a constant in [`peer`] or [`engines`].
//! Start at [`chore`].

mod breakdown;
mod briefing;
mod chart;
mod chore;
mod crashes;
mod dialect;
mod durable;
mod engines;
mod folders;
mod generate;
mod git_trace;
mod growth;
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
mod size;
mod standing;
mod startup;
mod step_project;
mod timeline;
mod wave_project;

pub(crate) use chore::CHORE;
pub(crate) use report::with_kills;
