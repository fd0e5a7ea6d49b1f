//! What a task costs beside its work: a run whose agent does nothing, next to programs that run commands.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::chore::{Bench, Setting};
use super::peer::{MAKE, PARALLEL};
use super::report::{Section, Table, Target, figure};

pub(super) const BENCH: Bench = Bench {
    name: "overhead",
    run: bench,
};

const SIZES: [u32; 2] = [100, 1000];
const MOST_MILLISECONDS: f64 = 60.0;
const MOST_GROWTH: f64 = 1.2;

fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = setting.folder.join("overhead");
    let mut rows = Vec::new();
    let mut of_rekindle = Vec::new();
    for size in SIZES {
        let ours = rekindle(setting, &folder, size)?;
        of_rekindle.push(ours);
        let mut row = |name: &str, a_task: Option<f64>| {
            let shown =
                |value: Option<f64>| value.map_or_else(|| "not installed".to_owned(), figure);
            rows.push(vec![
                name.to_owned(),
                size.to_string(),
                shown(a_task),
                shown(a_task.map(|theirs| theirs / ours)),
            ]);
        };
        row("`rekindle run --jobs 2`, agent `true`", Some(ours));
        row("`make -j2`, recipe `true`", make(&folder, size)?);
        row(
            "`parallel -j2 --joblog --resume`, command `true`",
            parallel(&folder, size)?,
        );
    }
    Ok(Section {
        title: "Overhead of a task",
        about: vec![
            "A plan of independent tasks whose agent does nothing, two workers; every task gets a \
             worktree, a commit on the branch, and events that are on the disk before they count."
                .to_owned(),
            "The peers start the same commands and write down that they ended; they keep no worktree, \
             no commit and nothing that is synced."
                .to_owned(),
            "One run each, wall time divided by the number of tasks.".to_owned(),
        ],
        table: Table {
            head: vec!["program", "tasks", "ms a task", "ratio"],
            rows,
        },
        targets: vec![
            Target::below("wall time a task", of_rekindle[1], MOST_MILLISECONDS, "ms"),
            Target::below("growth from 100 to 1,000 tasks", of_rekindle[1] / of_rekindle[0], MOST_GROWTH, "times"),
        ],
    })
}

fn rekindle(setting: &Setting, folder: &Path, size: u32) -> Result<f64, String> {
    fresh(folder)?;
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
    let mut command = Command::new(&setting.rekindle);
    command.args([
        "run",
        "plan.json",
        "--branch",
        "result",
        "--jobs",
        "2",
        "--yes",
        "--agent-cmd",
        "true",
    ]);
    timed(&mut command, folder, size)
}

fn make(folder: &Path, size: u32) -> Result<Option<f64>, String> {
    let Some(program) = MAKE.find() else {
        return Ok(None);
    };
    fresh(folder)?;
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
    fresh(folder)?;
    let numbers: Vec<String> = (0..size).map(|n| n.to_string()).collect();
    let mut command = Command::new(program);
    command
        .args(["-j2", "--joblog", "log", "--resume", "true", ":::"])
        .args(numbers);
    timed(&mut command, folder, size).map(Some)
}

/// Returns milliseconds a task.
fn timed(command: &mut Command, folder: &Path, size: u32) -> Result<f64, String> {
    let begun = Instant::now();
    run(command, folder)?;
    Ok(begun.elapsed().as_secs_f64() * 1000.0 / f64::from(size))
}

fn run(command: &mut Command, folder: &Path) -> Result<(), String> {
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

fn fresh(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .map_err(|e| format!("cannot clean `{}`: {e}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("cannot write `{}`: {e}", path.display()))
}
