//! `cargo xtask test`: every test of the workspace, and their number.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;

use crate::tally::Tally;
use crate::{Chore, agents, clients, map_peer, run, tools};

pub(crate) const CHORE: Chore = Chore {
    name: "test",
    about: "run all tests; arguments go to `cargo test`; ends with `N passed, N failed, N skipped`",
    run: chore,
};

/// What the tests came to.
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    pub(crate) good: bool,
}

fn chore(args: &[String]) -> Result<ExitCode, String> {
    let outcome = all(args)?;
    Ok(if outcome.good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Tests that need programs of others, all of which are installed here.
const WITH_OTHERS: &str = "rekindle/map-peer,rekindle/mcp-clients,rekindle/real-agents";
/// What is run if nothing else is said: all but documentation, which is looked through for half a minute
/// and has no example to be run.
const KINDS: [&str; 3] = ["--lib", "--bins", "--tests"];
/// A build that dies where it is told to.
const MORTAL: &str = "rekindle/crash-points";

/// Runs all tests to their end, whatever fails between, and prints the count as the last line.
pub(crate) fn all(args: &[String]) -> Result<Outcome, String> {
    tools::ready()?;
    let mut tally = Tally::default();
    let wanted: Vec<&str> = match args {
        [] => KINDS.to_vec(),
        _ => args.iter().map(String::as_str).collect(),
    };
    // The programs of others are fetched while ours are built.
    let (others, built) = thread::scope(|scope| {
        let others = scope.spawn(others);
        let mut command = tests(WITH_OTHERS);
        let built = run::watched(command.arg("--no-run").args(&wanted));
        (others.join(), built)
    });
    let others = others.map_err(|_| "the thread that installs programs died")??;
    let mut everything = tests(WITH_OTHERS);
    everything.args(wanted).envs(others);
    // The mortal build takes the place of the plain one, so it comes last.
    let mut deaths = tests(MORTAL);
    deaths.args([
        "--test", "deaths", "--test", "mcp", "--", "--skip", "cases::",
    ]);
    let mut deaths_of_effects = tests(MORTAL);
    deaths_of_effects.args(["--test", "effects", "--", "death"]);
    let mut good = built?;
    let commands = if good {
        vec![everything, deaths, deaths_of_effects]
    } else {
        Vec::new()
    };
    for mut command in commands {
        good &= run::line_by_line(&mut command, |line| {
            println!("{line}");
            tally.take(line);
        })?;
    }
    if !good && tally.failed == 0 {
        // It did not compile, or a test binary died before it could report.
        eprintln!("error: `cargo test` failed before every test had reported; it counts as one");
        tally.failed = 1;
    }
    if let Some(line) = tally.pending_line() {
        println!("{line}");
    }
    println!("{tally}");
    Ok(Outcome { tally, good })
}

/// Returns the command of the workspace's tests with features.
///
/// Always of the whole workspace: of a part of it, libraries of others are built again with less in them.
fn tests(features: &str) -> Command {
    run::cargo(&[
        "test",
        "--workspace",
        "--no-fail-fast",
        "--features",
        features,
    ])
}

/// Installs the programs of others that tests run, and returns the variables that tell where they are.
fn others() -> Result<Vec<(&'static str, PathBuf)>, String> {
    let mut variables = clients::ready()?.to_vec();
    match map_peer::python() {
        Ok(python) => variables.push((map_peer::VARIABLE, python)),
        // The walks then say so themselves, and count as failed.
        Err(problem) => eprintln!("error: {problem}"),
    }
    agents::ready()?;
    Ok(variables)
}
