//! `cargo xtask test`: every test of the workspace, and their number.

use std::path::PathBuf;
use std::process::Command;
use std::thread;

use xtask::packages::Python;
use xtask::{run, tools};

use crate::tally::Tally;
use crate::{Chore, dist, other_programs};

pub(crate) const CHORE: Chore = Chore {
    name: "test",
    about: "run all tests; arguments go to `cargo test`; ends with `N passed, N failed, N skipped`",
    run: |args| Ok(all(args)?.passed),
};

/// The result of all tests.
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    pub(crate) passed: bool,
}

/// Features of tests that need programs of others.
const WITH_OTHERS: &str = "rekindle/browser,rekindle/map-peer,rekindle/mcp-clients,rekindle/openspec-peer,rekindle/packages,rekindle/real-agents,rekindle/real-projects";
/// Everything but documentation, which takes half a minute to scan and has no examples to run.
const KINDS: [&str; 3] = ["--lib", "--bins", "--tests"];
/// Installs the wheel of a release.
const UV: Python = Python {
    packages: &[("uv", "0.13.8")],
};
/// The feature of a build that dies on request.
const CRASH_POINTS: &str = "rekindle/crash-points";

/// Runs all tests to the end, even if some fail, and prints the count as the last line.
pub(crate) fn all(args: &[String]) -> Result<Outcome, String> {
    tools::ready()?;
    let wanted: Vec<&str> = match args {
        [] => KINDS.to_vec(),
        _ => args.iter().map(String::as_str).collect(),
    };
    // Programs of others are downloaded while ours are built.
    let (others, built) = thread::scope(|scope| {
        let others = scope.spawn(other_programs::install);
        let mut command = tests(WITH_OTHERS);
        let built = run::succeeds(command.arg("--no-run").args(&wanted));
        (others.join(), built)
    });
    let others = others.map_err(|_| "the thread that installs programs panicked")??;
    let packages = if built.clone()? {
        packages()?
    } else {
        Vec::new()
    };
    let mut everything = tests(WITH_OTHERS);
    everything.args(wanted).envs(others).envs(packages);
    // The build with crash points replaces the plain one, so it comes last.
    let mut deaths = tests(CRASH_POINTS);
    deaths.args(["--test", "deaths", "--test", "mcp"]);
    deaths.args(["--", "--skip", "cases::"]);
    let mut deaths_of_effects = tests(CRASH_POINTS);
    deaths_of_effects.args(["--test", "effects", "--", "death"]);
    let mut passed = built?;
    let mut tally = Tally::default();
    if passed {
        for mut command in [everything, deaths, deaths_of_effects] {
            passed &= run::line_by_line(&mut command, |line| {
                println!("{line}");
                tally.take(line);
            })?;
        }
    }
    if !passed && tally.failed == 0 {
        // It did not compile, or a test binary died before it could report.
        eprintln!(
            "error: `cargo test` failed before every test had reported; counted as one failure"
        );
        tally.failed = 1;
    }
    if let Some(line) = tally.pending_line() {
        println!("{line}");
    }
    println!("{tally}");
    Ok(Outcome { tally, passed })
}

/// Makes the packages of a release; returns the variables that say where they are.
fn packages() -> Result<Vec<(&'static str, PathBuf)>, String> {
    let (folder, _) = run::timed("packages", dist::for_tests);
    Ok(vec![
        ("REKINDLE_TEST_DIST", folder?),
        ("REKINDLE_TEST_UV", UV.program("uv")?),
    ])
}

/// Returns the command for the workspace's tests with these features.
///
/// It is always the whole workspace: for a part of it, dependencies would be rebuilt with fewer features.
fn tests(features: &str) -> Command {
    let mut command = run::cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.args(["--features", features]);
    command
}
