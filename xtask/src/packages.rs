//! Programs of others, installed by name and version from their registries into folders below the target folder.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run;

/// What stands in a folder once everything is in it.
const DONE: &str = "installed";

/// A package with the version that is wanted.
pub(crate) type Package = (&'static str, &'static str);

/// Packages of Python that share a virtual environment.
pub(crate) struct Python {
    /// The first one names the folder.
    pub(crate) packages: &'static [Package],
}

impl Python {
    /// Returns the folder of the environment, after installing into it what is not there yet.
    pub(crate) fn folder(&self) -> Result<PathBuf, String> {
        installed("python", self.packages, |folder| {
            let wanted: Vec<String> = (self.packages.iter())
                .map(|(package, version)| format!("{package}=={version}"))
                .collect();
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            run_in(folder, "python3", &["-m", "venv", "."])?;
            let options = ["install", "--quiet", "--timeout", "60"];
            run_in(
                folder,
                folder.join("bin/pip"),
                &[&options[..], &wanted].concat(),
            )
        })
    }

    /// Returns the interpreter of the environment, or another of its programs.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf, String> {
        Ok(self.folder()?.join("bin").join(name))
    }
}

/// Installs a package of Node where it is not there yet; returns the folder that has `node_modules`.
pub(crate) fn node(package: Package) -> Result<PathBuf, String> {
    installed("node", &[package], |folder| {
        let wanted = format!("{}@{}", package.0, package.1);
        // Without a package of its own, npm would look for one in the folders above.
        let manifest = folder.join("package.json");
        fs::write(&manifest, "{\"private\":true}\n").map_err(|e| cannot("write", &manifest, &e))?;
        // Nothing of what is installed runs while it is installed.
        let options = [
            "install",
            "--silent",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ];
        let limit = "--fetch-timeout=60000";
        run_in(folder, "npm", &[&options[..], &[limit, &wanted]].concat())
    })
}

/// Builds a program of Rust where it is not there yet; returns its path.
pub(crate) fn rust(package: Package) -> Result<PathBuf, String> {
    let (name, version) = package;
    let folder = installed("rust", &[package], |folder| {
        let wanted = [name, "--version", version];
        let options = ["install", "--quiet", "--locked", "--root", "."];
        // A target folder of ours would be locked by the build that runs this.
        let mut command = Command::new("cargo");
        command.args(options).args(wanted).current_dir(folder);
        command.env("CARGO_TARGET_DIR", folder.join("build"));
        if !run::watched(&mut command)? {
            return Err(format!("`cargo install {name}` failed"));
        }
        let build = folder.join("build");
        fs::remove_dir_all(&build).map_err(|e| cannot("remove", &build, &e))
    })?;
    Ok(folder.join("bin").join(name))
}

/// Returns the folder of packages, after they were installed into it.
fn installed(
    kind: &str,
    packages: &[Package],
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let names: Vec<String> = packages
        .iter()
        .map(|(package, version)| format!("{}-{version}", package.replace(['@', '/'], "_")))
        .collect();
    let folder = run::target_folder()?
        .join("clients")
        .join(format!("{kind}-{}", names.join("-")));
    let done = folder.join(DONE);
    if done.exists() {
        return Ok(folder);
    }
    println!("installing {}", names.join(", "));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| cannot("remove", &folder, &e))?;
    }
    fs::create_dir_all(&folder).map_err(|e| cannot("make", &folder, &e))?;
    install(&folder)?;
    fs::write(&done, "").map_err(|e| cannot("write", &done, &e))?;
    Ok(folder)
}

fn run_in(folder: &Path, program: impl AsRef<OsStr>, args: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    if run::watched(&mut command)? {
        return Ok(());
    }
    let program = command.get_program().to_string_lossy();
    Err(format!("`{program} {}` failed", args.join(" ")))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} `{}`: {error}", path.display())
}
