//! Every crate can be packaged for a registry, with its licences and everything that it includes.

use std::path::Path;

use xtask::{files, run};

use crate::check;

#[test]
fn every_crate_is_packaged_with_its_licences() -> Result<(), String> {
    let target = run::target_folder()?.join("packaged");
    files::empty_folder(&target)?;
    // Nothing is built: that would take minutes, and the workflow of a release does it.
    let words = [
        "package",
        "--workspace",
        "--no-verify",
        "--offline",
        "--allow-dirty",
        "--quiet",
    ];
    let mut cargo = run::cargo(&words);
    run::output(cargo.env("CARGO_TARGET_DIR", &target))?;
    let mut violations = Vec::new();
    let packages = files::list(target.join("package"))?;
    let packages = packages
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "crate"));
    let mut n_packages = 0;
    for package in packages {
        n_packages += 1;
        violations.extend(missing(package)?);
    }
    assert!(n_packages > 20, "only {n_packages} packages were made");
    check(&violations);
    Ok(())
}

fn missing(package: &Path) -> Result<Vec<String>, String> {
    let name = package
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let path = package.to_string_lossy();
    let list = run::output_of("tar", &["-tzf", &path]).ok_or("`tar` cannot list a package")?;
    let mut wanted = vec!["/LICENSE-MIT", "/LICENSE-APACHE"];
    if name.starts_with("rekindle-model-") {
        wanted.push("/findings/BAD_TIMESTAMP.md");
    }
    let is_missing = |file: &&str| !list.lines().any(|line| line.ends_with(file));
    let missing = wanted.into_iter().filter(is_missing);
    Ok(missing
        .map(|file| format!("{name}: `{file}` is missing"))
        .collect())
}
