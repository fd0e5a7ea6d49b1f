//! How long it takes to be told where things stand, with ten, a hundred and a thousand tasks and worktrees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::chart::{Bar, Chart};
use super::chore::{Bench, Setting};
use super::generate::Recipe;
use super::peer::{MAKE, SNAKEMAKE, TASK_MASTER};
use super::report::{Section, Table, count, figure};
use super::standing::{Better, Standing};
use super::{folders, map, measure, step_project, wave_project};
use crate::{map_peer, packages};

pub(super) const BENCH: Bench = Bench {
    name: "briefing",
    run: bench,
};

const N_RUNS: u32 = 9;
/// Of programs that take seconds.
const N_RUNS_OF_SLOW: u32 = 2;
/// The places of our own rows among all.
const RUN: usize = 0;
const MAP: usize = 1;
const WAVE: usize = 2;
const WHY_BEHIND: &str = "make only compares the ages of files; rekindle reads the plan and every event of the run, and would have to keep the answer of the last look to be ahead";
const WHY_BEHIND_IN_A_WAVE: &str = "no peer looks at a worktree; rekindle asks git about each that could land, with four processes; being ahead would take reading them without git";
/// Without `--full`, only up to this size.
const SHORT: u32 = 100;

/// One program with the project it is asked about, for each size.
struct Asked {
    shown: String,
    n_runs: u32,
    /// Makes a project of this size in a folder, and returns the question.
    question: fn(&Setting, u32, &Recipe) -> Result<Question, String>,
    /// Whether it is held against the run and the wave, or against the plan of MAP.
    rival_of: Option<usize>,
}

