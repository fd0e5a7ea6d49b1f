//! `cargo xtask dist`: everything that a release consists of, in `<target>/dist/`.
//!
//! [`build`] makes the static binary, [`contents`] the folder that every package holds, and a file each
//! packs it. The same commit gives the same bytes: see
//! [ADR 0061](../../../docs/adr/0061-packages-are-made-by-their-own-tools-from-one-folder.md).

mod bill;
mod build;
mod contents;
mod debian;
mod licenses;
mod npm;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{files, run};

use self::build::Build;
use crate::Chore;

pub(crate) const CHORE: Chore = Chore {
    name: "dist",
    about: "build the packages of a release into target/dist; `--check` builds everything twice and compares the bytes",
    run: chore,
};

/// The only machine that packages are built for.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The names and hashes of all packages.
const SUMS: &str = "SHA256SUMS";

/// What is built, from which commit.
struct Release {
    version: String,
    /// Seconds since 1970 of the commit; files in packages have this time, but for the wheel.
    time: String,
    /// Where the packages go.
    folder: PathBuf,
}

impl Release {
    fn new(folder: PathBuf) -> Result<Self, String> {
        let given = std::env::var("SOURCE_DATE_EPOCH").ok();
        let committed = || run::output_of("git", &["log", "-1", "--format=%ct"]);
        let time = given.or_else(committed);
        let time = time.ok_or("this is not a git repository; set SOURCE_DATE_EPOCH")?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self {
            version,
            time,
            folder,
        })
    }

    /// Returns a command that runs in a folder, with the time for tools that know the variable.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder);
        command.env("SOURCE_DATE_EPOCH", &self.time);
        command.env("LC_ALL", "C").env("TZ", "UTC");
        command
    }

    /// Returns a folder for the files of one package, empty.
    fn scratch(&self, name: &str) -> Result<PathBuf, String> {
        files::empty_folder(self.folder.with_extension("work").join(name))
    }
}

fn chore(args: &[String]) -> Result<bool, String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let twice = match words[..] {
        [] => false,
        ["--check"] => true,
        _ => return Err(format!("unknown arguments `{}`", words.join(" "))),
    };
    let release = Release::new(run::target_folder()?.join("dist"))?;
    let sums = pack(&release, &Build::here()?)?;
    print!("{sums}");
    if !twice {
        return Ok(true);
    }
    let release = Release::new(run::target_folder()?.join("dist-again"))?;
    let again = build::elsewhere(|elsewhere| pack(&release, elsewhere))?;
    let is_same = again == sums;
    if !is_same {
        eprintln!("error: the second build differs:\n{again}");
    }
    Ok(is_same)
}

/// Makes packages for tests, from a program that is built without optimization; returns their folder.
pub(crate) fn for_tests() -> Result<PathBuf, String> {
    let folder = run::target_folder()?.join("dist-tested");
    let release = Release::new(folder)?;
    pack(&release, &Build::without_optimization()?)?;
    Ok(release.folder)
}

/// Builds the program and packs it in every way; returns the hashes of all packages.
fn pack(release: &Release, build: &Build) -> Result<String, String> {
    let binary = build.binary()?;
    files::empty_folder(&release.folder)?;
    let contents = contents::laid_out(release, &binary)?;
    tarball(release, &contents)?;
    debian::pack(release, &contents)?;
    npm::pack(release, &contents)?;
    wheel::pack(release, &contents, build)?;
    bill::write(release)?;
    checksums(release)
}

fn tarball(release: &Release, contents: &Path) -> Result<(), String> {
    let name = format!("rekindle-{}-{TARGET}", release.version);
    let outside = release.scratch("tar")?;
    let inside = outside.join(&name);
    std::os::unix::fs::symlink(contents, &inside).map_err(|e| format!("cannot link: {e}"))?;
    let archive = release.folder.join(format!("{name}.tar.gz"));
    let mut tar = release.command("tar", &outside);
    tar.args(["--create", "--dereference", "--sort=name", "--format=gnu"]);
    tar.args(["--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", release.time));
    // Without the name and the time that gzip adds.
    tar.args(["--use-compress-program", "gzip -6n", "--file"]);
    run::check(tar.arg(archive).arg(name))
}

fn checksums(release: &Release) -> Result<String, String> {
    let packages = files::list(&release.folder)?;
    let names = packages.iter().filter_map(|path| path.file_name());
    let mut sha256sum = release.command("sha256sum", &release.folder);
    let sums = run::output(sha256sum.args(names))?;
    files::write(release.folder.join(SUMS), &sums)?;
    Ok(sums)
}
