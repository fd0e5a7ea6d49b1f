//! The cost of a task besides its work: a run whose agent does nothing, next to programs that run commands.

use std::path::Path;
use std::process::Command;

use xtask::files;

use crate::chore::Setting;
use crate::generate;
use crate::measure::milliseconds;
use crate::peer::{MAKE, PARALLEL};
use crate::report::{Section, Table, Target, figure};
use crate::standing::Standing;

/// How many tasks, and how often.
///
/// The short runs together take as long as the next larger one, and their mean counts: a single one falls
/// into a busy or quiet moment of the machine, and the best of them would make the larger run look bad.
/// On a shared machine the ratio still varied from 0.55 to 1.35 within an hour.
const SIZES: [(u32, u32); 2] = [(100, 10), (1000, 1)];
/// This one takes minutes, so it needs `--full`.
const FULL_SIZE: (u32, u32) = (10_000, 1);
/// The size that has a target.
const TARGET_SIZE: u32 = 1000;
const MOST_MILLISECONDS: f64 = 60.0;
const MOST_GROWTH: f64 = 1.2;
const WHY_BEHIND: &str = "the peer makes no worktree, no commit and no sync, which take the time (last section); an agent takes minutes, of which this is a thousandth; git as a library would halve it";

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = setting.folder.join("overhead");
    let mut rows = Vec::new();
    let mut measured = Vec::new();
    let mut standings = Vec::new();
    for (size, n_runs) in SIZES.into_iter().chain(setting.full.then_some(FULL_SIZE)) {
        let n_tasks = figure(f64::from(size));
        println!("{n_tasks} tasks");
        let ours = mean(n_runs, || {
            prepare(&folder, size)?;
            timed(&mut rekindle(setting, 2), &folder, size).map(Some)
        })?;
        let ours = ours.ok_or("nothing was measured")?;
        measured.push((size, ours));
        let by_make = mean(n_runs, || make(&folder, size))?;
        let by_parallel = mean(n_runs, || parallel(&folder, size))?;
        let all = [
            ("`rekindle run --jobs 2`, agent `true`", Some(ours)),
            ("`make -j2`, recipe `true`", by_make),
            (
                "`parallel -j2 --joblog --resume`, command `true`",
                by_parallel,
            ),
        ];
        for (name, ms) in all {
            let shown = |value: Option<f64>| value.map_or("not installed".to_owned(), figure);
            let ratio = ms.map(|theirs| theirs / ours);
            rows.push(vec![
                name.to_owned(),
                n_tasks.clone(),
                shown(ms),
                shown(ratio),
            ]);
        }
        let peers = all[1..].iter();
        let standing = Standing::less(
            format!("overhead of a task of {n_tasks}, ms"),
            ours,
            peers
                .filter_map(|(name, ms)| Some(((*name).to_owned(), (*ms)?)))
                .collect(),
            WHY_BEHIND,
        );
        let is_headline = size == SIZES[1].0;
        standings.push(if is_headline {
            standing.headline()
        } else {
            standing
        });
    }
    let ([(small, n_small), _], (large, _)) = (SIZES, FULL_SIZE);
    let mut about = format!(
        "A plan of independent tasks whose agent does nothing, two workers; every task gets a worktree, a commit on the branch, and events that are synced to the disk.\n\
         The peers start the same commands and record that they ended, without a worktree, a commit or a sync.\n\
         Wall time divided by the number of tasks: the mean of {n_small} runs with {small} tasks, one run with more.\n\
         Growth is the time of a task in the larger run divided by that in the smaller one; the limit is 20 %."
    );
    if !setting.full {
        let large = figure(f64::from(large));
        about.push_str(&format!(
            "\n`cargo xtask bench --full` adds a run of {large} tasks."
        ));
    }
    Ok(Section {
        title: "Overhead of a task",
        about,
        table: Table {
            n_text: 1,
            head: &["program", "tasks", "ms per task", "ratio"],
            rows,
        },
        targets: targets(&measured),
        standings,
        ..Section::default()
    })
}

