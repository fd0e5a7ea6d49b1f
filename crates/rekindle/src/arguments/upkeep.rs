//! Backups and tests of robustness.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct TortureArguments {
    /// How many kills at least; a run that has begun is finished
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) kills: u32,
    /// Chooses plans and disturbances
    ///
    /// The same seed gives each run the same plan, and the same disturbances in the same order: of which kind, how long after the one before, and which of those whom it fits.
    /// Moments are times of a clock, and what the processes are doing then is up to the machine: who is hit, and so the figures, differ from time to time.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many workers at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) jobs: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RescueCommand {
    /// Lists what was kept, one line each
    List {
        /// Only of this workflow: `protocol:name`, a name, or a beginning of one
        workflow: Option<String>,
    },
    /// Shows what one rescue holds: from where and when, and which files differ from its base
    ///
    /// Files are compared byte by byte, so those that git converts when it checks them out (line ends, filters) differ too.
    Show {
        /// The rescue: its ref, `workflow/task/n`, or a unique beginning
        name: String,
    },
    /// Writes the files of a rescue into a new folder, after a yes; never over anything that exists
    Restore {
        /// The rescue: its ref, `workflow/task/n`, or a unique beginning
        name: String,
        /// The folder, which must not exist yet [default: one below `.rekindle/restored/`]
        #[arg(long, value_name = "DIR")]
        into: Option<Utf8PathBuf>,
        /// Writes it without asking
        #[arg(short, long)]
        yes: bool,
    },
}
