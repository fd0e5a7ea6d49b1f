//! How long a briefing takes, with ten, a hundred and a thousand tasks and worktrees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{files, packages};

use crate::chart::Chart;
use crate::chore::Setting;
use crate::generate::Recipe;
use crate::measure::{compact_json, milliseconds};
use crate::peer::{MAKE, SNAKEMAKE, TASK_MASTER};
use crate::report::{Section, Table, count, figure};
use crate::standing::Standing;
use crate::{map, overhead, step_project, wave_project};

const N_RUNS: u32 = 9;
/// Of programs that take seconds.
const N_RUNS_OF_SLOW: u32 = 2;
/// The positions of our own rows.
const RUN: usize = 0;
const MAP: usize = 1;
const WAVE: usize = 2;
const WHY_BEHIND: &str = "make only compares the ages of files; rekindle reads the plan and every event of the run; being ahead requires a cache of the last answer";
const WHY_BEHIND_IN_A_WAVE: &str = "no peer reads worktrees; rekindle asks git about each that could land, with four processes; being ahead requires reading them without git";
/// The largest size without `--full`.
const SHORT: u32 = 100;

/// A program, and what it is asked.
struct Asked {
    shown: String,
    n_runs: u32,
    /// Makes a project of this size in an empty folder; returns the command.
    command: fn(&Setting, u32, &Path) -> Result<Command, String>,
    /// The row of rekindle that it is compared with.
    rival_of: Option<usize>,
}

fn asked() -> [Asked; 7] {
    let own = |shown: &str, command| Asked {
        shown: shown.to_owned(),
        n_runs: N_RUNS,
        command,
        rival_of: None,
    };
    let peer = |shown, n_runs, command, rival_of| Asked {
        shown,
        n_runs,
        command,
        rival_of: Some(rival_of),
    };
    let [make, snakemake, task_master, mapify] = [
        format!("`make -n`, {}", MAKE.version()),
        format!("`snakemake -n`, {}", SNAKEMAKE.version()),
        format!("`task-master next`, {}", TASK_MASTER.1),
        format!(
            "MAP's Python orchestrator, mapify-cli {}",
            packages::MAPIFY.version()
        ),
    ];
    [
        own("`rekindle plan`, a run half done", of_run),
        own("`rekindle map build_resume_briefing`", of_map),
        own(
            "`rekindle plan`, a wave with one worktree per task",
            of_wave,
        ),
        peer(make, N_RUNS, of_make, RUN),
        peer(snakemake, N_RUNS_OF_SLOW, of_snakemake, RUN),
        peer(task_master, N_RUNS_OF_SLOW, of_task_master, RUN),
        peer(mapify, N_RUNS, of_map_itself, MAP),
    ]
}

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let all = asked();
    let sizes = wave_project::RECIPES.iter().map(|(size, _)| *size);
    let sizes: Vec<u32> = sizes
        .filter(|size| setting.full || *size <= SHORT)
        .collect();
    // A row for each program, a column for each size.
    let mut measured: [Vec<f64>; 7] = Default::default();
    for size in &sizes {
        println!("{size} tasks");
        let mut commands = Vec::new();
        for (at, asked) in all.iter().enumerate() {
            let folder = setting.folder.join(format!("briefing-{at}-{size}"));
            let folder = files::empty_folder(folder)?;
            commands.push((asked.command)(setting, *size, &folder)?);
        }
        let mut best = [f64::INFINITY; 7];
        for round in 0..N_RUNS {
            for ((asked, command), best) in all.iter().zip(&mut commands).zip(&mut best) {
                if round < asked.n_runs {
                    *best = best.min(milliseconds(command)?);
                }
            }
        }
        for (row, best) in measured.iter_mut().zip(best) {
            row.push(best);
        }
    }
    let largest = sizes
        .last()
        .map_or_else(String::new, |size| count(u64::from(*size)));
    let rows = || all.iter().map(|asked| asked.shown.clone()).zip(&measured);
    let mut about = format!(
        "Wall time of one call that says what is done and what comes next, in ms; best of {N_RUNS} in turns, of {N_RUNS_OF_SLOW} where a call takes seconds.\n\
         Half of the tasks are done; make, Snakemake, task-master and the run have the same number of tasks, and `rekindle map` reads a copy of the files that MAP's own function reads.\n\
         In the wave, every task has a worktree made by `git worktree add`, and one in ten has work that can land: git is asked about each of these, on all cores; the peers read no worktrees, only the same number of tasks."
    );
    if !setting.full {
        about.push_str("\n`cargo xtask bench --full` adds 1,000 tasks.");
    }
    Ok(Section {
        title: "Time to the briefing",
        about,
        table: Table {
            n_text: 1,
            head: &["program", "10 tasks", "100 tasks", "1,000 tasks"][..=sizes.len()],
            rows: rows()
                .map(|(shown, row)| {
                    [shown]
                        .into_iter()
                        .chain(row.iter().map(|ms| figure(*ms)))
                        .collect()
                })
                .collect(),
        },
        standings: standings(&all, &sizes, &measured),
        chart: Some(Chart {
            name: "briefing",
            title: format!("Time to the briefing of {largest} tasks, ms (less is better)"),
            bars: rows()
                .map(|(shown, row)| (shown, row.last().copied().unwrap_or(f64::NAN)))
                .collect(),
        }),
        ..Section::default()
    })
}

