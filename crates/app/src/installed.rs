//! How this program came onto the machine, as its path shows, and the command that prints the newest version.
//!
//! rekindle has no network code and starts no package manager, so it names that command only
//! ([ADR 0060](../../../docs/adr/0060-doctor-names-the-command-that-knows-what-is-newer.md)).

use camino::Utf8Path;

/// A way to install rekindle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Build,
    Cargo,
    Debian,
    Npm,
    Npx,
    Pip,
    Pipx,
    Uv,
    Uvx,
    File,
}

impl Way {
    /// Returns the way as a part of a sentence.
    const fn shown(self) -> &'static str {
        match self {
            Self::Build => "a build of the source",
            Self::Cargo => "installed with cargo",
            Self::Debian => "installed as a Debian package",
            Self::Npm => "installed with npm",
            Self::Npx => "started with npx",
            Self::Pip => "installed with pip",
            Self::Pipx => "installed with pipx",
            Self::Uv => "installed with uv",
            Self::Uvx => "started with uvx",
            Self::File => "a file that no package manager knows",
        }
    }

    /// Returns the command that prints the newest version, if there is one.
    const fn newest(self) -> Option<&'static str> {
        match self {
            Self::Cargo => Some("cargo info rekindle"),
            Self::Debian => Some("apt-cache policy rekindle"),
            Self::Npm | Self::Npx => Some("npm view rekindle version"),
            Self::Pip | Self::Pipx | Self::Uvx => Some("pip index versions rekindle"),
            Self::Uv => Some("uv tool list --outdated"),
            Self::Build | Self::File => None,
        }
    }
}

/// Returns how the program at this path was installed, in words, and the command that prints the newest version.
pub(crate) fn installed(program: &Utf8Path, version: &str) -> (&'static str, Option<&'static str>) {
    let way = way(program, version, camino::Utf8Path::exists);
    (way.shown(), way.newest())
}

/// Recognizes folders that only one way has, and the notes that package managers keep of what they installed.
fn way(program: &Utf8Path, version: &str, exists: impl Fn(&Utf8Path) -> bool) -> Way {
    let has = |words: &[&str]| {
        let parts: Vec<&str> = program.components().map(|part| part.as_str()).collect();
        parts.windows(words.len()).any(|found| found == words)
    };
    let prefix = program.parent().and_then(Utf8Path::parent);
    let in_prefix = |path: &str| prefix.is_some_and(|prefix| exists(&prefix.join(path)));
    // A minor version of Python has a folder of its own.
    let is_known_to_python = || {
        (8..40).any(|minor| {
            let note = format!("lib/python3.{minor}/site-packages/rekindle-{version}.dist-info");
            in_prefix(&note)
        })
    };
    if has(&["node_modules", "rekindle"]) {
        return if has(&["_npx"]) { Way::Npx } else { Way::Npm };
    }
    if has(&["pipx", "venvs", "rekindle"]) {
        return Way::Pipx;
    }
    if has(&["uv", "tools", "rekindle"]) {
        return Way::Uv;
    }
    if is_known_to_python() {
        return if has(&["archive-v0"]) {
            Way::Uvx
        } else {
            Way::Pip
        };
    }
    if program == "/usr/bin/rekindle" && exists("/var/lib/dpkg/info/rekindle.list".into()) {
        return Way::Debian;
    }
    if in_prefix(".crates.toml") {
        return Way::Cargo;
    }
    // Cargo has a lock in every folder that it builds into.
    if exists(&program.with_file_name(".cargo-lock")) {
        return Way::Build;
    }
    Way::File
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(program: &str, existing: &[&str], expect: Way) {
        let found = way(program.into(), "1.2.3", |path| {
            existing.contains(&path.as_str())
        });
        assert_eq!(found, expect, "{program}");
    }

    #[test]
    fn every_way_is_recognized_by_its_folders_and_notes() {
        let npm = "lib/node_modules/rekindle/bin/rekindle";
        check(&format!("/usr/local/{npm}"), &[], Way::Npm);
        check(
            "/home/a/.npm/_npx/0f/node_modules/rekindle/bin/rekindle",
            &[],
            Way::Npx,
        );
        check(
            "/home/a/.local/share/pipx/venvs/rekindle/bin/rekindle",
            &[],
            Way::Pipx,
        );
        check(
            "/home/a/.local/share/uv/tools/rekindle/bin/rekindle",
            &[],
            Way::Uv,
        );
        let note = |prefix: &str| {
            format!("{prefix}/lib/python3.11/site-packages/rekindle-1.2.3.dist-info")
        };
        check(
            "/home/a/venv/bin/rekindle",
            &[&note("/home/a/venv")],
            Way::Pip,
        );
        let uvx = "/home/a/.cache/uv/archive-v0/x9";
        check(&format!("{uvx}/bin/rekindle"), &[&note(uvx)], Way::Uvx);
        check(
            "/home/a/.cargo/bin/rekindle",
            &["/home/a/.cargo/.crates.toml"],
            Way::Cargo,
        );
        check(
            "/usr/bin/rekindle",
            &["/var/lib/dpkg/info/rekindle.list"],
            Way::Debian,
        );
        check(
            "/src/target/debug/rekindle",
            &["/src/target/debug/.cargo-lock"],
            Way::Build,
        );
    }

    #[test]
    fn a_copied_file_is_not_taken_for_an_installed_one() {
        check("/usr/bin/rekindle", &[], Way::File);
        check(
            "/home/a/bin/rekindle",
            &["/var/lib/dpkg/info/rekindle.list"],
            Way::File,
        );
        let other = "/home/a/venv/lib/python3.11/site-packages/rekindle-1.0.0.dist-info";
        check("/home/a/venv/bin/rekindle", &[other], Way::File);
    }
}
