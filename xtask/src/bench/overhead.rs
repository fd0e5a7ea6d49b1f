//! What a task costs beside its work: a run whose agent does nothing, next to programs that run commands.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::chore::{Bench, Setting};
use super::folders;
use super::peer::{MAKE, PARALLEL};
use super::report::{Section, Table, Target, figure};
use super::standing::{Better, Standing};

pub(super) const BENCH: Bench = Bench {
    name: "overhead",
    run: bench,
};

/// How many tasks, and how often.
///
/// A short run falls into one busy or quiet moment of the machine. So the short runs together last as
/// long as the next larger one, and their mean counts: the best of them would make the larger one look
/// bad. It does not help on a machine that others use: 0.55 to 1.35 times were seen within an hour.
const SIZES: [(u32, u32); 2] = [(100, 10), (1000, 1)];
/// This one takes minutes, so it is measured only on demand.
const FULL_SIZE: (u32, u32) = (10_000, 1);
/// The size whose time a task is promised.
const PROMISED_SIZE: u32 = 1000;
const MOST_MILLISECONDS: f64 = 60.0;
const MOST_GROWTH: f64 = 1.2;

fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = setting.folder.join("overhead");
    let mut rows = Vec::new();
    let mut of_rekindle = Vec::new();
    let mut standings = Vec::new();
    for (size, n_runs) in SIZES.into_iter().chain(setting.full.then_some(FULL_SIZE)) {
        println!("{} tasks", figure(f64::from(size)));
        let ours = mean(n_runs, || {
            prepare(&folder, size)?;
            timed(&mut rekindle(setting, 2), &folder, size).map(Some)
        })?;
        let ours = ours.ok_or("nothing was measured")?;
        of_rekindle.push((size, ours));
        let mut row = |name: &str, a_task: Option<f64>| {
            let shown =
                |value: Option<f64>| value.map_or_else(|| "not installed".to_owned(), figure);
            rows.push(vec![
                name.to_owned(),
                figure(f64::from(size)),
                shown(a_task),
                shown(a_task.map(|theirs| theirs / ours)),
            ]);
        };
        row("`rekindle run --jobs 2`, agent `true`", Some(ours));
        let mut peers = Vec::new();
        let by_make = mean(n_runs, || make(&folder, size))?;
        let by_parallel = mean(n_runs, || parallel(&folder, size))?;
        for (name, a_task) in [
            ("`make -j2`, recipe `true`", by_make),
            (
                "`parallel -j2 --joblog --resume`, command `true`",
                by_parallel,
            ),
        ] {
            row(name, a_task);
            peers.extend(a_task.map(|a_task| (name.to_owned(), a_task)));
        }
        standings.push(Standing {
            what: format!("a task of {}, ms beside its work", figure(f64::from(size))),
            better: Better::Less,
            ours,
            peers,
            if_behind: "the peer keeps no worktree, no commit and nothing that is synced, which is where the time goes (last section); an agent takes minutes, of which this is a thousandth; git without processes would halve it",
        });
    }
    Ok(Section {
        title: "Overhead of a task",
        about: about(setting.full),
        table: Table {
            n_text: 1,
            head: vec!["program", "tasks", "ms a task", "ratio"],
            rows,
        },
        targets: targets(&of_rekindle),
        standings,
        chart: None,
    })
}

fn about(full: bool) -> Vec<String> {
    let ([(small, n_small), _], (large, _)) = (SIZES, FULL_SIZE);
    let mut about = vec![
        "A plan of independent tasks whose agent does nothing, two workers; every task gets a \
         worktree, a commit on the branch, and events that are on the disk before they count."
            .to_owned(),
        "The peers start the same commands and write down that they ended; they keep no worktree, \
         no commit and nothing that is synced."
            .to_owned(),
        format!(
            "Wall time divided by the number of tasks: the mean of {n_small} runs with {small} tasks, \
             one run with more."
        ),
        "Growth is the time a task of the larger run over that of the smaller one; no more than 20 % \
         is promised."
            .to_owned(),
    ];
    if !full {
        about.push(format!(
            "A run of {} tasks was left out; `cargo xtask bench --full` has it.",
            figure(f64::from(large))
        ));
    }
    about
}

