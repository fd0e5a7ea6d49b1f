//! Every file of a phase cut at every byte, and with every byte flipped.
//!
//! The files of the other protocols are damaged in `tests/torn.rs`; kiln-teams depends on git as well,
//! which answers here as in the scenes.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use camino::Utf8Path;
use rekindle_model::{Action, Assessment, Then};
use serde_json::Value;

use super::scene_tests::{Bench, Life, Story};

/// One bit makes another letter, the highest one a byte that is not text.
const MASKS: [u8; 2] = [0x01, 0x80];
/// Whether all damages are tried, which is set at build time.
const IS_SOAK: bool = option_env!("REKINDLE_SOAK").is_some();
/// How many bytes of a phase are damaged otherwise.
const USUAL: usize = 100;

/// A wave with a landed task, one that can land and one that ran so many minutes ago, and a task
/// of the next wave.
fn story(silence: i64) -> Story {
    let ready = Life {
        wave: 1,
        status: "completed",
        stage: Some("verified"),
        silence: Some(3),
        is_ours: false,
        tree: Some(false),
        files: BTreeSet::from(["a.txt"]),
        told: Some(true),
        passed: Some(true),
        has_landed: false,
        ledger: None,
    };
    Story {
        tasks: vec![
            Life {
                has_landed: true,
                ..ready.clone()
            },
            Life {
                files: BTreeSet::from(["b.txt"]),
                ..ready.clone()
            },
            Life {
                status: "in_progress",
                stage: Some("implementing"),
                silence: Some(silence),
                files: BTreeSet::from(["c.txt"]),
                told: None,
                passed: None,
                ledger: Some((1, 30, "retry")),
                ..ready.clone()
            },
            Life {
                wave: 2,
                status: "pending",
                stage: None,
                silence: None,
                tree: None,
                files: BTreeSet::new(),
                told: None,
                passed: None,
                ..ready
            },
        ],
        gates: [Some(false), Some(false)],
        dirt: std::collections::BTreeMap::new(),
        is_paused: false,
        is_failed: false,
        max_retries: Some(2),
        timeout: Some(10),
    }
}

/// The landing of finished work, which waits for no unknown worker.
const READY: &str = "/t/kiln-x/phase-1-exec-wave-1-task-2";
const LAUNCH: &str = "workers are launched";

#[test]
fn a_damaged_phase_causes_no_action_that_the_whole_one_does_not() {
    let whole = survives(&story(30));
    assert_eq!(whole, [READY, LAUNCH].map(str::to_owned).into());
}

#[test]
fn a_damaged_file_takes_no_work_from_a_live_worker() {
    assert_eq!(survives(&story(3)), BTreeSet::new());
}

/// Tries damages of all files, all of them in a soak; returns what is done for the whole.
fn survives(story: &Story) -> BTreeSet<String> {
    let bench = Bench::new(story);
    let (whole, _) = bench.reading();
    let usual = deeds(bench.clone());
    let allowed: BTreeSet<String> = usual.iter().cloned().chain([READY.to_owned()]).collect();
    let n_bytes: usize = bench.files().values().map(Vec::len).sum();
    let stride = if IS_SOAK { 1 } else { n_bytes.div_ceil(USUAL) };
    let mut n_noticed = 0;
    for (path, bytes) in bench.files() {
        if path.file_name() == Some(".git") {
            continue;
        }
        let places = || (0..bytes.len()).step_by(stride);
        let cuts = places().map(|at| (bytes[..at].to_vec(), format!("cut at {at}"), true));
        let flips = MASKS.into_iter().flat_map(|mask| {
            places().map(move |at| {
                let mut flipped = bytes.clone();
                flipped[at] ^= mask;
                // Another letter may be another valid content.
                (flipped, format!("flipped at {at}"), mask == 0x80)
            })
        });
        for (broken, what, is_damage) in cuts.chain(flips) {
            let about = format!("{path}, {what}");
            let bench = bench.with(path, &broken);
            let told = catch_unwind(AssertUnwindSafe(|| (bench.reading().0, deeds(bench))));
            let (assessment, deeds) = told.unwrap_or_else(|_| panic!("{about}: it panicked"));
            assert!(
                !is_damage || deeds.is_subset(&allowed),
                "{about}: more is done than for the whole: {deeds:?}"
            );
            if assessment != whole {
                n_noticed += 1;
                is_named(path, &broken, &assessment, &about);
            }
        }
    }
    assert!(n_noticed > 0, "no damage was ever noticed");
    usual
}

/// Continues until a person or an agent is needed; fails if a file is replaced that was not read;
/// returns the worktrees that land, the workers that are stopped, and whether new ones are launched.
fn deeds(mut bench: Bench) -> BTreeSet<String> {
    let mut deeds = BTreeSet::new();
    while let (_, Some(plan)) = bench.reading() {
        for step in &plan.steps {
            match &step.action {
                Action::Land(landing) => deeds.insert(landing.worktree.to_string()),
                action @ Action::EndWorker { .. } => deeds.insert(format!("{action:?}")),
                Action::Append { .. }
                | Action::Create { .. }
                | Action::Edit { .. }
                | Action::MoveFolder { .. }
                | Action::MoveFile { .. }
                | Action::AskHost { .. }
                | Action::Print(_) => false,
            };
        }
        bench.apply(&plan);
        match plan.then {
            Then::Again => {}
            Then::Workers => {
                deeds.insert(LAUNCH.to_owned());
                break;
            }
            Then::Agent(_) | Then::Ask(_) | Then::Check(_) | Then::Stop(_) => break,
        }
    }
    deeds
}

/// Checks that a finding names a JSON file that can no longer be read.
fn is_named(path: &Utf8Path, broken: &[u8], assessment: &Assessment, about: &str) {
    // Bytes that are not text are read leniently anywhere.
    let is_json = serde_json::from_str::<Value>(&String::from_utf8_lossy(broken)).is_ok();
    if path.extension() != Some("json") || is_json {
        return;
    }
    let is_named = assessment.findings.iter().any(|finding| {
        let place = finding.place.as_ref();
        place.is_some_and(|place| path.ends_with(&place.path))
            || path
                .file_name()
                .is_some_and(|name| finding.message.contains(name))
    });
    assert!(
        is_named,
        "{about}: no finding names it: {:#?}",
        assessment.findings
    );
}
