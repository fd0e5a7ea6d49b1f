//! The Python wheel, made by maturin: it has no Python in it, only the program as a script.

use std::path::Path;

use xtask::packages::Python;
use xtask::{files, run};

use super::Release;
use super::build::Build;
use super::contents::{PAGES, copy};

const MATURIN: Python = Python {
    packages: &[("maturin", "1.16.0")],
};

/// Has maturin build the program once more, for which there is nothing left to do, and pack it.
pub(super) fn pack(release: &Release, contents: &Path, build: &Build) -> Result<(), String> {
    let folder = release.scratch("wheel")?;
    files::write(folder.join("pyproject.toml"), project(&build.manifest()))?;
    copy(&contents.join("README.md"), &folder.join("README.md"))?;
    for page in files::list(contents.join(PAGES))? {
        let name = page.file_name().unwrap_or_default();
        copy(
            &page,
            &folder.join("rekindle.data/data").join(PAGES).join(name),
        )?;
    }
    let mut maturin = release.command(MATURIN.program("maturin")?, &folder);
    build.set_variables(&mut maturin)?;
    maturin.args(["build", "--release", "--locked", "--quiet", "--out"]);
    run::check(maturin.arg(&release.folder))
}

fn project(manifest: &Path) -> String {
    format!(
        r#"[build-system]
requires = ["maturin>=1.16,<2"]
build-backend = "maturin"

[project]
name = "rekindle"
description = "Resumes interrupted coding-agent workflows exactly where they stopped"
license = "MIT OR Apache-2.0"
readme = "README.md"
requires-python = ">=3.8"
dynamic = ["version"]

[tool.maturin]
bindings = "bin"
manifest-path = "{}"
data = "rekindle.data"
"#,
        manifest.display()
    )
}
