//! A resume that does the work with a scripted agent: its branch, its commits and its files.

use camino::Utf8Path;

use super::super::case::Run;
use super::super::error::{Error, mismatch};
use super::super::scene::Scene;
use super::super::snapshot::files_below;
use super::{ending, files, head};

/// The branch on which the work lands.
const BRANCH: &str = "result";
/// Prints the task of each commit of the branch.
const TASKS: &str = "--format=%(trailers:key=Rekindle-Task,valueonly,separator=%x2C)";

pub(super) fn check(scene: &Scene, binary: &Utf8Path, want: &Run) -> Result<(), Error> {
    let case = scene.case();
    let script = scene.root().join("agent.sh");
    fs_err::write(&script, format!("#!/bin/sh\n{}", want.agent))?;
    make_executable(&script)?;
    let before = checkout(scene)?;
    let usual = || {
        vec![
            "resume".to_owned(),
            "--protocol".to_owned(),
            case.protocol.clone(),
        ]
    };
    let mut args = want.command.clone().unwrap_or_else(usual);
    args.extend_from_slice(&case.args);
    let more = ["--yes", "--agent-cmd", script.as_str(), "--branch", BRANCH];
    args.extend(more.map(str::to_owned));
    args.extend_from_slice(&want.args);
    let done = scene.call(binary.as_str(), &args, "")?;
    if done.status.code() != Some(want.exit) {
        let said = [done.stdout, done.stderr].concat();
        return mismatch(format!(
            "run: exit {}, wanted {}: {:?}",
            ending(done.status),
            want.exit,
            head(&said, 500)
        ));
    }
    if want.checkout_untouched && checkout(scene)? != before {
        return mismatch("run: the checkout was changed");
    }
    if let Some(wanted) = &want.landed {
        let printed = scene.git(scene.project(), &["log", TASKS, &format!("main..{BRANCH}")])?;
        let sorted = |mut names: Vec<String>| {
            names.sort_unstable();
            names
        };
        let found = sorted(printed.split_whitespace().map(str::to_owned).collect());
        let wanted = sorted(wanted.clone());
        if found != wanted {
            return mismatch(format!("run: landed {found:?}, wanted {wanted:?}"));
        }
    }
    for (path, rule) in &want.files {
        let Ok(text) = scene.git(scene.project(), &["show", &format!("{BRANCH}:{path}")]) else {
            return mismatch(format!("run: {path} is not on the branch"));
        };
        if let Some(fault) = files::fault(rule, text.as_bytes(), &|text| scene.expand(text))? {
            return mismatch(format!("run: {path} {fault}"));
        }
    }
    Ok(())
}

/// Returns every file of the checkout that is not a record of the run, with its bytes.
fn checkout(scene: &Scene) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut found = Vec::new();
    let skipped = [".git", ".rekindle", ".agent-memory"];
    files_below(scene.project(), &skipped, &mut |path, _| {
        found.push((path.to_string(), fs_err::read(path)?));
        Ok(())
    })?;
    found.sort_unstable();
    Ok(found)
}

fn make_executable(path: &Utf8Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(0o755);
    Ok(fs_err::set_permissions(path, permissions)?)
}
