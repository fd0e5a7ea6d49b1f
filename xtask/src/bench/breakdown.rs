//! What a task's time is made of: the parts of a run whose agent does nothing, seen from outside.
//!
//! rekindle is the released one and knows nothing of it. Its events have stamps to the microsecond,
//! and git writes down the begin and end of each of its processes when a variable asks it to;
//! [`timeline`](super::timeline) puts both together. Only the number of rekindle's own syncs comes
//! from elsewhere: strace slows a run down too much for its times to mean anything, but not its counts.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::chore::{Bench, Setting};
use super::peer::STRACE;
use super::report::{Section, Table, figure};
use super::timeline::{Part, Timeline, timeline};
use super::{git_trace, overhead};

pub(super) const BENCH: Bench = Bench {
    name: "breakdown",
    run: bench,
};

const N_TASKS: u32 = 100;
const N_RUNS: u32 = 3;
/// Enough for a mean; each takes a tenth of a second and more.
const N_COUNTED: u32 = 20;

fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = setting.folder.join("overhead");
    let (mut plain, mut traced) = ([None, None], [None, None]);
    // In turns, so that a busy moment of the machine hits all of them.
    for _ in 0..N_RUNS {
        for (at, jobs) in [1, 2].into_iter().enumerate() {
            overhead::prepare(&folder, N_TASKS)?;
            let command = &mut overhead::rekindle(setting, jobs);
            let wall = overhead::timed(command, &folder, N_TASKS)?;
            plain[at] = Some(plain[at].map_or(wall, |best: f64| best.min(wall)));
            let run = Run::traced(setting, &folder, jobs)?;
            let is_best = |best: &Run| run.wall < best.wall;
            if traced[at].as_ref().is_none_or(is_best) {
                traced[at] = Some(run);
            }
        }
    }
    let ([Some(plain_1), Some(plain_2)], [Some(one), Some(two)]) = (plain, traced) else {
        return Err("nothing was measured".to_owned());
    };
    let syncs = own_syncs(setting, &folder)?;
    Ok(Section {
        title: "What the time of a task is made of",
        about: about(
            [plain_1, plain_2],
            [&one.parts, &two.parts],
            syncs.is_some(),
        ),
        table: Table {
            n_text: 2,
            head: vec![
                "part",
                "from … to",
                "git processes",
                "syncs",
                "ms, `--jobs 1`",
                "ms, `--jobs 2`",
            ],
            rows: rows([&one, &two], syncs),
        },
        targets: Vec::new(),
        standings: Vec::new(),
        chart: None,
    })
}

fn about(plain: [f64; 2], [one, two]: [&Timeline; 2], are_counted: bool) -> Vec<String> {
    let mut about = vec![
        format!(
            "The plan of the section above with {N_TASKS} tasks, in runs of their own; of {N_RUNS} in \
             turns the fastest for each number of workers."
        ),
        "Every figure is of one task and comes from the same run as the others of its column: from the \
         stamps of its events and from the begin and end that each git process wrote down \
         (`GIT_TRACE2_EVENT`)."
            .to_owned(),
        format!(
            "Writing that down is part of what was measured: without it a task took {} ms with one \
             worker and {} ms with two.",
            figure(plain[0]),
            figure(plain[1])
        ),
        "The pieces lie end to end, so they add up to the wall time; with two workers, whose pieces \
         lie side by side, each is halved."
            .to_owned(),
        format!(
            "A pause is the end of one git process to the begin of the next where rekindle does \
             nothing else: {} ms with one worker, {} ms with two.",
            figure(one.pause),
            figure(two.pause)
        ),
        format!(
            "An event is `task_claimed` to the begin of the git process after it, less a pause: {} ms \
             and {} ms; it makes the log's file, and the other events are taken to cost the same.",
            figure(one.one_event),
            figure(two.one_event)
        ),
        "Processes and syncs are those of `--jobs 2`; one worker has nothing to merge.".to_owned(),
        "git counts its own syncs, and their time is part of its rows.".to_owned(),
    ];
    about.push(if are_counted {
        format!(
            "rekindle's own syncs were counted by strace in another run of {N_COUNTED} tasks, of which \
             no time is used."
        )
    } else {
        "rekindle's own syncs were not counted: strace is not installed.".to_owned()
    });
    about
}

