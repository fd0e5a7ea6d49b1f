//! The Debian package, made by `dpkg-deb`.

use std::path::Path;

use xtask::{files, run};

use super::contents::{PAGES, PAPERS, copy};
use super::{Release, licenses};

/// Where Debian wants what other systems have elsewhere below the prefix.
const MOVED: [(&str, &str); 2] = [
    ("share/zsh/site-functions", "share/zsh/vendor-completions"),
    ("share/fish", "share/fish"),
];
const DOCUMENTS: &str = "usr/share/doc/rekindle";

pub(super) fn pack(release: &Release, contents: &Path) -> Result<(), String> {
    let root = release.scratch("debian")?;
    for path in files::list_all(contents)? {
        let inside = path.strip_prefix(contents).map_err(|e| e.to_string())?;
        let inside = inside.to_string_lossy();
        let is_paper = PAPERS.contains(&&*inside) || *inside == *licenses::FILE;
        let to = if is_paper {
            format!("{DOCUMENTS}/{inside}")
        } else {
            let moved = MOVED.iter().find(|(from, _)| inside.starts_with(from));
            let (from, to) = moved.copied().unwrap_or_default();
            format!("usr/{}", inside.replacen(from, to, 1))
        };
        copy(&path, &root.join(to))?;
    }
    compress(release, &root)?;
    files::write(root.join(DOCUMENTS).join("copyright"), COPYRIGHT)?;
    let control = control(release, &root)?;
    files::write(root.join("DEBIAN/control"), control)?;
    // The modes do not depend on the umask; only the program can be executed.
    let mut modes = release.command("chmod", &root);
    run::check(modes.args(["-R", "u=rwX,go=rX", "."]))?;
    super::contents::set_mode(&root.join("usr/bin/rekindle"), 0o755)?;
    let package = format!("rekindle_{}_amd64.deb", release.version);
    let mut dpkg = release.command("dpkg-deb", &root);
    dpkg.args(["--build", "--root-owner-group", "-Zxz", "-z1", "."]);
    dpkg.arg(release.folder.join(package));
    run::output(&mut dpkg).map(drop)
}

/// Compresses manual pages and the changelog, as Debian's policy asks.
fn compress(release: &Release, root: &Path) -> Result<(), String> {
    let pages = files::list_all(&root.join("usr").join(PAGES))?;
    let changelog = root.join(DOCUMENTS).join("CHANGELOG.md");
    let mut gzip = release.command("gzip", root);
    run::check(gzip.arg("-9n").args(pages).arg(changelog))
}

fn control(release: &Release, root: &Path) -> Result<String, String> {
    let mut bytes = 0;
    for path in files::list_all(root)? {
        let metadata = path.metadata().map_err(|e| e.to_string())?;
        bytes += metadata.len();
    }
    let Release { version, .. } = release;
    let size = bytes.div_ceil(1024);
    Ok(format!(
        "Package: rekindle\nVersion: {version}\nArchitecture: amd64\nMaintainer: The rekindle maintainers <rekindle@localhost>\n\
         Installed-Size: {size}\nDepends: git (>= 1:2.38)\nSection: vcs\nPriority: optional\n\
         Description: resume interrupted coding-agent workflows\n \
         rekindle reads the state that a workflow left on disk, shows what is done and\n \
         what comes next, and continues from there after you agree.\n"
    ))
}

const COPYRIGHT: &str = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: rekindle

Files: *
Copyright: The rekindle maintainers
License: MIT or Apache-2.0
 The texts are in LICENSE-MIT and LICENSE-APACHE next to this file, and those
 of the libraries in THIRD-PARTY-LICENSES.txt.
";
