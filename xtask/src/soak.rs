//! `cargo xtask soak`: the crash test of the engine, for as long as it takes.

use std::process::ExitCode;
use std::time::Instant;

use crate::{Chore, run, tools};

pub(crate) const CHORE: Chore = Chore {
    name: "soak",
    about: "kill runs of the engine at random moments; rounds as argument; writes docs/soak.md",
    run: chore,
};

/// Twelve kills a round make more than five hundred.
const ROUNDS: u32 = 50;
const TASKS: u32 = 40;

fn chore(args: &[String]) -> Result<ExitCode, String> {
    tools::ready()?;
    let rounds = match args.first() {
        Some(text) => text
            .parse()
            .map_err(|_| format!("`{text}` is no number of rounds"))?,
        None => ROUNDS,
    };
    let begun = Instant::now();
    let mut command = run::cargo(&[
        "test",
        "--package",
        "rekindle",
        "--test",
        "engine",
        "killed_at_random_moments",
        "--",
        "--nocapture",
    ]);
    command.env("REKINDLE_TORTURE_ROUNDS", rounds.to_string());
    command.env("REKINDLE_TORTURE_TASKS", TASKS.to_string());
    let mut figures = None;
    let good = run::line_by_line(&mut command, |line| {
        println!("{line}");
        if let Some((_, told)) = line.split_once("torture: ") {
            figures = Some(told.to_owned());
        }
    })?;
    if !good {
        return Ok(ExitCode::FAILURE);
    }
    let figures = figures.ok_or("the test told no figures")?;
    let text = format!(
        "# Soak\n\n\
         Made by `cargo xtask soak {rounds}`; every figure is of that run.\n\n\
         Orchestrators, workers and agents of runs on four workers are killed with `kill -9` at moments that come from a seed.\n\
         After each death of an orchestrator the run is resumed.\n\
         At the end every task has landed exactly once, the tree is that of an undisturbed run, no process and no worktree is left, and no log has a damaged line; otherwise the test fails with its seed.\n\n\
         - {figures}\n\
         - {} s in all\n",
        begun.elapsed().as_secs()
    );
    let file = run::root().join("docs/soak.md");
    std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    println!("written: docs/soak.md");
    Ok(ExitCode::SUCCESS)
}
