//! Programs to compare with, and the two that measure.

use std::ffi::OsString;
use std::path::PathBuf;

use super::measure::{Call, Contender};
use crate::packages::{Package, Python};
use crate::{run, tools};

/// What is installed by name from the registries of others, in these versions.
pub(super) const DUCKDB: Python = Python {
    packages: &[("duckdb", "2.0.0")],
};
pub(super) const SNAKEMAKE: Python = Python {
    packages: &[("snakemake", "9.27.1")],
};
pub(super) const TASK_MASTER: Package = ("task-master-ai", "0.43.1");

/// A program that may be here; the package is Debian's.
pub(super) struct Peer {
    pub(super) program: &'static str,
    pub(super) package: &'static str,
}

pub(super) const BASH: Peer = Peer {
    program: "bash",
    package: "bash",
};
pub(super) const TIME: Peer = Peer {
    program: "time",
    package: "time",
};
pub(super) const JQ: Peer = Peer {
    program: "jq",
    package: "jq",
};
pub(super) const MAKE: Peer = Peer {
    program: "make",
    package: "make",
};
pub(super) const PARALLEL: Peer = Peer {
    program: "parallel",
    package: "parallel",
};
pub(super) const STRACE: Peer = Peer {
    program: "strace",
    package: "strace",
};
pub(super) const WC: Peer = Peer {
    program: "wc",
    package: "coreutils",
};
pub(super) const TRUE: Peer = Peer {
    program: "true",
    package: "coreutils",
};

impl Peer {
    /// Returns where it is, after installing it where that is possible.
    pub(super) fn find(&self) -> Option<PathBuf> {
        let found = in_path(self.program);
        if found.is_some() || !tools::may_install() {
            return found;
        }
        if let Err(problem) = tools::install(self.package) {
            println!("{problem}");
        }
        in_path(self.program)
    }

    /// Returns where it is, or says what to install.
    pub(super) fn need(&self) -> Result<PathBuf, String> {
        let lacking = || format!("measuring needs `{}`: install it", self.program);
        self.find().ok_or_else(lacking)
    }

    /// Returns it as one that is measured on files.
    pub(super) fn on(&self, args: &[&str], files: &[PathBuf], n_runs: u32) -> Contender {
        let shown = format!("`{} {}`", self.program, args.join(" "));
        let Some(program) = self.find() else {
            return Contender {
                shown: format!("{shown}, not installed"),
                call: None,
                n_runs,
            };
        };
        let words = args.iter().map(OsString::from);
        Contender {
            shown: format!("{shown}, {}", self.version()),
            call: Some(Call {
                program,
                args: words.chain(files.iter().map(OsString::from)).collect(),
                folder: run::root(),
                environment: Vec::new(),
            }),
            n_runs,
        }
    }

    /// Returns the first line of what it says of its version.
    pub(super) fn version(&self) -> String {
        first_line(run::output_of(self.program, &["--version"]).as_deref())
    }
}

/// Returns the interpreter itself with its version: what stands on the path may be a script that looks for it.
pub(super) fn python() -> Option<(PathBuf, String)> {
    let program = run::output_of("python3", &["-c", "import sys; print(sys.executable)"])?;
    let version = first_line(run::output_of(&program, &["--version"]).as_deref());
    Some((PathBuf::from(program), version))
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path);
    folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()))
}

fn first_line(text: Option<&str>) -> String {
    let line = text.and_then(|text| text.lines().next());
    line.unwrap_or("version unknown").to_owned()
}
