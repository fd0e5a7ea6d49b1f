//! Programs to compare with, and those that measure.

use std::path::PathBuf;
use std::process::Command;

use xtask::packages::{Package, Python};
use xtask::{run, tools};

use crate::measure::Contender;

pub(crate) const DUCKDB: Python = Python {
    packages: &[("duckdb", "2.0.0")],
};
pub(crate) const SNAKEMAKE: Python = Python {
    packages: &[("snakemake", "9.27.1")],
};
pub(crate) const TASK_MASTER: Package = ("task-master-ai", "0.43.1");

/// A program and its Debian package.
pub(crate) struct Peer(&'static str, &'static str);

pub(crate) const BASH: Peer = Peer("bash", "bash");
pub(crate) const TIME: Peer = Peer("time", "time");
pub(crate) const JQ: Peer = Peer("jq", "jq");
pub(crate) const MAKE: Peer = Peer("make", "make");
pub(crate) const PARALLEL: Peer = Peer("parallel", "parallel");
pub(crate) const STRACE: Peer = Peer("strace", "strace");
pub(crate) const WC: Peer = Peer("wc", "coreutils");
pub(crate) const TRUE: Peer = Peer("true", "coreutils");

impl Peer {
    /// Returns its path, after installing it where that is possible.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        let found = in_path(self.0);
        if found.is_some() || !tools::may_install() {
            return found;
        }
        if let Err(problem) = tools::install(self.1) {
            println!("{problem}");
        }
        in_path(self.0)
    }

    /// Returns its path, or an error that names it.
    pub(crate) fn need(&self) -> Result<PathBuf, String> {
        let missing = || format!("`{}` is not installed", self.0);
        self.find().ok_or_else(missing)
    }

    /// Returns its measurement with these files as its last arguments.
    pub(crate) fn on(&self, args: &[&str], files: &[PathBuf], n_runs: u32) -> Contender {
        let shown = format!("`{} {}`", self.0, args.join(" "));
        let Some(program) = self.find() else {
            return Contender {
                shown: format!("{shown}, not installed"),
                command: None,
                n_runs,
            };
        };
        let mut command = Command::new(program);
        command.args(args).args(files);
        Contender {
            shown: format!("{shown}, {}", self.version()),
            command: Some(command),
            n_runs,
        }
    }

    /// Returns the first line that it prints about its version.
    pub(crate) fn version(&self) -> String {
        first_line(run::output_of(self.0, &["--version"]))
    }
}

/// Returns the interpreter and its version; the `python3` on the path may be a script that looks for it.
pub(crate) fn python() -> Result<(PathBuf, String), String> {
    let program = run::output_of("python3", &["-c", "import sys; print(sys.executable)"])
        .ok_or("`python3` is not installed")?;
    let version = first_line(run::output_of(&program, &["--version"]));
    Ok((PathBuf::from(program), version))
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path);
    folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()))
}

fn first_line(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    text.lines().next().unwrap_or("version unknown").to_owned()
}
