//! Backups and tests of robustness.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::values::parse_age;

#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Runs, branches and backups to remove, merged or not [default: all that are no longer needed]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Records and backups count as old after this time, such as `12h`, `30d` or `8w`
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = parse_age)]
    pub(crate) older_than: Duration,
    /// Remove them without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TortureArguments {
    /// Minimum number of kills; a run in progress is always finished
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) kills: u32,
    /// A number from which the plans and the faults are made
    ///
    /// The same number repeats the plans and the kinds, intervals and targets of the faults.
    /// The results still differ, because the timing of the processes does.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of parallel workers
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) jobs: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RescueCommand {
    /// List the backups
    List {
        /// Only backups of this workflow: `protocol:name`, a name, or a prefix of one
        workflow: Option<String>,
    },
    /// Show a backup: its origin and time, and the files that differ from its base
    ///
    /// Files are compared byte by byte, so files that git converts at checkout (line ends, filters) differ too.
    Show {
        /// The backup: its ref, `workflow/task/n`, or a unique prefix
        name: String,
    },
    /// Write the files of a backup to a new folder, after confirmation
    Restore {
        /// The backup: its ref, `workflow/task/n`, or a unique prefix
        name: String,
        /// The new folder [default: a new folder in `.rekindle/restored/`]
        #[arg(long, value_name = "DIR")]
        into: Option<Utf8PathBuf>,
        /// Write it without asking
        #[arg(short, long)]
        yes: bool,
    },
}