fn standings(all: &[Asked], sizes: &[u32], measured: &[Vec<f64>]) -> Vec<Standing> {
    let mut standings = Vec::new();
    for (column, size) in sizes.iter().enumerate() {
        for (own, rivals_of, what, if_behind) in [
            (RUN, RUN, "tasks", WHY_BEHIND),
            (MAP, MAP, "tasks", WHY_BEHIND),
            (WAVE, RUN, "tasks with worktrees", WHY_BEHIND_IN_A_WAVE),
        ] {
            let what = format!("briefing of {} {what}, ms", count(u64::from(*size)));
            let rivals = all.iter().zip(measured);
            let rivals = rivals.filter(|(asked, _)| asked.rival_of == Some(rivals_of));
            let peers = rivals.map(|(asked, row)| (asked.shown.clone(), row[column]));
            let ours = measured[own][column];
            let standing = Standing::less(what, ours, peers.collect(), if_behind);
            standings.push(if column + 1 == sizes.len() {
                standing.headline()
            } else {
                standing
            });
        }
    }
    standings
}

fn command(program: impl Into<PathBuf>, args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program.into());
    command.args(args).current_dir(folder);
    command
}

fn of_run(setting: &Setting, size: u32, folder: &Path) -> Result<Command, String> {
    step_project::write(folder, size)?;
    let mut plan = command(&setting.rekindle, &["plan"], folder);
    plan.env("REKINDLE_NOW", step_project::now());
    Ok(plan)
}

fn of_map(setting: &Setting, size: u32, folder: &Path) -> Result<Command, String> {
    map::make(folder, usize::try_from(size).unwrap_or(usize::MAX))?;
    Ok(command(
        &setting.rekindle,
        &["map", "build_resume_briefing"],
        folder,
    ))
}

fn of_map_itself(_: &Setting, size: u32, folder: &Path) -> Result<Command, String> {
    map::make(folder, usize::try_from(size).unwrap_or(usize::MAX))?;
    Ok(command(
        packages::MAPIFY.program("python")?,
        &["-c", map::BRIEFING],
        folder,
    ))
}

/// The wave takes long to make, so its project is reused.
fn of_wave(setting: &Setting, size: u32, _: &Path) -> Result<Command, String> {
    let mut recipes = wave_project::RECIPES.iter();
    let recipe: Option<&Recipe> = recipes.find_map(|(of, recipe)| (*of == size).then_some(recipe));
    let made = recipe
        .ok_or("there is no wave of this size")?
        .project(&setting.folder)?;
    let folder =
        fs::canonicalize(&made.folder).map_err(|e| format!("cannot find the wave: {e}"))?;
    let rekindle = |args: &[&str]| {
        let mut rekindle = command(&setting.rekindle, args, &wave_project::project(&folder));
        rekindle.envs(wave_project::environment(&folder));
        rekindle
    };
    let json = compact_json(&mut rekindle(&["inspect", "--json"]))?;
    let n_found = json.matches(":\"ready_for_integration\"").count();
    if n_found.to_string() != made.expected {
        let expected = made.expected;
        return Err(format!(
            "rekindle finds {n_found} tasks that can land; expected {expected}"
        ));
    }
    Ok(rekindle(&["plan"]))
}

fn of_make(_: &Setting, size: u32, folder: &Path) -> Result<Command, String> {
    half_done(folder, size, "Makefile", &overhead::makefile(size))?;
    Ok(command(MAKE.need()?, &["-n", "all"], folder))
}

fn of_snakemake(_: &Setting, size: u32, folder: &Path) -> Result<Command, String> {
    let text = format!(
        "rule all:\n    input: expand(\"t{{n}}\", n=range({size}))\n\
         rule one:\n    output: \"t{{n}}\"\n    shell: \"true; touch {{output}}\"\n"
    );
    half_done(folder, size, "Snakefile", &text)?;
    // Only the ages of files, and no solver for the order: the fastest that it can do.
    let args = "-n --quiet all --rerun-triggers mtime --scheduler greedy";
    let args: Vec<&str> = args.split(' ').collect();
    let mut snakemake = command(SNAKEMAKE.program("snakemake")?, &args, folder);
    snakemake.env("XDG_CACHE_HOME", folder);
    Ok(snakemake)
}

fn of_task_master(_: &Setting, size: u32, folder: &Path) -> Result<Command, String> {
    let task = |n: u32| {
        let status = if n <= size / 2 { "done" } else { "pending" };
        let needs: Vec<u32> = (n.max(2) - 1..n).collect();
        format!(
            "{{\"id\": {n}, \"title\": \"Part {n}\", \"description\": \"Does part {n}.\", \"details\": \"\", \
             \"testStrategy\": \"\", \"status\": \"{status}\", \"dependencies\": {needs:?}, \"priority\": \"medium\", \
             \"subtasks\": []}}"
        )
    };
    let tasks: Vec<String> = (1..=size).map(task).collect();
    let stamp = "2026-01-05T09:00:00Z";
    let text = format!(
        "{{\"master\": {{\"tasks\": [{}], \"metadata\": {{\"created\": \"{stamp}\", \"updated\": \"{stamp}\", \
         \"description\": \"bench\"}}}}}}",
        tasks.join(", ")
    );
    files::write(folder.join(".taskmaster/tasks/tasks.json"), text)?;
    let program = packages::node(TASK_MASTER)?.join("node_modules/.bin/task-master");
    let mut next = command(program, &["next"], folder);
    next.env("HOME", folder).envs([
        ("TASKMASTER_SKIP_AUTO_UPDATE", "1"),
        ("TM_HIDE_BANNER", "1"),
    ]);
    Ok(next)
}

/// Writes a file of rules and half of their results.
fn half_done(folder: &Path, size: u32, name: &str, rules: &str) -> Result<(), String> {
    files::write(folder.join(name), rules)?;
    (0..size / 2).try_for_each(|n| files::write(folder.join(format!("t{n}")), ""))
}
