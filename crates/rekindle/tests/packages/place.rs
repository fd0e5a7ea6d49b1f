//! A clean place to install into: a home and a prefix of its own, and a path without Rust.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::process::{Call, Environment};
use rekindle_testkit::sandbox::{LIMIT, Sandbox};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
/// dpkg and npm are slow on a busy machine.
const INSTALLATION: Duration = LIMIT.saturating_mul(10);

/// Where something is installed; dropping it removes everything.
pub(crate) struct Place {
    sandbox: Sandbox,
    dist: Utf8PathBuf,
    prefix: Utf8PathBuf,
    environment: Environment,
}

impl Place {
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        let prefix = sandbox.root().join("prefix");
        fs_err::create_dir(&prefix)?;
        let mut environment = sandbox.environment().clone();
        let path = environment
            .get(&OsString::from("PATH"))
            .cloned()
            .unwrap_or_default();
        let has_rust = |folder: &Utf8Path| {
            ["cargo", "rustc"]
                .iter()
                .any(|name| folder.join(name).exists())
        };
        let folders = std::env::split_paths(&path)
            .filter_map(|folder| Utf8PathBuf::from_path_buf(folder).ok())
            .filter(|folder| !has_rust(folder));
        let folders: Vec<Utf8PathBuf> =
            std::iter::once(prefix.join("bin")).chain(folders).collect();
        environment.insert("PATH".into(), std::env::join_paths(folders)?);
        // The demo leaves its project there.
        environment.insert("TMPDIR".into(), sandbox.root().as_str().into());
        // The tests of a workspace run with variables of cargo.
        environment.retain(|name, _| !name.to_string_lossy().starts_with("CARGO"));
        let place = Self {
            dist: variable("REKINDLE_TEST_DIST")?.into(),
            sandbox,
            prefix,
            environment,
        };
        place.run("! command -v cargo && ! command -v rekindle")?;
        Ok(place)
    }

    pub(crate) fn prefix(&self) -> &Utf8Path {
        &self.prefix
    }

    pub(crate) fn dist(&self) -> &Utf8Path {
        &self.dist
    }

    /// Returns the path of the package whose name ends like this.
    pub(crate) fn package(&self, end: &str) -> Result<Utf8PathBuf> {
        let files = self.dist.read_dir_utf8()?.collect::<Result<Vec<_>, _>>()?;
        let mut paths = files.iter().map(camino::Utf8DirEntry::path);
        let found = paths.find(|path| path.as_str().ends_with(end));
        Ok(found
            .with_context(|| format!("no package `*{end}`"))?
            .to_owned())
    }

    /// Runs lines of shell, all of which must succeed; returns what they printed.
    pub(crate) fn run(&self, lines: &str) -> Result<String> {
        let args = ["-euc".to_owned(), lines.to_owned()];
        let call = Call {
            program: "sh",
            args: &args,
            folder: self.sandbox.project(),
            environment: &self.environment,
            stdin: "",
            limit: INSTALLATION,
        };
        let output = call.run()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{lines}`: {said}{complained}");
        Ok(said)
    }

    /// Runs lines of shell as root in a copy of this system, of which nothing is kept.
    pub(crate) fn in_copy_of_system(&self, lines: &str) -> Result<String> {
        let script = self.sandbox.root().join("inside.sh");
        fs_err::write(&script, format!("set -eu\n{lines}\n"))?;
        let folder = self.sandbox.root().join("copy");
        fs_err::create_dir(&folder)?;
        let lines = format!(
            "mount -t tmpfs tmpfs {folder}
             mkdir {folder}/changes {folder}/work {folder}/system
             mount -t overlay overlay -o lowerdir=/,upperdir={folder}/changes,workdir={folder}/work {folder}/system
             for name in proc dev; do mount --rbind /$name {folder}/system/$name; done
             mkdir -p {folder}/system/{dist} && cp {dist}/*.deb {folder}/system/{dist}
             cp {script} {folder}/system/inside.sh
             exec chroot {folder}/system env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh /inside.sh",
            dist = self.dist,
        );
        let setup = self.sandbox.root().join("setup.sh");
        fs_err::write(&setup, format!("set -eu\n{lines}\n"))?;
        self.run(&format!(
            "if [ $(id -u) = 0 ]; then root=; else root=sudo; fi
             $root unshare --mount sh {setup}"
        ))
    }

    pub(crate) fn demo(&self) -> Result<()> {
        let said = self.run("rekindle demo")?;
        ensure!(said.contains("Every task landed exactly once"), "{said}");
        Ok(())
    }

    /// Tries what should work once rekindle is installed.
    pub(crate) fn is_complete(&self, way: &str, pages: &str) -> Result<()> {
        let version = self.run("rekindle --version")?;
        let number = env!("CARGO_PKG_VERSION");
        let start = format!("rekindle {number} (");
        let commit = version.trim().strip_prefix(&start);
        let commit = commit.and_then(|rest| rest.strip_suffix(')'));
        let words: Vec<&str> = commit.unwrap_or_default().split(' ').collect();
        ensure!(
            matches!(words[..], [hash, day] if hash.len() == 10 && day.len() == 10),
            "{version}"
        );
        let doctor = self.run("rekindle doctor")?;
        ensure!(doctor.contains(way), "{doctor}");
        let pages = self.prefix.join(pages);
        for page in ["rekindle", "rekindle-run", "rekindle-rescue-list"] {
            let page = self.run(&format!("MANPATH={pages} MANPAGER=cat man {page}"))?;
            ensure!(
                page.contains("SYNOPSIS") && page.contains("rekindle"),
                "{page}"
            );
        }
        self.completes()
    }

    /// Loads the completion of each shell and asks it for a command, or whether it is there.
    fn completes(&self) -> Result<()> {
        self.run(
            "for shell in bash zsh fish; do rekindle completions $shell > rekindle.$shell; done",
        )?;
        let bash = self.run("bash --norc -c '. ./rekindle.bash && complete -p rekindle'")?;
        ensure!(bash.contains("rekindle"), "{bash}");
        self.run(
            "mkdir functions && cp rekindle.zsh functions/_rekindle
             zsh -fc 'fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; [[ -n $_comps[rekindle] ]]'",
        )?;
        let fish = self.run(
            "fish --no-config -c 'source rekindle.fish; complete --do-complete \"rekindle res\"'",
        )?;
        ensure!(fish.contains("resume") && fish.contains("rescue"), "{fish}");
        Ok(())
    }

    /// Checks that the scripts of bash, zsh and fish are where the shells look below a prefix.
    pub(crate) fn has_completions_at(&self, paths: [&str; 3]) -> Result<()> {
        for (shell, path) in ["bash", "zsh", "fish"].into_iter().zip(paths) {
            self.run(&format!("cmp rekindle.{shell} {}/{path}", self.prefix))?;
        }
        Ok(())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test is told where the packages are"
)]
pub(crate) fn variable(name: &str) -> Result<String> {
    std::env::var(name).with_context(|| format!("{name} is not set; `cargo xtask test` sets it"))
}