/// What is typed, and where.
struct Question {
    program: PathBuf,
    args: Vec<String>,
    folder: PathBuf,
    environment: Vec<(&'static str, String)>,
}

fn asked() -> Vec<Asked> {
    let one = |shown: &str, n_runs, question, rival_of| Asked {
        shown: shown.to_owned(),
        n_runs,
        question,
        rival_of,
    };
    vec![
        one("`rekindle plan`, a run half done", N_RUNS, of_run, None),
        one("`rekindle map build_resume_briefing`", N_RUNS, of_map, None),
        one(
            "`rekindle plan`, a wave with a worktree a task",
            N_RUNS,
            of_wave,
            None,
        ),
        one(
            &format!("`make -n`, {}", MAKE.version()),
            N_RUNS,
            of_make,
            Some(RUN),
        ),
        one(
            &format!("`snakemake -n`, {}", SNAKEMAKE.packages[0].1),
            N_RUNS_OF_SLOW,
            of_snakemake,
            Some(RUN),
        ),
        one(
            &format!("`task-master next`, {}", TASK_MASTER.1),
            N_RUNS_OF_SLOW,
            of_task_master,
            Some(RUN),
        ),
        one(
            "MAP's Python orchestrator, mapify-cli 3.25.0",
            N_RUNS,
            of_map_itself,
            Some(MAP),
        ),
    ]
}

fn bench(setting: &Setting) -> Result<Section, String> {
    let all = asked();
    let recipes: Vec<&(u32, Recipe)> = (wave_project::RECIPES.iter())
        .filter(|(size, _)| setting.full || *size <= SHORT)
        .collect();
    // A row for each program, a column for each size.
    let mut measured = vec![Vec::new(); all.len()];
    for (size, recipe) in &recipes {
        println!("{size} tasks");
        let questions: Vec<Question> = (all.iter())
            .map(|asked| (asked.question)(setting, *size, recipe))
            .collect::<Result<_, _>>()?;
        let mut best = vec![f64::INFINITY; all.len()];
        for round in 0..N_RUNS {
            for ((asked, question), best) in all.iter().zip(&questions).zip(&mut best) {
                if round < asked.n_runs {
                    *best = best.min(question.milliseconds()?);
                }
            }
        }
        for (row, best) in measured.iter_mut().zip(best) {
            row.push(best);
        }
    }
    let sizes: Vec<u32> = recipes.iter().map(|(size, _)| *size).collect();
    Ok(Section {
        title: "Time to the briefing",
        about: about(setting.full),
        table: table(&all, &sizes, &measured),
        targets: Vec::new(),
        standings: standings(&all, &sizes, &measured),
        chart: Some(Chart {
            name: "briefing",
            title: format!(
                "Time to the briefing of {} tasks, ms (less is better)",
                last(&sizes)
            ),
            bars: (all.iter().zip(&measured))
                .map(|(asked, row)| Bar::new(&*asked.shown, *row.last().unwrap_or(&f64::NAN)))
                .collect(),
        }),
    })
}

fn about(full: bool) -> Vec<String> {
    let mut about = vec![
        format!(
            "Wall time of one call that says what is done and what comes next, in ms; best of {N_RUNS} in turns, \
             of {N_RUNS_OF_SLOW} where a call takes seconds."
        ),
        "Half of the tasks are done; make, Snakemake, task-master and the run have the same number of tasks, and \
         `rekindle map` reads the very files that MAP's own function reads."
            .to_owned(),
        "In the wave every task has a worktree, made by `git worktree add`, and one in ten has work that can land: \
         git is asked about each of these, on all cores; no peer looks at worktrees, so that they are asked about the same number of tasks."
            .to_owned(),
    ];
    if !full {
        about.push("1,000 tasks were left out; `cargo xtask bench --full` has them.".to_owned());
    }
    about
}

fn table(all: &[Asked], sizes: &[u32], measured: &[Vec<f64>]) -> Table {
    let heads = ["10 tasks", "100 tasks", "1,000 tasks"];
    let mut head = vec!["program"];
    head.extend(&heads[..sizes.len().min(heads.len())]);
    Table {
        n_text: 1,
        head,
        rows: (all.iter().zip(measured))
            .map(|(asked, row)| {
                let figures = row.iter().map(|ms| figure(*ms));
                std::iter::once(asked.shown.clone())
                    .chain(figures)
                    .collect()
            })
            .collect(),
    }
}

fn standings(all: &[Asked], sizes: &[u32], measured: &[Vec<f64>]) -> Vec<Standing> {
    let mut standings = Vec::new();
    for (column, size) in sizes.iter().enumerate() {
        for (own, rivals_of, what, if_behind) in [
            (RUN, RUN, "tasks", WHY_BEHIND),
            (MAP, MAP, "tasks", WHY_BEHIND),
            (WAVE, RUN, "tasks with worktrees", WHY_BEHIND_IN_A_WAVE),
        ] {
            let rivals = all.iter().zip(measured);
            standings.push(Standing {
                what: format!("briefing of {} {what}, ms", count(u64::from(*size))),
                better: Better::Less,
                ours: measured[own][column],
                peers: rivals
                    .filter(|(asked, _)| asked.rival_of == Some(rivals_of))
                    .map(|(asked, row)| (asked.shown.clone(), row[column]))
                    .collect(),
                if_behind,
            });
        }
    }
    standings
}

fn last(sizes: &[u32]) -> String {
    sizes
        .last()
        .map_or_else(String::new, |size| count(u64::from(*size)))
}

impl Question {
    fn milliseconds(&self) -> Result<f64, String> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.folder)
            .envs(self.environment.iter().cloned());
        Ok(measure::wall(&mut command)?.as_secs_f64() * 1000.0)
    }
}

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

fn of_run(setting: &Setting, size: u32, _: &Recipe) -> Result<Question, String> {
    let folder = folders::fresh(&setting.folder.join(format!("briefing-run-{size}")))?;
    step_project::lay_out(&folder, size)?;
    Ok(Question {
        program: setting.rekindle.clone(),
        args: words(&["plan"]),
        folder,
        environment: vec![("REKINDLE_NOW", step_project::now())],
    })
}

fn of_map(setting: &Setting, size: u32, _: &Recipe) -> Result<Question, String> {
    Ok(Question {
        program: setting.rekindle.clone(),
        args: words(&["map", "build_resume_briefing"]),
        folder: map_folder(setting, size)?,
        environment: Vec::new(),
    })
}

fn of_map_itself(setting: &Setting, size: u32, _: &Recipe) -> Result<Question, String> {
    Ok(Question {
        program: map_peer::python()?,
        args: words(&["-c", map::BRIEFING]),
        folder: map_folder(setting, size)?,
        environment: Vec::new(),
    })
}

fn map_folder(setting: &Setting, size: u32) -> Result<PathBuf, String> {
    let folder = setting.folder.join(format!("briefing-map-{size}"));
    map::lay_out(&folder, usize::try_from(size).unwrap_or(usize::MAX))
}

