//! The project's own chores: `cargo xtask <chore>`.
//!
//! A chore is one file with one constant [`Chore`]; adding one is a file and a line in [`CHORES`].
//! Plain `std`, but for the JSON schemas and the decision tables in `docs`, so that it builds in a moment.

use std::process::ExitCode;

mod agents;
mod bench;
mod ci;
mod clients;
mod docs;
mod fuzz;
mod map_peer;
mod origin;
mod packages;
mod run;
mod soak;
mod tally;
mod test;
mod tools;

/// Every chore, in the order of the help text.
const CHORES: &[Chore] = &[
    test::CHORE,
    ci::CHORE,
    bench::CHORE,
    fuzz::CHORE,
    soak::CHORE,
    docs::CHORE,
];

/// Something one can ask for by name.
struct Chore {
    name: &'static str,
    /// What it does, in a line.
    about: &'static str,
    /// Does it; gets the arguments after the name.
    run: fn(&[String]) -> Result<ExitCode, String>,
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
        eprintln!("error: there is no chore `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    match (chore.run)(rest) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let lines: Vec<String> = CHORES
        .iter()
        .map(|chore| format!("  {:<8}{}", chore.name, chore.about))
        .collect();
    format!(
        "usage: cargo xtask <chore> [arguments]\n\n{}",
        lines.join("\n")
    )
}
