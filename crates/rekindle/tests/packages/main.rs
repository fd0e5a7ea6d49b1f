//! The packages of a release: each is installed in a clean place without Rust, and tried.
//!
//! Needs the feature `packages` and the packages themselves; `cargo xtask test` has both.

mod place;

use anyhow::{Result, ensure};

use crate::place::Place;

#[test]
fn the_archive_runs_from_where_it_is_unpacked() -> Result<()> {
    let place = Place::new()?;
    let archive = place.package(".tar.gz")?;
    place.run(&format!(
        "tar -xzf {archive} --strip-components=1 -C {}",
        place.prefix()
    ))?;
    place.demo()?;
    place.is_complete("a file that no package manager knows", "share/man")?;
    place.has_completions_at([
        "share/bash-completion/completions/rekindle",
        "share/zsh/site-functions/_rekindle",
        "share/fish/vendor_completions.d/rekindle.fish",
    ])
}

#[test]
fn npm_installs_a_command_without_running_or_fetching_anything() -> Result<()> {
    let place = Place::new()?;
    let package = place.package(".tgz")?;
    let options = "--offline --ignore-scripts --no-audit --no-fund";
    place.run(&format!(
        "npm install --global --prefix {} {options} {package}",
        place.prefix()
    ))?;
    place.demo()?;
    place.is_complete("installed with npm", "share/man")?;
    let ran = place.run(&format!(
        "npm exec --offline --yes --package={package} -- rekindle doctor"
    ))?;
    ensure!(ran.contains("started with npx"), "{ran}");
    Ok(())
}

#[test]
fn the_wheel_is_a_tool_of_uv() -> Result<()> {
    let place = Place::new()?;
    let wheel = place.package(".whl")?;
    let uv = place::variable("REKINDLE_TEST_UV")?;
    place.run(&format!(
        "UV_TOOL_BIN_DIR={}/bin {uv} tool install --quiet --offline --no-index --no-config {wheel}",
        place.prefix()
    ))?;
    place.demo()?;
    place.is_complete(
        "installed with uv",
        "../home/.local/share/uv/tools/rekindle/share/man",
    )?;
    // Without `--isolated`, the installed tool would be run.
    let once = "tool run --isolated --quiet --offline --no-index --no-config";
    let ran = place.run(&format!("{uv} {once} --from {wheel} rekindle doctor"))?;
    ensure!(ran.contains("started with uvx"), "{ran}");
    Ok(())
}

#[test]
fn the_debian_package_is_installed_over_a_copy_of_this_system() -> Result<()> {
    let place = Place::new()?;
    let package = place.package(".deb")?;
    let said = place.in_copy_of_system(&format!(
        "dpkg --path-include='/usr/share/*' --install {package}
         rekindle demo
         rekindle doctor
         rekindle --version
         MANPAGER=cat man rekindle-run
         for shell in bash zsh fish; do rekindle completions $shell > /tmp/rekindle.$shell; done
         cmp /tmp/rekindle.bash /usr/share/bash-completion/completions/rekindle
         cmp /tmp/rekindle.zsh /usr/share/zsh/vendor-completions/_rekindle
         cmp /tmp/rekindle.fish /usr/share/fish/vendor_completions.d/rekindle.fish
         dpkg --remove rekindle
         test ! -e /usr/bin/rekindle"
    ))?;
    for wanted in [
        "Every task landed exactly once",
        "installed as a Debian package",
        "rekindle-run",
    ] {
        ensure!(said.contains(wanted), "`{wanted}` is missing: {said}");
    }
    Ok(())
}

#[test]
fn the_packages_have_the_hashes_of_the_list_and_the_same_program() -> Result<()> {
    let place = Place::new()?;
    let dist = place.dist();
    place.run(&format!(
        "cd {dist} && sha256sum --check --strict --quiet SHA256SUMS"
    ))?;
    let [archive, npm, wheel, deb] =
        [".tar.gz", ".tgz", ".whl", ".deb"].map(|end| place.package(end));
    let hashes = place.run(&format!(
        "tar -xzOf {} --wildcards '*/bin/rekindle' | sha256sum
         tar -xzOf {} package/bin/rekindle | sha256sum
         python3 -m zipfile -e {} wheel && cat wheel/rekindle-*.data/scripts/rekindle | sha256sum
         dpkg-deb --fsys-tarfile {} | tar -xO ./usr/bin/rekindle | sha256sum",
        archive?, npm?, wheel?, deb?
    ))?;
    let mut lines = hashes.lines();
    let first = lines.next();
    ensure!(
        hashes.lines().count() == 4 && lines.all(|line| Some(line) == first),
        "{hashes}"
    );
    Ok(())
}