fn of_wave(setting: &Setting, _: u32, recipe: &Recipe) -> Result<Question, String> {
    let made = recipe.project(&setting.folder)?;
    let folder = fs::canonicalize(&made.folder).map_err(|e| format!("the wave is gone: {e}"))?;
    let question = Question {
        program: setting.rekindle.clone(),
        args: words(&["plan"]),
        folder: wave_project::project(&folder),
        environment: wave_project::environment(&folder).to_vec(),
    };
    check_wave(&question, &made.told)?;
    Ok(question)
}

/// Makes sure that what is measured finds the work that can land.
fn check_wave(question: &Question, n_ready: &str) -> Result<(), String> {
    let told = Command::new(&question.program)
        .args(["inspect", "--json"])
        .current_dir(&question.folder)
        .envs(question.environment.iter().cloned())
        .output()
        .map_err(|e| format!("cannot run rekindle: {e}"))?;
    let text = String::from_utf8_lossy(&told.stdout);
    let dense: String = text.split_whitespace().collect();
    let n_found = dense.matches(":\"ready_for_integration\"").count();
    if n_found.to_string() == n_ready {
        Ok(())
    } else {
        Err(format!(
            "rekindle finds {n_found} tasks that can land; expected {n_ready}"
        ))
    }
}

fn of_make(setting: &Setting, size: u32, _: &Recipe) -> Result<Question, String> {
    let names = (0..size)
        .map(|n| format!("t{n}"))
        .collect::<Vec<_>>()
        .join(" ");
    let text = format!("all: {names}\nt%:\n\t@true; touch $@\n");
    Ok(Question {
        program: MAKE.need()?,
        args: words(&["-n", "all"]),
        folder: half_done(setting, "make", size, "Makefile", &text)?,
        environment: Vec::new(),
    })
}

fn of_snakemake(setting: &Setting, size: u32, _: &Recipe) -> Result<Question, String> {
    let text = format!(
        "rule all:\n    input: expand(\"t{{n}}\", n=range({size}))\n\
         rule one:\n    output: \"t{{n}}\"\n    shell: \"true; touch {{output}}\"\n"
    );
    let folder = half_done(setting, "snakemake", size, "Snakefile", &text)?;
    // Only the ages of files, and no solver for the order: the least it can be told to do.
    let args = [
        "-n",
        "--quiet",
        "all",
        "--rerun-triggers",
        "mtime",
        "--scheduler",
        "greedy",
    ];
    Ok(Question {
        program: SNAKEMAKE.program("snakemake")?,
        args: words(&args),
        environment: vec![("XDG_CACHE_HOME", folder.to_string_lossy().into_owned())],
        folder,
    })
}

fn of_task_master(setting: &Setting, size: u32, _: &Recipe) -> Result<Question, String> {
    let folder = folders::fresh(&setting.folder.join(format!("briefing-task-master-{size}")))?;
    let task = |n: u32| {
        let status = if n <= size / 2 { "done" } else { "pending" };
        let needs = if n > 1 {
            (n - 1).to_string()
        } else {
            String::new()
        };
        format!(
            "{{\"id\": {n}, \"title\": \"Part {n}\", \"description\": \"Does part {n}.\", \"details\": \"\", \
             \"testStrategy\": \"\", \"status\": \"{status}\", \"dependencies\": [{needs}], \"priority\": \"medium\", \
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
    let below = folder.join(".taskmaster/tasks");
    let write = || {
        fs::create_dir_all(&below)?;
        fs::write(below.join("tasks.json"), text)
    };
    write().map_err(|e: std::io::Error| format!("cannot make tasks for task-master: {e}"))?;
    Ok(Question {
        program: packages::node(TASK_MASTER)?.join("node_modules/.bin/task-master"),
        args: words(&["next"]),
        environment: vec![
            ("HOME", folder.to_string_lossy().into_owned()),
            ("TASKMASTER_SKIP_AUTO_UPDATE", "1".to_owned()),
            ("TM_HIDE_BANNER", "1".to_owned()),
        ],
        folder,
    })
}

/// Makes a folder with a file of rules and half of what they make.
fn half_done(
    setting: &Setting,
    who: &str,
    size: u32,
    name: &str,
    text: &str,
) -> Result<PathBuf, String> {
    let folder = folders::fresh(&setting.folder.join(format!("briefing-{who}-{size}")))?;
    let write = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|e| format!("cannot write `{}`: {e}", path.display()))
    };
    write(&folder.join(name), text)?;
    for n in 0..size / 2 {
        write(&folder.join(format!("t{n}")), "")?;
    }
    Ok(folder)
}
