//! The static release binary, which does not depend on where and when it is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{files, run};

use super::TARGET;

/// The first time that a zip can have, for compilers and the wheel: with the time of the commit, every
/// commit would build `SQLite` anew.
const TIME: &str = "315532800";
/// Instead of the profile for releases, where only the packing is tested.
const WITHOUT_OPTIMIZATION: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
];

/// A checkout, and how cargo builds it.
pub(super) struct Build {
    source: PathBuf,
    target: PathBuf,
    profile: &'static [(&'static str, &'static str)],
}

impl Build {
    /// The build of this checkout.
    pub(super) fn here() -> Result<Self, String> {
        Ok(Self {
            source: run::root(),
            target: run::target_folder()?,
            profile: &[],
        })
    }

    /// A faster build of this checkout.
    pub(super) fn without_optimization() -> Result<Self, String> {
        Ok(Self {
            target: run::target_folder()?.join("without-optimization"),
            profile: &WITHOUT_OPTIMIZATION,
            ..Self::here()?
        })
    }

    /// Returns the manifest of the program.
    pub(super) fn manifest(&self) -> PathBuf {
        self.source.join("crates/rekindle/Cargo.toml")
    }

    /// Builds the binary; returns its path.
    pub(super) fn binary(&self) -> Result<PathBuf, String> {
        let mut cargo = run::cargo(&["build", "--release", "--locked", "--package", "rekindle"]);
        self.set_variables(cargo.current_dir(&self.source))?;
        run::timed("static build", || run::check(&mut cargo)).0?;
        let binary = self.target.join(TARGET).join("release/rekindle");
        let kind = run::output_of("ldd", &[&binary.to_string_lossy()]);
        // `ldd` fails for a program without an interpreter, or says that it is linked statically.
        if kind.is_some_and(|text| !text.contains("statically linked")) {
            return Err(format!("`{}` is not static", binary.display()));
        }
        Ok(binary)
    }

    /// Sets what cargo needs to know, also where another program starts it.
    pub(super) fn set_variables(&self, cargo: &mut Command) -> Result<(), String> {
        // A target, even if it is that of this machine, keeps the flags away from build scripts and macros.
        cargo.env("CARGO_BUILD_TARGET", TARGET);
        cargo.env("CARGO_TARGET_DIR", &self.target);
        cargo.env("CARGO_INCREMENTAL", "0");
        cargo.env("CARGO_ENCODED_RUSTFLAGS", self.flags()?.join("\u{1f}"));
        cargo.env("SOURCE_DATE_EPOCH", TIME);
        cargo.envs(self.profile.iter().copied());
        Ok(())
    }

    fn flags(&self) -> Result<Vec<String>, String> {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let compiler = run::output_of(&rustc, &["--print", "sysroot"]);
        let compiler = compiler.ok_or("cannot find the folder of the compiler")?;
        let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
        let registry = home()?;
        for (path, name) in [
            (self.source.to_string_lossy(), "/rekindle"),
            (registry.to_string_lossy(), "/cargo"),
            (compiler.into(), "/rust"),
        ] {
            flags.push(format!("--remap-path-prefix={path}={name}"));
        }
        Ok(flags)
    }
}

/// Returns the folder in which cargo keeps the sources of dependencies.
pub(super) fn home() -> Result<PathBuf, String> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    let home = named.or_else(usual);
    home.ok_or_else(|| "set HOME or CARGO_HOME".to_owned())
}

/// Does something with a clone of this commit in another folder, without anything that was built before.
pub(super) fn elsewhere<T>(work: impl FnOnce(&Build) -> Result<T, String>) -> Result<T, String> {
    let folder = files::empty_folder(run::target_folder()?.join("elsewhere"))?;
    let build = Build {
        source: folder.join("a-longer-name-of-the-source"),
        target: folder.join("built"),
        profile: &[],
    };
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", "--no-hardlinks"]);
    clone.arg(run::root()).arg(&build.source);
    run::check(&mut clone)?;
    let result = work(&build)?;
    remove(&folder)?;
    Ok(result)
}

fn remove(folder: &Path) -> Result<(), String> {
    std::fs::remove_dir_all(folder)
        .map_err(|e| format!("cannot remove `{}`: {e}", folder.display()))
}
