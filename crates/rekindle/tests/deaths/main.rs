//! Every protocol and the engine die at every place, and find the disk full at every change.
//!
//! What is gone through is told in [`rekindle_testkit::deaths`]; here are the stories. A part of their
//! places every time, all of them with `cargo xtask soak places`. Needs the feature `crash-points`:
//! `cargo test -p rekindle --features crash-points --test deaths`.

mod agent_memory;
mod bifrost;
#[path = "../bifrost/project.rs"]
#[expect(dead_code, reason = "its own tests want more of it")]
mod bifrost_project;
mod configuration;
mod engine;
mod install;
mod kiln;
#[path = "../kiln/project.rs"]
#[expect(dead_code, reason = "its own tests want more of it")]
mod kiln_project;
mod kiln_teams;
mod lists;
mod map;
#[path = "../map_resume/project.rs"]
#[expect(dead_code, reason = "its own tests want more of it")]
mod map_project;
mod map_resume;
mod prune;
mod report;
mod rescue;
mod sessions;
mod update_plan;

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use rekindle_testkit::deaths::{
    DIED_AT_IN_EFFECTS, Extent, Story, dies_everywhere, fails_everywhere, is_synced_at, passed,
    passed_after, survives_damage,
};
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::waves::generated;

use crate::agent_memory::Loop;
use crate::bifrost::{Deed, Feature};
use crate::configuration::Init;
use crate::engine::Engine;
use crate::install::Settings;
use crate::kiln::{Archive, Phases};
use crate::kiln_teams::{Agent, Wave};
use crate::lists::{List, Place};
use crate::map_resume::{Subtask, Wish};
use crate::prune::Prune;
use crate::report::Report;
use crate::rescue::Restore;
use crate::sessions::Continued;
use crate::update_plan::UpdatePlan;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// How much of a story without agents is gone through every time, and of one with them.
const SHORT: Extent = Extent {
    first: 26,
    second: 10,
    failures: 10,
    damages: 1,
    is_alike: false,
};
const LONG: Extent = Extent {
    first: 26,
    second: 8,
    failures: 6,
    damages: 1,
    is_alike: false,
};
/// Of a wave, which asks git hundreds of times.
const WAVE: Extent = Extent {
    first: 12,
    second: 4,
    failures: 4,
    damages: 1,
    is_alike: false,
};
/// Of a run whose attempts break their worktrees; all else in it is as in the other run.
const ASIDE: Extent = Extent {
    first: 20,
    second: 4,
    failures: 4,
    damages: 0,
    is_alike: true,
};
/// Where several stories are alike.
const FEW: Extent = Extent {
    first: 6,
    second: 2,
    failures: 2,
    damages: 0,
    is_alike: true,
};
/// Where a story is short enough for every place.
const ALL: Extent = Extent {
    first: usize::MAX,
    second: 20,
    failures: usize::MAX,
    damages: 0,
    is_alike: false,
};
/// The generated waves that are gone through every time; a soak has them all.
const USUAL_WAVES: [u64; 2] = [0, 3];

