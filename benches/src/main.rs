//! `cargo xtask bench`: measures the release binary next to programs that everybody knows.
//!
//! A bench is a function in a file of its own and a line in `chore::BENCHES`; it returns a
//! [`Section`](report::Section) with rows, targets, comparisons ([`standing`]) and a picture ([`chart`]).
//! [`generate`] makes the projects once and reuses them; the programs to compare with are in [`peer`] and
//! [`engines`]. Start at [`chore`].

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
mod install;
mod lists;
mod long_run;
mod machine;
mod map;
mod measure;
mod overhead;
mod overview;
mod overview_project;
mod peer;
mod replay;
mod replay_events;
mod replay_project;
mod report;
mod sessions;
mod sessions_home;
mod size;
mod standing;
mod startup;
mod step_project;
mod stories;
mod timeline;
mod wave_project;
mod worktrees;

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    xtask::run::exit_code(chore::run(&args))
}
