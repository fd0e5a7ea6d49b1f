//! The parts of a task's time, in a run whose agent does nothing.
//!
//! The release binary is measured from outside: its events have timestamps to the microsecond, and git
//! records the start and end of its processes; [`timeline`](crate::timeline) combines both. strace only
//! counts rekindle's own syncs, since it slows a run down too much for its times to be useful.

use std::path::Path;
use std::process::Command;

use xtask::files;

use crate::chore::Setting;
use crate::measure::milliseconds;
use crate::peer::STRACE;
use crate::report::{Section, Table, figure};
use crate::timeline::{PARTS, Timeline, timeline};
use crate::{git_trace, overhead};

const N_TASKS: u32 = 100;
const N_RUNS: u32 = 3;
/// The number of tasks under strace, which takes a tenth of a second for each.
const N_COUNTED: u32 = 20;

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = setting.folder.join("overhead");
    let mut plain = [f64::INFINITY; 2];
    let mut traced = [const { None }; 2];
    // In turns, so that a busy moment of the machine affects all of them.
    for _ in 0..N_RUNS {
        for (at, jobs) in [1, 2].into_iter().enumerate() {
            overhead::prepare(&folder, N_TASKS)?;
            let command = &mut overhead::rekindle(setting, jobs);
            plain[at] = plain[at].min(overhead::timed(command, &folder, N_TASKS)?);
            let run = trace(setting, &folder, jobs)?;
            let is_best = |best: &Timeline| run.wall < best.wall;
            if traced[at].as_ref().is_none_or(is_best) {
                traced[at] = Some(run);
            }
        }
    }
    let [Some(one), Some(two)] = traced else {
        return Err("nothing was measured".to_owned());
    };
    let syncs = own_syncs(setting, &folder)?;
    Ok(Section {
        title: "The parts of a task's time",
        about: about(plain, [&one, &two], syncs.is_some()),
        table: Table {
            n_text: 2,
            head: &[
                "part",
                "from … to",
                "git processes",
                "syncs",
                "ms, `--jobs 1`",
                "ms, `--jobs 2`",
            ],
            rows: rows(&one, &two, syncs),
        },
        ..Section::default()
    })
}

fn about(plain: [f64; 2], [one, two]: [&Timeline; 2], are_counted: bool) -> String {
    let counted = if are_counted {
        format!(
            "were counted by strace in another run of {N_COUNTED} tasks, whose times are not used"
        )
    } else {
        "were not counted: strace is not installed".to_owned()
    };
    let [plain_one, plain_two] = plain.map(figure);
    let [pause_one, pause_two] = [one.pause, two.pause].map(figure);
    let [event_one, event_two] = [one.one_event, two.one_event].map(figure);
    format!(
        "The plan of the section above with {N_TASKS} tasks, in separate runs; the fastest of {N_RUNS} in turns for each number of workers.\n\
         Every figure is for one task, and those of a column are from the same run: from the timestamps of its events and of its git processes (`GIT_TRACE2_EVENT`).\n\
         The trace itself takes time: without it, a task took {plain_one} ms with one worker and {plain_two} ms with two.\n\
         The parts add up to the wall time; those of two workers, which overlap, are halved.\n\
         A pause is the time from the end of one git process to the start of the next while rekindle does nothing else: {pause_one} ms with one worker, {pause_two} ms with two.\n\
         An event is the time from `task_claimed` to the next git process, less a pause: {event_one} ms and {event_two} ms; it creates the log file, and the other events are assumed to cost the same.\n\
         Processes and syncs are those of `--jobs 2`; one worker has nothing to merge.\n\
         git counts its own syncs, and their time is part of its rows.\n\
         rekindle's own syncs {counted}."
    )
}

fn rows(one: &Timeline, two: &Timeline, syncs: Option<OwnSyncs>) -> Vec<Vec<String>> {
    let count = |value: f64| format!("{value:.1}");
    let own =
        |of: fn(OwnSyncs) -> f64| syncs.map_or("not counted".to_owned(), |own| count(of(own)));
    let parts = PARTS.iter().zip(&one.parts).zip(&two.parts).enumerate();
    let mut rows: Vec<Vec<String>> = parts
        .map(|(at, (((name, how), one), two))| {
            let [n_processes, n_syncs] = match at {
                0 => [String::new(), own(|own| own.orders)],
                7 => [String::new(), own(|own| own.events)],
                _ if two.n_processes > 0.0 => [two.n_processes, two.n_syncs].map(count),
                _ => [const { String::new() }; 2],
            };
            let [one, two] = [one, two].map(|part| figure(part.milliseconds));
            let (name, how) = ((*name).to_owned(), (*how).to_owned());
            vec![name, how, n_processes, n_syncs, one, two]
        })
        .collect();
    let how = "wall time of the run, divided by the tasks";
    let (wall_one, wall_two) = (figure(one.wall), figure(two.wall));
    rows.push(
        ["all", how, "", "", &wall_one, &wall_two]
            .map(str::to_owned)
            .to_vec(),
    );
    rows
}

/// Runs the plan with a trace of git.
fn trace(setting: &Setting, folder: &Path, jobs: u32) -> Result<Timeline, String> {
    overhead::prepare(folder, N_TASKS)?;
    let trace = setting.folder.join("git-trace");
    files::write(&trace, "")?;
    let mut command = overhead::rekindle(setting, jobs);
    command.env(git_trace::VARIABLE, &trace);
    let wall = overhead::timed(&mut command, folder, N_TASKS)?;
    let mut logs = String::new();
    for file in files::list_all(&folder.join(".agent-memory"))? {
        if file.extension().is_some_and(|found| found == "jsonl") {
            logs.push_str(&files::read(file)?);
        }
    }
    timeline(&logs, &git_trace::read(&files::read(&trace)?), jobs, wall)
}

/// How often rekindle itself synced for a task.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OwnSyncs {
    /// For event logs.
    events: f64,
    /// For orders of workers.
    orders: f64,
}

/// Counts rekindle's syncs if strace is installed.
fn own_syncs(setting: &Setting, folder: &Path) -> Result<Option<OwnSyncs>, String> {
    let Some(strace) = STRACE.find() else {
        return Ok(None);
    };
    overhead::prepare(folder, N_COUNTED)?;
    let calls = setting.folder.join("sync-calls");
    files::write(&calls, "")?;
    let rekindle = overhead::rekindle(setting, 2);
    let mut command = Command::new(strace);
    command
        .args(["-f", "-qq", "-y", "-e", "signal=none"])
        .args(["-e", "trace=fsync,fdatasync,sync,syncfs", "-o"])
        .arg(&calls)
        .arg(rekindle.get_program())
        .args(rekindle.get_args())
        .current_dir(folder);
    milliseconds(&mut command)?;
    Ok(Some(count_syncs(&files::read(&calls)?, N_COUNTED)))
}

/// Counts calls by the path after the file's number: `fsync(3</p/.rekindle/runs/r/T1>) = 0`.
fn count_syncs(calls: &str, n_tasks: u32) -> OwnSyncs {
    let count = |part: &str| {
        // An interrupted call has a second line, without the path.
        let found = calls.lines().filter(|line| line.contains(part)).count();
        u32::try_from(found).map_or(f64::NAN, f64::from) / f64::from(n_tasks)
    };
    OwnSyncs {
        events: count("/events/"),
        orders: count("/.rekindle/runs/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_counted_by_their_paths() {
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
