//! The project's own chores: `cargo xtask <chore>`.
//!
//! A chore is a file with a constant [`Chore`] and a row in [`CHORES`]. xtask depends on nothing but
//! `std`, so that it builds in a second; `bench` and `docs` start programs that need more.

use std::process::ExitCode;

use xtask::run;

mod ci;
mod dist;
mod fuzz;
mod other_programs;
mod soak;
mod tally;
mod test;
mod workflows;

/// Every chore, in the order of the help text.
const CHORES: &[Chore] = &[
    test::CHORE,
    ci::CHORE,
    Chore {
        name: "bench",
        about: "measure the release binary; all benches write docs/numbers.md, named ones only print; --full adds 1,000 worktrees and 10,000 tasks",
        run: |args| forward(&["--release", "--package", "rekindle-benches"], args),
    },
    fuzz::CHORE,
    soak::CHORE,
    dist::CHORE,
    workflows::CHORE,
    Chore {
        name: "docs",
        about: "write docs/reference, docs/decisions, docs/demo.svg and docs/run.svg; `--check` lists outdated files",
        run: |args| forward(&["--package", "xtask", "--example", "docs"], args),
    },
];

/// A task of the project's developers.
struct Chore {
    name: &'static str,
    /// One line for the help text.
    about: &'static str,
    /// Gets the arguments after the name; returns whether everything succeeded.
    run: fn(&[String]) -> Result<bool, String>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        println!("{}", help());
        return ExitCode::from(2);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        println!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        eprintln!("error: unknown chore `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    run::exit_code((chore.run)(rest))
}

/// Runs another program of the workspace with the same arguments.
fn forward(program: &[&str], args: &[String]) -> Result<bool, String> {
    let mut command = run::cargo(&["run", "--quiet"]);
    run::succeeds(command.args(program).arg("--").args(args))
}

fn help() -> String {
    let lines = CHORES
        .iter()
        .map(|chore| format!("\n  {:<11}{}", chore.name, chore.about));
    format!(
        "usage: cargo xtask <chore> [arguments]\n{}",
        lines.collect::<String>()
    )
}