/// Returns what is promised of sizes with their milliseconds a task, the smallest first.
fn targets(measured: &[(u32, f64)]) -> Vec<Target> {
    let promised = measured.iter().filter(|(size, _)| *size == PROMISED_SIZE);
    let mut targets: Vec<Target> = promised
        .map(|(_, a_task)| Target::below("wall time a task", *a_task, MOST_MILLISECONDS, "ms"))
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
pub(super) fn prepare(folder: &Path, size: u32) -> Result<(), String> {
    folders::fresh(folder)?;
    let tasks: Vec<String> = (0..size)
        .map(|n| format!(r#"{{"id":"T{n:05}","title":"Task {n}"}}"#))
        .collect();
    write(
        &folder.join("plan.json"),
        &format!("{{\"title\":\"overhead\",\"tasks\":[{}]}}", tasks.join(",")),
    )?;
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &["commit", "-qm", "plan"],
    ] {
        run(
            Command::new("git")
                .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"])
                .args(arguments),
            folder,
        )?;
    }
    Ok(())
}

/// Returns the command that runs the plan.
pub(super) fn rekindle(setting: &Setting, jobs: u32) -> Command {
    let mut command = Command::new(&setting.rekindle);
    add_arguments(&mut command, jobs);
    command
}

/// Adds the arguments by which rekindle runs the plan.
pub(super) fn add_arguments(command: &mut Command, jobs: u32) {
    command
        .args(["run", "plan.json", "--branch", "result", "--yes"])
        .args(["--agent-cmd", "true", "--jobs", &jobs.to_string()]);
}

fn make(folder: &Path, size: u32) -> Result<Option<f64>, String> {
    let Some(program) = MAKE.find() else {
        return Ok(None);
    };
    folders::fresh(folder)?;
    let targets: Vec<String> = (0..size).map(|n| format!("t{n}")).collect();
    write(
        &folder.join("Makefile"),
        &format!("all: {}\nt%:\n\t@true; touch $@\n", targets.join(" ")),
    )?;
    timed(Command::new(program).args(["-j2", "all"]), folder, size).map(Some)
}

fn parallel(folder: &Path, size: u32) -> Result<Option<f64>, String> {
    let Some(program) = PARALLEL.find() else {
        return Ok(None);
    };
    folders::fresh(folder)?;
    let numbers: Vec<String> = (0..size).map(|n| n.to_string()).collect();
    let mut command = Command::new(program);
    command
        .args(["-j2", "--joblog", "log", "--resume", "true", ":::"])
        .args(numbers);
    timed(&mut command, folder, size).map(Some)
}

/// Returns the mean of several measurements, or nothing if there is nothing to measure.
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
pub(super) fn timed(command: &mut Command, folder: &Path, size: u32) -> Result<f64, String> {
    let begun = Instant::now();
    run(command, folder)?;
    Ok(begun.elapsed().as_secs_f64() * 1000.0 / f64::from(size))
}

pub(super) fn run(command: &mut Command, folder: &Path) -> Result<(), String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let quiet = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = quiet
        .status()
        .map_err(|e| format!("cannot run `{shown}`: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` failed while it was measured: {status}"))
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("cannot write `{}`: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_installed_has_no_mean() {
        let mut measured = [3.0, 1.0, 2.0].into_iter();
        assert_eq!(mean(3, || Ok(measured.next())), Ok(Some(2.0)));
        assert_eq!(mean(3, || Ok(None)), Ok(None));
        assert!(mean(1, || Err("broken".to_owned())).is_err());
    }

    #[test]
    fn growth_is_promised_for_every_pair_of_sizes() {
        let section = Section {
            title: "Overhead",
            about: Vec::new(),
            table: Table {
                n_text: 0,
                head: Vec::new(),
                rows: Vec::new(),
            },
            targets: targets(&[(100, 40.0), (1000, 30.0), (10_000, 39.0)]),
            standings: Vec::new(),
            chart: None,
        };
        let lines: Vec<String> = section
            .to_string()
            .lines()
            .filter(|line| line.starts_with('*'))
            .map(str::to_owned)
            .collect();
        assert_eq!(
            lines,
            [
                "* wall time a task < 60.0 ms: 30.0 ms, reached",
                "* growth from 100 to 1,000 tasks < 1.20 times: 0.750 times, reached",
                "* growth from 100 to 10,000 tasks < 1.20 times: 0.975 times, reached",
                "* growth from 1,000 to 10,000 tasks < 1.20 times: 1.30 times, MISSED",
            ]
        );
    }
}
