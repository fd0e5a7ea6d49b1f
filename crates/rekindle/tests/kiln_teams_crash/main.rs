//! kiln-teams dies at every named point, at every passing of it, and once more in the recovery.
//!
//! Each scene is laid out once and put back for every death. What is left in the end must be what
//! a run that was not disturbed leaves: the same history, no task twice, none lost, and every file
//! of the user's as it was. Needs the feature `crash-points`:
//! `cargo test -p rekindle --features crash-points --test kiln_teams_crash`.

mod story;

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use rekindle_app::{CRASH_POINTS, EFFECT_CRASH_POINTS, ENGINE_CRASH_POINTS};
use rekindle_testkit::waves::{dead, generated, idle, landed, ready, scene, with};
use serde_json::{Value, json};

use crate::story::{Agent, Story};

/// More often than any point is passed in a story.
const MOST_PASSINGS: u32 = 200;
/// Where a recovery dies, after each thing that it can be at; every other one is left alone.
const AGAIN: [Option<&str>; 8] = [
    Some("after-repeat"),
    None,
    Some("after-lock"),
    None,
    Some("after-intent"),
    None,
    Some("after-effect"),
    None,
];
/// The generated scenes that are gone through every time.
const USUAL: [u64; 2] = [0, 3];

fn main() -> ExitCode {
    let mut trials = vec![
        trial("every_kind_of_change", every_kind_of_change(), Agent::None),
        trial("a_halt_after_a_landing", halt(), Agent::None),
        trial("a_retry_and_the_next_wave", retry(), Agent::Writes),
        trial("an_agent_that_fails", scene(&[dead(1, 1)]), Agent::Fails),
    ];
    for seed in 0..20 {
        let (name, agent) = match seed % 2 {
            0 => (format!("chance_{seed}"), Agent::None),
            _ => (format!("chance_{seed}_with_an_agent"), Agent::Writes),
        };
        // Two of them always; all with `-- --ignored`, which takes a quarter of an hour.
        trials.push(trial(&name, generated(seed), agent).with_ignored_flag(!USUAL.contains(&seed)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: &str, scene: Value, agent: Agent) -> Trial {
    Trial::test(name, move || {
        dies_everywhere(&scene, agent).map_err(|wrong| Failed::from(format!("{wrong:#}")))
    })
}

fn every_kind_of_change() -> Value {
    let change = json!({
        "write": {"src/index.js": "2\n", "lib/a/b.js": "b\n"},
        "delete": ["src/legacy.js"],
        "rename": [["src/log.js", "src/util/log.js"]],
    });
    scene(&[
        landed(1, 1, json!({"src/first.js": "1\n"})),
        with(ready(1, 2, json!({})), json!({"change": change})),
        with(
            ready(1, 3, json!({"README.md": "3\n", "c.js": "c\n"})),
            json!({"integrated": "partial"}),
        ),
        dead(1, 4),
    ])
}

fn halt() -> Value {
    let row = [
        "P1-T12",
        "1",
        "2",
        "2026-02-16T13:00:00Z",
        "failed",
        "retry",
    ];
    let tasks = [ready(1, 1, json!({"src/a.js": "a\n"})), dead(1, 2)];
    with(scene(&tasks), json!({"state": {"ledger": [row]}}))
}

fn retry() -> Value {
    scene(&[dead(1, 1), idle(2, 1)])
}

/// Lets a story die at each point, each time one passing later, until it passes no more.
fn dies_everywhere(scene: &Value, agent: Agent) -> Result<()> {
    let story = Story::new(scene, agent)?;
    let calm = story.undisturbed()?;
    let points = [CRASH_POINTS, EFFECT_CRASH_POINTS, ENGINE_CRASH_POINTS].concat();
    let mut n_deaths = 0;
    for point in points {
        for nth in 1.. {
            ensure!(nth < MOST_PASSINGS, "{point} is passed for ever");
            let place = format!("{point}:{nth}");
            n_deaths += 1;
            let again = AGAIN[n_deaths % AGAIN.len()];
            let died = story
                .dies_at(&place, again, &calm)
                .with_context(|| format!("after a death at {place}, then {again:?}"))?;
            if !died {
                break;
            }
        }
    }
    Ok(())
}
