//! Installs programs of others, by name and version, below the target folder.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{files, run};

/// A package and its version.
pub type Package = (&'static str, &'static str);

/// The release of MAP whose scripts `rekindle map` is compared with.
pub const MAPIFY: Python = Python {
    packages: &[("mapify-cli", "3.25.0")],
};

/// Options of npm; no script of an installed package runs during the installation.
pub const NPM_OPTIONS: [&str; 3] = ["--ignore-scripts", "--no-audit", "--no-fund"];

/// A file that is written once everything is installed.
const DONE: &str = "installed";

/// Python packages that share a virtual environment.
pub struct Python {
    /// The first one names the folder.
    pub packages: &'static [Package],
}

impl Python {
    /// Installs the packages if they are missing; returns the folder of the environment.
    pub fn folder(&self) -> Result<PathBuf, String> {
        install("python", self.packages, |folder| {
            let wanted = self.packages.iter();
            let wanted = wanted.map(|(package, version)| format!("{package}=={version}"));
            run::check(in_folder(folder, "python3").args(["-m", "venv", "."]))?;
            let mut pip = in_folder(folder, folder.join("bin/pip"));
            pip.args(["install", "--quiet", "--timeout", "60"]);
            run::check(pip.args(wanted))
        })
    }

    /// Returns the interpreter of the environment, or another of its programs.
    pub fn program(&self, name: &str) -> Result<PathBuf, String> {
        Ok(self.folder()?.join("bin").join(name))
    }

    /// Returns the version of the first package.
    pub fn version(&self) -> &'static str {
        self.packages[0].1
    }
}

/// Installs a Node package if it is missing; returns the folder that has `node_modules`.
pub fn node(package: Package) -> Result<PathBuf, String> {
    install("node", &[package], |folder| {
        // Without a manifest of its own, npm would look for one in the folders above.
        files::write(folder.join("package.json"), "{\"private\":true}\n")?;
        let mut npm = in_folder(folder, "npm");
        npm.args(["install", "--silent", "--fetch-timeout=60000"]);
        npm.args(NPM_OPTIONS);
        run::check(npm.arg(format!("{}@{}", package.0, package.1)))
    })
}

/// Installs a Node package if it is missing; returns a folder with its manifest, its lock file, and
/// everything that `npm ci --offline --cache FOLDER/cache` needs.
pub fn node_cache(package: Package) -> Result<PathBuf, String> {
    install("npm-cache", &[package], |folder| {
        files::write(folder.join("package.json"), "{\"private\":true}\n")?;
        let mut npm = in_folder(folder, "npm");
        npm.args(["install", "--silent", "--fetch-timeout=60000"]);
        // Without the addresses npm would ask the registry for them.
        npm.args([
            "--cache",
            "cache",
            "--omit-lockfile-registry-resolved=false",
        ]);
        npm.args(NPM_OPTIONS);
        run::check(npm.arg(format!("{}@{}", package.0, package.1)))
    })
}

/// Builds a Rust program if it is missing; returns its path.
pub fn rust(package: Package) -> Result<PathBuf, String> {
    let (name, version) = package;
    let folder = install("rust", &[package], |folder| {
        // The target folder of the workspace is locked by the build that runs this.
        let build = folder.join("build");
        let mut cargo = in_folder(folder, "cargo");
        cargo.args(["install", "--quiet", "--locked", "--root", ".", name]);
        cargo.args(["--version", version]);
        run::check(cargo.env("CARGO_TARGET_DIR", &build))?;
        fs::remove_dir_all(&build).map_err(|e| format!("cannot remove `{}`: {e}", build.display()))
    })?;
    Ok(folder.join("bin").join(name))
}

/// Installs packages into a folder of their own, unless that is done; returns the folder.
fn install(
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
    if !done.exists() {
        println!("installing {}", names.join(", "));
        files::empty_folder(&folder)?;
        install(&folder)?;
        files::write(&done, "")?;
    }
    Ok(folder)
}

fn in_folder(folder: &Path, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}
