//! `cargo xtask ci`: everything that must hold before a change is taken.

use std::process::{Command, ExitCode};

use crate::{Chore, run, test};

pub(crate) const CHORE: Chore = Chore {
    name: "ci",
    about: "test, then formatting, lints, documentation and a little fuzzing, each with its time",
    run: chore,
};

fn chore(_args: &[String]) -> Result<ExitCode, String> {
    let (tested, took) = run::timed("test", || test::all(&[]));
    let tested = tested?;
    let mut good = tested.good;
    let mut summary = vec![("test", tested.good, took)];
    for (name, mut command) in checks() {
        let (passed, took) = run::timed(name, || run::watched(&mut command));
        let passed = passed?;
        good &= passed;
        summary.push((name, passed, took));
    }
    println!();
    for (name, passed, took) in summary {
        let word = if passed { "ok" } else { "FAILED" };
        println!("{name:<8}{word:<8}{:.1} s", took.as_secs_f64());
    }
    println!("{}", tested.tally);
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The checks after the tests; `.ci/run` has the same.
fn checks() -> Vec<(&'static str, Command)> {
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ];
    let mut documents = run::cargo(&["doc", "--workspace", "--no-deps"]);
    documents.env("RUSTDOCFLAGS", "-D warnings");
    vec![
        ("fmt", run::cargo(&["fmt", "--all", "--check"])),
        ("clippy", run::cargo(&lints)),
        ("doc", documents),
        ("docs", run::cargo(&["xtask", "docs", "--check"])),
        (
            "fuzz",
            run::cargo(&["xtask", "fuzz", "--plain", "--runs", "500"]),
        ),
    ]
}