/// Returns the targets for sizes and their milliseconds a task, the smallest first.
fn targets(measured: &[(u32, f64)]) -> Vec<Target> {
    let with_target = measured.iter().filter(|(size, _)| *size == TARGET_SIZE);
    let mut targets: Vec<Target> = with_target
        .map(|(_, ms)| Target::below("wall time per task", *ms, MOST_MILLISECONDS, "ms"))
        .collect();
    for (at, (larger, of_larger)) in measured.iter().enumerate() {
        for (smaller, of_smaller) in &measured[..at] {
            let [from, to] = [smaller, larger].map(|size| figure(f64::from(*size)));
            let what = format!("growth from {from} to {to} tasks");
            let growth = of_larger / of_smaller;
            targets.push(Target::below(&what, growth, MOST_GROWTH, "times"));
        }
    }
    targets
}

/// Makes a repository with a plan of independent tasks.
pub(crate) fn prepare(folder: &Path, size: u32) -> Result<(), String> {
    files::empty_folder(folder)?;
    let tasks: Vec<String> = (0..size)
        .map(|n| format!(r#"{{"id":"T{n:05}","title":"Task {n}","allow_empty":true}}"#))
        .collect();
    let plan = format!("{{\"title\":\"overhead\",\"tasks\":[{}]}}", tasks.join(","));
    files::write(folder.join("plan.json"), plan)?;
    generate::repository(folder)
}

/// Returns the command that runs the plan.
pub(crate) fn rekindle(setting: &Setting, jobs: u32) -> Command {
    let mut command = Command::new(&setting.rekindle);
    command
        .args(["run", "plan.json", "--branch", "result", "--yes"])
        .args(["--agent-cmd", "true", "--jobs", &jobs.to_string()]);
    command
}

/// Returns a file of rules for make with this many targets.
pub(crate) fn makefile(size: u32) -> String {
    let targets: Vec<String> = (0..size).map(|n| format!("t{n}")).collect();
    format!("all: {}\nt%:\n\t@true; touch $@\n", targets.join(" "))
}

fn make(folder: &Path, size: u32) -> Result<Option<f64>, String> {
    let Some(program) = MAKE.find() else {
        return Ok(None);
    };
    files::empty_folder(folder)?;
    files::write(folder.join("Makefile"), makefile(size))?;
    timed(Command::new(program).args(["-j2", "all"]), folder, size).map(Some)
}

fn parallel(folder: &Path, size: u32) -> Result<Option<f64>, String> {
    let Some(program) = PARALLEL.find() else {
        return Ok(None);
    };
    files::empty_folder(folder)?;
    let mut command = Command::new(program);
    command
        .args(["-j2", "--joblog", "log", "--resume", "true", ":::"])
        .args((0..size).map(|n| n.to_string()));
    timed(&mut command, folder, size).map(Some)
}

/// Returns the mean of several measurements, or nothing for a missing program.
fn mean(
    n_runs: u32,
    mut once: impl FnMut() -> Result<Option<f64>, String>,
) -> Result<Option<f64>, String> {
    let mut sum = 0.0;
    for _ in 0..n_runs {
        let Some(measured) = once()? else {
            return Ok(None);
        };
        sum += measured;
    }
    Ok(Some(sum / f64::from(n_runs)))
}

/// Returns milliseconds a task.
pub(crate) fn timed(command: &mut Command, folder: &Path, size: u32) -> Result<f64, String> {
    Ok(milliseconds(command.current_dir(folder))? / f64::from(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_has_no_mean() {
        let mut measured = [3.0, 1.0, 2.0].into_iter();
        assert_eq!(mean(3, || Ok(measured.next())), Ok(Some(2.0)));
        assert_eq!(mean(3, || Ok(None)), Ok(None));
        assert!(mean(1, || Err("broken".to_owned())).is_err());
    }

    #[test]
    fn growth_has_a_target_for_every_pair_of_sizes() {
        let section = Section {
            targets: targets(&[(100, 40.0), (1000, 30.0), (10_000, 39.0)]),
            ..Section::default()
        };
        let text = section.to_string();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('*')).collect();
        assert_eq!(
            lines,
            [
                "* wall time per task < 60.0 ms: 30.0 ms, reached",
                "* growth from 100 to 1,000 tasks < 1.20 times: 0.750 times, reached",
                "* growth from 100 to 10,000 tasks < 1.20 times: 0.975 times, reached",
                "* growth from 1,000 to 10,000 tasks < 1.20 times: 1.30 times, MISSED",
            ]
        );
    }
}
