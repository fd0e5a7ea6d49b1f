//! The licences of the libraries in the binary, collected from their sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use xtask::{files, run};

use super::{TARGET, build};

/// The file in every package.
pub(super) const FILE: &str = "THIRD-PARTY-LICENSES.txt";
/// The C library in the static program, and where Debian has the text of its licence.
const GLIBC: &str = "The program also contains the GNU C Library (LGPL-2.1-or-later) and Rust's standard library (MIT OR Apache-2.0).
Building the source without `cargo xtask dist` links it with the C library of the system instead.
";
const LGPL: &str = "/usr/share/common-licenses/LGPL-2.1";
/// How the names of such files begin, in lower case.
const NAMES: [&str; 6] = [
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "unlicense",
];

/// A library in the binary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Library {
    pub(super) name: String,
    pub(super) version: String,
    /// The expression of its manifest, such as `MIT OR Apache-2.0`.
    pub(super) license: String,
}

/// Returns the libraries that the binary is built from, sorted; our own crates are not among them.
pub(super) fn libraries() -> Result<Vec<Library>, String> {
    let mut cargo = run::cargo(&[
        "tree",
        "--locked",
        "--package",
        "rekindle",
        "--target",
        TARGET,
    ]);
    cargo.args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe"]);
    cargo.args(["--format", "{p}|{l}"]);
    let mut libraries: Vec<Library> = run::output(&mut cargo)?
        .lines()
        .filter_map(library)
        .collect();
    libraries.sort();
    libraries.dedup();
    Ok(libraries)
}

/// Reads a line such as `serde v1.0.229|MIT OR Apache-2.0`; ours have a path after the version.
fn library(line: &str) -> Option<Library> {
    let (package, license) = line.split_once('|')?;
    if package.contains("(/") {
        return None;
    }
    let mut words = package.split(' ');
    Some(Library {
        name: words.next()?.to_owned(),
        version: words.next()?.trim_start_matches('v').to_owned(),
        license: license.replace('/', " OR "),
    })
}

/// Returns the text of [`FILE`]: every licence once, with the libraries that have it.
pub(super) fn collected() -> Result<String, String> {
    let sources = files::list(build::home()?.join("registry/src"))?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for library in libraries()? {
        let Library {
            name,
            version,
            license,
        } = &library;
        let folder = sources
            .iter()
            .map(|source| source.join(format!("{name}-{version}")));
        let folder = folder.into_iter().find(|folder| folder.is_dir());
        let folder =
            folder.ok_or_else(|| format!("the source of {name} {version} is not there"))?;
        let found = license_files(&folder)?;
        if found.is_empty() {
            return Err(format!("{name} {version} has no file with its licence"));
        }
        list += &format!("  {name} {version}: {license}\n");
        for path in found {
            let bytes = std::fs::read(&path);
            let bytes = bytes.map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
            let text = String::from_utf8_lossy(&bytes).replace('\r', "");
            let users = texts.entry(text.trim().to_owned()).or_default();
            users.push(format!("{name} {version}"));
        }
    }
    let glibc = texts
        .entry(files::read(LGPL)?.trim().to_owned())
        .or_default();
    glibc.push("GNU C Library".to_owned());
    let mut all =
        format!("rekindle contains these libraries; their licences follow.\n\n{list}\n{GLIBC}");
    for (text, mut users) in texts {
        users.dedup();
        let line = "-".repeat(72);
        all += &format!("\n{line}\n{}\n{line}\n\n{text}\n", users.join(", "));
    }
    Ok(all)
}

fn license_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = files::list(folder)?;
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_tree_is_a_library_unless_it_is_ours() {
        let found = library("libc v0.2.1 (proc-macro)|MIT/Apache-2.0").unwrap();
        assert_eq!((&*found.name, &*found.version), ("libc", "0.2.1"));
        assert_eq!(found.license, "MIT OR Apache-2.0");
        assert_eq!(library("rekindle-fs v0.2.0 (/src/crates/fs)|MIT"), None);
    }
}
