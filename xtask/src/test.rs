//! `cargo xtask test`: every test of the workspace, and their number.

use std::process::ExitCode;

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

/// Runs all tests to their end, whatever fails between, and prints the count as the last line.
pub(crate) fn all(args: &[String]) -> Result<Outcome, String> {
    tools::ready()?;
    let mut tally = Tally::default();
    let mut everything = run::cargo(&["test", "--workspace", "--no-fail-fast"]);
    everything.args(args);
    // The crash tests need a build that dies where it is told to. It takes the place of the plain one, so it comes last.
    let deaths = run::cargo(&[
        "test",
        "--no-fail-fast",
        "--package",
        "rekindle",
        "--features",
        "crash-points",
        "--test",
        "deaths",
        "--test",
        "mcp",
        "--",
        "--skip",
        "cases::",
    ]);
    let deaths_of_effects = run::cargo(&[
        "test",
        "--no-fail-fast",
        "--package",
        "rekindle-runner",
        "--features",
        "crash-points",
        "--test",
        "effects",
        "--",
        "death",
    ]);
    let mut walks = run::cargo(&[
        "test",
        "--no-fail-fast",
        "--package",
        "rekindle",
        "--features",
        "map-peer",
        "--test",
        "map_peer",
    ]);
    let mut good = true;
    match map_peer::python() {
        Ok(python) => {
            walks.env(map_peer::VARIABLE, python);
        }
        // The walks then say so themselves, and count as failed.
        Err(problem) => eprintln!("error: {problem}"),
    }
    agents::ready()?;
    let real_agents = run::cargo(&[
        "test",
        "--no-fail-fast",
        "--package",
        "rekindle",
        "--features",
        "real-agents",
        "--test",
        "real_agents",
    ]);
    let commands = [
        everything,
        clients::tests()?,
        walks,
        real_agents,
        deaths,
        deaths_of_effects,
    ];
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
