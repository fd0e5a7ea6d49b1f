//! `rekindle torture` as a user calls it.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files they look at"
)]

use std::fs;
use std::process::{Command, Output};

use rekindle_testkit::repository::{Project, text};
use serde_json::Value;

/// What CI does; `cargo xtask soak` asks for thousands.
const KILLS: u64 = 36;

fn score(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}\n{}", text(&output.stdout), text(&output.stderr)))
}

#[test]
fn killed_at_random_moments_runs_end_as_if_nobody_had() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let before = project.git(&["for-each-ref"]);
    let output = project.rekindle(&["torture", "--json", "--kills", &KILLS.to_string()]);
    let score = score(&output);
    assert_eq!(score["wrong"], serde_json::json!([]), "{score}");
    assert_eq!(output.status.code(), Some(0));
    let killed = score["killed"].as_object().unwrap().values();
    let killed: u64 = killed.map(|count| count.as_u64().unwrap()).sum();
    assert!(killed >= KILLS, "{score}");
    // What was tortured is a copy.
    assert_eq!(project.git(&["for-each-ref"]), before);
    assert!(!project.path().join(".agent-memory").exists());
}

/// A program that answers like rekindle and forgets the work of what was killed must be found out.
#[test]
fn a_program_that_loses_work_gets_no_good_score() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let forgetful = project.path().join("rekindle-forgetful");
    let script = format!(
        "#!/bin/sh\n\"{}\" \"$@\"; code=$?\ngit for-each-ref --format='delete %(refname)' refs/rekindle | git update-ref --stdin\nexit $code\n",
        env!("CARGO_BIN_EXE_rekindle")
    );
    fs::write(&forgetful, script).unwrap();
    Command::new("chmod")
        .arg("+x")
        .arg(&forgetful)
        .status()
        .unwrap();
    let options = rekindle_torture::Options {
        program: forgetful.try_into().unwrap(),
        repository: None,
        kills: 200,
        seed: 5,
        jobs: 4,
    };
    let score = rekindle_torture::torture(&options, &mut |_| {}).unwrap();
    assert!(score.bytes_lost > 0, "{score:?}");
    let kept = score.wrong.last().unwrap();
    let folder = kept.split('`').nth(1).unwrap();
    fs::remove_dir_all(std::path::Path::new(folder).parent().unwrap()).unwrap();
}

#[test]
fn a_program_that_can_not_even_run_a_plan_is_named() {
    let options = rekindle_torture::Options {
        program: "/bin/false".into(),
        repository: None,
        kills: 1,
        seed: 1,
        jobs: 1,
    };
    let error = rekindle_torture::torture(&options, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "the undisturbed run ended badly: ");
}