#[expect(clippy::too_many_lines, reason = "a list of trials")]
fn main() -> ExitCode {
    let mut trials = Vec::new();
    trials.extend(story("agent_memory", LONG, Loop::new));
    trials.extend(story("engine", LONG, Engine::new).into_iter().skip(1));
    trials.push(trial("engine_dies", || {
        dies_everywhere(&Engine::with_agents_that_end_once()?, LONG)
    }));
    // Broken files are for the other run: here they would be broken twice.
    trials.extend([
        trial("engine_aside_dies", || {
            dies_everywhere(&Engine::with_broken_worktrees()?, ASIDE)
        }),
        trial("engine_aside_finds_the_disk_broken", || {
            fails_everywhere(&Engine::with_broken_worktrees()?, ASIDE)
        }),
        trial("engine_furnished_dies", || {
            dies_everywhere(&Engine::with_furnished_worktrees()?, ASIDE)
        }),
        trial("engine_furnished_finds_the_disk_broken", || {
            fails_everywhere(&Engine::with_furnished_worktrees()?, ASIDE)
        }),
        trial("engine_with_removals_cut_short_dies", || {
            dies_everywhere(&Engine::with_removals_cut_short()?, ASIDE)
        }),
        trial("init_dies", || dies_everywhere(&Init::new()?, ALL)),
        trial("init_finds_the_disk_broken", || {
            fails_everywhere(&Init::new()?, ALL)
        }),
        trial("prune_dies", || dies_everywhere(&Prune::new()?, ALL)),
        trial("prune_finds_the_disk_broken", || {
            fails_everywhere(&Prune::new()?, ALL)
        }),
        trial("rescue_restore_dies", || {
            dies_everywhere(&Restore::new()?, FEW)
        }),
        trial("rescue_restore_finds_the_disk_broken", || {
            fails_everywhere(&Restore::new()?, FEW)
        }),
    ]);
    trials.extend([
        trial("a_continued_session_dies", || {
            dies_everywhere(&Continued::new()?, ALL)
        }),
        trial("a_continued_session_finds_the_disk_broken", || {
            fails_everywhere(&Continued::new()?, ALL)
        }),
    ]);
    for (name, lay_out) in [
        ("report", Report::first as fn() -> Result<Report>),
        ("report_again", Report::again),
    ] {
        trials.push(trial(&format!("{name}_dies"), move || {
            dies_everywhere(&lay_out()?, ALL)
        }));
        trials.push(trial(&format!("{name}_finds_the_disk_broken"), move || {
            fails_everywhere(&lay_out()?, ALL)
        }));
    }
    trials.extend(story("update_plan", FEW, UpdatePlan::new));
    trials.extend(story("list", WAVE, || List::new(Place::Worktrees)));
    trials.extend(story("list_in_place", FEW, || List::new(Place::Checkout)));
    trials.extend(story("kiln", LONG, Phases::new));
    trials.extend(story("kiln_archive", SHORT, Archive::new));
    for (name, deed) in [
        ("bifrost_resume", Deed::Resume),
        ("bifrost_rollback", Deed::Rollback),
        ("bifrost_checkpoint", Deed::Checkpoint),
        ("bifrost_migrate", Deed::Migrate),
        ("bifrost_compact", Deed::Compact),
    ] {
        trials.extend(story(name, SHORT, move || Feature::new(deed)));
    }
    trials.extend(story("map_resume", LONG, || Subtask::new(Wish::GoOn)));
    trials.extend(story("map_away", SHORT, || Subtask::new(Wish::PutAway)));
    trials.extend(story(
        "waves_changes",
        WAVE,
        Wave::with_every_kind_of_change,
    ));
    trials.extend(story("waves_halt", FEW, Wave::with_a_halt));
    trials.extend(story("waves_retry", WAVE, Wave::with_a_retry));
    trials.extend(story("waves_failure", FEW, Wave::with_a_failure));
    for seed in 0..4 {
        let agent = match seed % 2 {
            0 => Agent::None,
            _ => Agent::Writes,
        };
        let wave = story(&format!("waves_by_chance_{seed}"), FEW, move || {
            Wave::new(&generated(seed), agent)
        });
        let is_usual = USUAL_WAVES.contains(&seed);
        trials.extend(wave.map(|trial| {
            let is_ignored = trial.has_ignored_flag() || !is_usual;
            trial.with_ignored_flag(is_ignored)
        }));
    }
    for (n, theirs) in install::AGENTS.into_iter().enumerate() {
        for (word, deed) in [
            ("install", install::Deed::Install),
            ("uninstall", install::Deed::Uninstall),
        ] {
            let name = format!("{word}_{}_{n}", theirs.0);
            trials.push(trial(&format!("{name}_dies"), move || {
                dies_everywhere(&Settings::new(theirs, deed)?, ALL)
            }));
            trials.push(trial(&format!("{name}_finds_the_disk_broken"), move || {
                fails_everywhere(&Settings::new(theirs, deed)?, ALL)
            }));
        }
    }
    trials.push(trial("map_commands_die", || {
        for command in map::Command::all()? {
            dies_everywhere(&command, FEW).map_err(|wrong| wrong.context(command.name()))?;
        }
        Ok(())
    }));
    trials.push(trial("map_commands_find_the_disk_broken", || {
        for command in map::Command::all()? {
            fails_everywhere(&command, FEW).map_err(|wrong| wrong.context(command.name()))?;
        }
        Ok(())
    }));
    trials.extend([
        trial(
            "a_no_after_a_death_leaves_both_files_old_or_both_new",
            bifrost::a_no_after_a_death_leaves_both_files_old_or_both_new,
        ),
        trial(
            "a_death_while_a_command_is_taken_back_fails_at_most_one_other",
            map::a_death_while_a_command_is_taken_back_fails_at_most_one_other,
        ),
        trial(
            "a_death_while_a_rejection_is_written_loses_no_retry",
            map_resume::a_death_while_a_rejection_is_written_loses_no_retry,
        ),
        trial(
            "what_is_announced_is_on_the_disk_before_it_begins",
            what_is_announced_is_on_the_disk,
        ),
        trial("every_place_is_passed_by_a_story", every_place_is_passed),
    ]);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Returns the trials of a story: deaths, a disk that is full or broken, and files that are.
fn story<S: Story>(
    name: &str,
    extent: Extent,
    lay_out: impl Fn() -> Result<S> + Clone + Send + 'static,
) -> [Trial; 3] {
    let (again, once_more) = (lay_out.clone(), lay_out.clone());
    [
        trial(&format!("{name}_dies"), move || {
            dies_everywhere(&lay_out()?, extent)
        }),
        trial(&format!("{name}_finds_the_disk_broken"), move || {
            fails_everywhere(&again()?, extent)
        }),
        trial(&format!("{name}_finds_broken_files"), move || {
            survives_damage(&once_more()?, extent)
        })
        .with_ignored_flag(extent.damages == 0),
    ]
}

fn trial(name: &str, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test().map_err(|wrong| Failed::from(format!("{wrong:#}")))
    })
}