fn rows([one, two]: [&Run; 2], syncs: Option<OwnSyncs>) -> Vec<Vec<String>> {
    let count = |value: f64| format!("{value:.1}");
    let own = |syncs: Option<f64>| syncs.map_or_else(|| "not counted".to_owned(), count);
    let row = |name: &str, how: &str, of: fn(&Timeline) -> Part, counts: [String; 2]| {
        let [n_processes, n_syncs] = counts;
        let figures = [one, two].map(|run| figure(of(&run.parts).milliseconds));
        let texts = [name.to_owned(), how.to_owned(), n_processes, n_syncs];
        texts.into_iter().chain(figures).collect::<Vec<_>>()
    };
    let none = || [String::new(), String::new()];
    let of_git = |of: fn(&Timeline) -> Part| {
        let part = of(&two.parts);
        [count(part.n_processes), count(part.n_syncs)]
    };
    let of_own = |syncs: Option<f64>| [String::new(), own(syncs)];
    vec![
        row(
            "order written, worker started",
            "`task_completed` to `task_claimed` of the next task, less an event",
            |parts| parts.order,
            of_own(syncs.map(|syncs| syncs.orders)),
        ),
        row(
            "worktree made",
            "`task_claimed` to `task_started`, less an event",
            |parts| parts.worktree,
            of_git(|parts| parts.worktree),
        ),
        row(
            "agent started and ended",
            "`task_started` to the first git process in the worktree, less an event and a pause",
            |parts| parts.agent,
            none(),
        ),
        row(
            "snapshot and commit",
            "from there to the end of `git update-ref`, with the pause before",
            |parts| parts.snapshot,
            of_git(|parts| parts.snapshot),
        ),
        row(
            "worktree removed",
            "from there to `task_implemented`",
            |parts| parts.removal,
            of_git(|parts| parts.removal),
        ),
        row(
            "worker ended, turn of the orchestrator",
            "`task_implemented` to the first git process of the landing, less an event and a pause",
            |parts| parts.turn,
            none(),
        ),
        row(
            "landing",
            "from there to `task_completed`, with the pause before",
            |parts| parts.landing,
            of_git(|parts| parts.landing),
        ),
        row(
            "synced events, four a task",
            "four times an event",
            |parts| parts.events,
            of_own(syncs.map(|syncs| syncs.events)),
        ),
        row(
            "rest: start and end of the run",
            "wall time less all of the above",
            |parts| parts.rest,
            none(),
        ),
        [
            "all",
            "wall time of the run, divided by the tasks",
            "",
            "",
            &figure(one.wall),
            &figure(two.wall),
        ]
        .map(str::to_owned)
        .to_vec(),
    ]
}

/// One run that was looked at.
struct Run {
    /// Milliseconds a task.
    wall: f64,
    parts: Timeline,
}

impl Run {
    fn traced(setting: &Setting, folder: &Path, jobs: u32) -> Result<Self, String> {
        overhead::prepare(folder, N_TASKS)?;
        let trace = setting.folder.join("git-trace");
        empty(&trace)?;
        let mut command = overhead::rekindle(setting, jobs);
        command.env(git_trace::VARIABLE, &trace);
        let wall = overhead::timed(&mut command, folder, N_TASKS)?;
        let logs = all_below(&folder.join(".agent-memory"), "jsonl")?;
        let parts = timeline(&logs, &git_trace::read(&read(&trace)?), jobs, wall)?;
        Ok(Self { wall, parts })
    }
}

/// How often rekindle itself synced for a task.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OwnSyncs {
    /// For the logs of events.
    events: f64,
    /// For what a worker is told.
    orders: f64,
}

/// Counts rekindle's syncs, if there is a program that can.
fn own_syncs(setting: &Setting, folder: &Path) -> Result<Option<OwnSyncs>, String> {
    let Some(strace) = STRACE.find() else {
        return Ok(None);
    };
    overhead::prepare(folder, N_COUNTED)?;
    let calls = setting.folder.join("sync-calls");
    empty(&calls)?;
    let mut command = Command::new(strace);
    command
        .args(["-f", "-qq", "-y", "-e", "signal=none"])
        .args(["-e", "trace=fsync,fdatasync,sync,syncfs", "-o"])
        .arg(&calls)
        .arg(&setting.rekindle);
    overhead::add_arguments(&mut command, 2);
    overhead::run(&mut command, folder)?;
    Ok(Some(count_syncs(&read(&calls)?, N_COUNTED)))
}

/// Counts calls by the path that stands behind the file's number: `fsync(3</p/.rekindle/runs/r/T1>) = 0`.
fn count_syncs(calls: &str, n_tasks: u32) -> OwnSyncs {
    let count = |part: &str| {
        // A call that another one interrupts has a second line, without the path.
        let found = calls.lines().filter(|line| line.contains(part)).count();
        u32::try_from(found).map_or(f64::NAN, f64::from) / f64::from(n_tasks)
    };
    OwnSyncs {
        events: count("/events/"),
        orders: count("/.rekindle/runs/"),
    }
}

/// Returns the contents of all files of a kind below a folder.
fn all_below(folder: &Path, extension: &str) -> Result<String, String> {
    let cannot = |e: std::io::Error| format!("cannot list `{}`: {e}", folder.display());
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path: PathBuf = entry.map_err(cannot)?.path();
        if path.is_dir() {
            all.push_str(&all_below(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            all.push_str(&read(&path)?);
        }
    }
    Ok(all)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))
}

fn empty(path: &Path) -> Result<(), String> {
    std::fs::write(path, "").map_err(|e| format!("cannot write `{}`: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_told_apart_by_their_paths() {
        let calls = "\
11 fsync(3</p/.rekindle/runs/r/T1>) = 0
11 fsync(3</p/.rekindle/runs/r/T2> <unfinished ...>
12 fdatasync(5</p/.agent-memory/runs/r/events/a/T1-1.jsonl>) = 0
11 <... fsync resumed>) = 0
13 fsync(3</p/.git/worktrees/T1/HEAD.lock>) = 0
";
        let expect = OwnSyncs {
            events: 0.5,
            orders: 1.0,
        };
        assert_eq!(count_syncs(calls, 2), expect);
    }
}
