//! `cargo xtask soak`: `rekindle torture`, for as long as it takes; `cargo xtask soak places`: every
//! death, every failing change and every broken byte of which the tests try a part.

use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::bench::with_kills;
use crate::{Chore, run, tools};

pub(crate) const CHORE: Chore = Chore {
    name: "soak",
    about: "kill runs of the engine at random moments; number of kills as argument; writes docs/soak.md and its figures into docs/numbers.md; with `places`, die at every place instead",
    run: chore,
};

const KILLS: u32 = 2000;

fn chore(args: &[String]) -> Result<ExitCode, String> {
    tools::ready()?;
    if args.first().is_some_and(|word| word == "places") {
        return places();
    }
    let kills: u32 = match args.first() {
        Some(text) => text
            .parse()
            .map_err(|_| format!("`{text}` is no number of kills"))?,
        None => KILLS,
    };
    let mut command = Command::new(run::release_build()?);
    let begun = Instant::now();
    command.args(["torture", "--kills", &kills.to_string()]);
    // On a small repository of its own: the figures are to be the same wherever this one lies.
    command.current_dir(std::env::temp_dir());
    let mut figures = Vec::new();
    let good = run::line_by_line(&mut command, |line| {
        println!("{line}");
        figures.push(format!("    {line}\n"));
    })?;
    let text = format!(
        "# Soak\n\n\
         Made by `cargo xtask soak {kills}`, which is `rekindle torture --kills {kills}`; every figure is of that run.\n\n\
         Orchestrators, workers, agents and all of them at once are killed with `kill -9`; some are stopped for longer than a silent worker is waited for, and then go on.\n\
         Plans and disturbances come from a seed: which kind, how long after the one before, which of those whom it fits; what these are doing at that moment is up to the machine, so that the figures differ from time to time.\n\
         After each death of an orchestrator the run is resumed.\n\
         At the end every task has landed exactly once, the tree is that of an undisturbed run, every line that an agent wrote is on the branch or kept, no process and no worktree is left, and no log has a damaged line; whatever is not so is listed under \"Wrong\".\n\n\
         {}\n\
         It took {} s in all.\n",
        figures.concat(),
        begun.elapsed().as_secs()
    );
    let file = run::root().join("docs/soak.md");
    std::fs::write(&file, &text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    let numbers = run::root().join("docs/numbers.md");
    let before = std::fs::read_to_string(&numbers).unwrap_or_default();
    std::fs::write(&numbers, with_kills(&before, &text))
        .map_err(|e| format!("cannot write `{}`: {e}", numbers.display()))?;
    println!("written: docs/soak.md, and its figures in docs/numbers.md");
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs the tests that go through places and bytes, with all of them.
fn places() -> Result<ExitCode, String> {
    let deaths = run::cargo(&[
        "test",
        "--package",
        "rekindle",
        "--features",
        "crash-points",
        "--test",
        "deaths",
        "--",
        "--include-ignored",
    ]);
    let torn = run::cargo(&["test", "--package", "rekindle-protocols", "--test", "torn"]);
    let mut is_good = true;
    for mut command in [torn, deaths] {
        is_good &= run::watched(command.env("REKINDLE_SOAK", "1"))?;
    }
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