/// Runs a line of shell in a project, which must succeed; returns what it printed.
pub(crate) fn shell(sandbox: &Sandbox, script: &str) -> Result<String> {
    let ran = sandbox.typed(&[]).through(&["sh", "-c", script]).run()?;
    ensure!(ran.code() == Some(0), "{script}: {ran}");
    Ok(ran.stdout().into_owned())
}

/// After each of these points something begins that what was written before it announces or records.
fn what_is_announced_is_on_the_disk() -> Result<()> {
    let of_the_loop = [
        "after-intent",
        "after-append",
        "after-done",
        "after-end",
        "after-agent-start",
    ];
    is_synced_at(&Loop::new()?, &of_the_loop)?;
    let of_a_run = ["after-claim", "after-agent-done", "after-completed"];
    is_synced_at(&Engine::new()?, &of_a_run)?;
    let of_commands = ["transaction-after-record", "transaction-after-effect"];
    is_synced_at(&map::Command::of_several_effects()?, &of_commands)
}

/// Places that no undisturbed story passes, by who does.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "a_death_while_a_command_is_taken_back_fails_at_most_one_other",
        &["transaction-after-take-back"],
    ),
    ("crates/runner/tests/effects", DIED_AT_IN_EFFECTS),
];

/// A new effect, a new call that writes and a new point need a story that passes them.
fn every_place_is_passed() -> Result<()> {
    let mut reached = BTreeSet::new();
    let mut add = |names: BTreeSet<&str>| reached.extend(names.into_iter().map(str::to_owned));
    add(passed(&Loop::new()?)?.names());
    add(passed(&Engine::new()?)?.names());
    add(passed(&Engine::with_broken_worktrees()?)?.names());
    add(passed(&Engine::with_furnished_worktrees()?)?.names());
    add(passed(&Engine::with_removals_cut_short()?)?.names());
    add(passed(&Restore::new()?)?.names());
    add(passed(&List::new(Place::Worktrees)?)?.names());
    add(passed(&Phases::new()?)?.names());
    add(passed(&Archive::new()?)?.names());
    for deed in [
        Deed::Resume,
        Deed::Rollback,
        Deed::Checkpoint,
        Deed::Migrate,
    ] {
        add(passed(&Feature::new(deed)?)?.names());
    }
    add(passed(&Wave::with_every_kind_of_change()?)?.names());
    add(passed(&Wave::with_a_retry()?)?.names());
    for command in map::Command::all()? {
        add(passed(&command)?.names());
    }
    add(passed_after(&Feature::new(Deed::Resume)?, "after-intent")?.names());
    let recorded = "transaction-after-record";
    let several = map::Command::of_several_effects()?;
    add(passed_after(&several, recorded)?.names());
    let listed: BTreeSet<String> = rekindle_app::crash_places().map(str::to_owned).collect();
    let unlisted: Vec<&String> = reached
        .iter()
        .filter(|name| !listed.contains(name.trim_end_matches("-half")))
        .collect();
    ensure!(
        unlisted.is_empty(),
        "not in the list of places: {unlisted:?}"
    );
    let elsewhere: BTreeSet<String> = ELSEWHERE
        .iter()
        .flat_map(|(_, names)| names.iter().map(|name| (*name).to_owned()))
        .collect();
    let known: BTreeSet<String> = reached.union(&elsewhere).cloned().collect();
    let missed: Vec<&String> = listed.difference(&known).collect();
    ensure!(missed.is_empty(), "no story passes {missed:?}");
    let odd: Vec<&String> = elsewhere
        .iter()
        .filter(|name| reached.contains(*name) || !listed.contains(*name))
        .collect();
    ensure!(odd.is_empty(), "not passed elsewhere alone: {odd:?}");
    Ok(())
}
