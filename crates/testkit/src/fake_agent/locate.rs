//! Where the tests of other crates find the binary.

use std::io;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use super::Error;

/// Returns the path of `fake-agent`, built if it is not there or older than the test that asks.
///
/// `cargo test` builds a binary for the tests of its own crate alone, so the others build it when
/// they need it; in a run of the whole workspace it is there already.
pub fn program() -> Result<Utf8PathBuf, Error> {
    let test = std::env::current_exe()?;
    let test = Utf8PathBuf::from_path_buf(test)
        .map_err(|path| io::Error::other(format!("{} is not UTF-8", path.display())))?;
    // `target/debug/deps/name-hash`
    let no_place = || Error::Build(format!("`{test}` is not in a target folder"));
    let profile = test.ancestors().nth(2).ok_or_else(no_place)?;
    let binary = profile.join("fake-agent");
    if !is_fresh(&binary, &test) {
        let target = profile.parent().ok_or_else(no_place)?;
        build(target, profile.file_name().unwrap_or("debug"))?;
    }
    Ok(binary)
}

fn is_fresh(binary: &Utf8Path, test: &Utf8Path) -> bool {
    let changed = |path: &Utf8Path| fs_err::metadata(path).and_then(|found| found.modified());
    match (changed(binary), changed(test)) {
        (Ok(binary), Ok(test)) => binary >= test,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[expect(clippy::disallowed_methods, reason = "a test asks cargo for a binary")]
fn build(target: &Utf8Path, profile: &str) -> Result<(), Error> {
    let profile = match profile {
        "debug" => "dev",
        other => other,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--offline",
            "--package",
            "rekindle-testkit",
        ])
        .args([
            "--bin",
            "fake-agent",
            "--profile",
            profile,
            "--target-dir",
            target.as_str(),
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(Error::Build(said))
}
