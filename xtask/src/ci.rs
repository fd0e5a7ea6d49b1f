//! `cargo xtask ci`: everything that must pass before a change is merged.

use xtask::run;

use crate::{Chore, test};

pub(crate) const CHORE: Chore = Chore {
    name: "ci",
    about: "test, then formatting, lints, documentation and a little fuzzing, each with its time",
    run: chore,
};

/// The checks after the tests, the same as in `.ci/run`.
const CHECKS: [(&str, &str); 6] = [
    ("fmt", "fmt --all --check"),
    (
        "clippy",
        "clippy --workspace --all-targets --all-features -- -D warnings",
    ),
    ("doc", "doc --workspace --no-deps"),
    ("docs", "xtask docs --check"),
    ("fuzz", "xtask fuzz --plain --runs 500"),
    ("workflows", "xtask workflows"),
];

fn chore(_args: &[String]) -> Result<bool, String> {
    let (tested, took) = run::timed("test", || test::all(&[]));
    let tested = tested?;
    let mut summary = vec![("test", tested.passed, took)];
    for (name, arguments) in CHECKS {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut command = run::cargo(&arguments);
        if name == "doc" {
            command.env("RUSTDOCFLAGS", "-D warnings");
        }
        let (passed, took) = run::timed(name, || run::succeeds(&mut command));
        summary.push((name, passed?, took));
    }
    println!();
    for (name, passed, took) in &summary {
        let word = if *passed { "ok" } else { "FAILED" };
        println!("{name:<11}{word:<8}{:.1} s", took.as_secs_f64());
    }
    println!("{}", tested.tally);
    Ok(summary.iter().all(|(_, passed, _)| *passed))
}
