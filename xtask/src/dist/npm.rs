//! The npm package: the program itself is the command, so nothing is fetched or run at installation.

use std::path::Path;

use xtask::{files, run};

use super::contents::{PAGES, copy, set_mode};
use super::{Release, licenses};

pub(super) fn pack(release: &Release, contents: &Path) -> Result<(), String> {
    let folder = release.scratch("npm")?;
    for name in [
        "bin/rekindle",
        "README.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        licenses::FILE,
    ] {
        copy(&contents.join(name), &folder.join(name))?;
    }
    let mut pages = Vec::new();
    for page in files::list(contents.join(PAGES))? {
        let name = page.file_name().unwrap_or_default().to_string_lossy();
        copy(&page, &folder.join("man").join(&*name))?;
        pages.push(format!("\"./man/{name}\""));
    }
    set_mode(&folder.join("bin/rekindle"), 0o755)?;
    files::write(
        folder.join("package.json"),
        manifest(release, &pages.join(", ")),
    )?;
    let mut npm = release.command("npm", &folder);
    npm.args(["pack", "--ignore-scripts", "--pack-destination"]);
    run::output(npm.arg(&release.folder)).map(drop)
}

fn manifest(release: &Release, pages: &str) -> String {
    let Release { version, .. } = release;
    format!(
        r#"{{
  "name": "rekindle",
  "version": "{version}",
  "description": "Resumes interrupted coding-agent workflows exactly where they stopped",
  "license": "MIT OR Apache-2.0",
  "keywords": ["resume", "workflow", "recovery", "coding-agent"],
  "os": ["linux"],
  "cpu": ["x64"],
  "bin": {{ "rekindle": "bin/rekindle" }},
  "man": [{pages}],
  "files": ["bin", "man", "LICENSE-APACHE", "LICENSE-MIT", "{}"]
}}
"#,
        licenses::FILE
    )
}
