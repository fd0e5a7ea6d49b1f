//! The end of a run of 20,000 tasks next to that of one of 1,000: what grows with the tasks that are done.

use std::path::Path;
use std::process::{Command, Stdio};

use xtask::files;

use crate::chore::Setting;
use crate::generate::{self, Instant};
use crate::git_trace::{moment, text};
use crate::measure::{Contender, Meter, milliseconds};
use crate::report::{Section, Table, Target, count, figure};

const SIZES: [u32; 2] = [1000, 20_000];
/// The tasks that are left, which are measured.
const N_LEFT: u32 = 200;
const N_RUNS: u32 = 9;
const MOST_MS_TO_PLAN: f64 = 300.0;
const MOST_GROWTH: f64 = 1.2;
const RUN: &str = "20260105-0900-long-a1b2";
const LOGS: &str = "events/orchestrator";
/// 2026-01-05T09:00:00Z.
const START: u64 = 1_767_603_600;

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let meter = Meter::new(&setting.folder)?;
    let mut rows = Vec::new();
    let mut measured = Vec::new();
    for size in SIZES {
        println!("{size} tasks");
        let folder = files::empty_folder(setting.folder.join("long-run"))?;
        prepare(&folder, size)?;
        let mut plan = Command::new(&setting.rekindle);
        plan.arg("plan").current_dir(&folder);
        let plan = Contender {
            shown: String::new(),
            command: Some(plan),
            n_runs: N_RUNS,
        };
        let took = meter.in_turns(&[plan])?;
        let took = took.into_iter().flatten().next();
        let took = took.ok_or("nothing was measured")?;
        let [wall, cpu] = [took.wall, took.cpu].map(|time| time.as_secs_f64() * 1000.0);
        let mut resume = Command::new(&setting.rekindle);
        milliseconds(resume.args(["resume", "--yes"]).current_dir(&folder))?;
        let a_task = pace(&folder)?;
        let shown = [wall, cpu, a_task].map(figure);
        rows.push([count(u64::from(size))].into_iter().chain(shown).collect());
        measured.push((wall, a_task));
    }
    let growth = measured[1].1 / measured[0].1;
    Ok(Section {
        title: "The end of a long run",
        about: format!(
            "Runs of which all tasks but the last {N_LEFT} have landed: `rekindle plan`, best of {N_RUNS}, then `rekindle resume --jobs 2` with the agent `true`.\n\
             A landing is the time between the events of two landings, on average; the start of the resume does not count."
        ),
        table: Table {
            n_text: 0,
            head: &["tasks", "`plan`, ms", "`plan`, ms of CPU", "a landing, ms"],
            rows,
        },
        targets: vec![
            Target::below("plan of 20,000 tasks", measured[1].0, MOST_MS_TO_PLAN, "ms"),
            Target::below("growth of a landing", growth, MOST_GROWTH, "times"),
        ],
        ..Section::default()
    })
}

/// Makes a repository with a run of which all but the last tasks have landed.
fn prepare(folder: &Path, size: u32) -> Result<(), String> {
    generate::repository(folder)?;
    let base = git(folder, &["rev-parse", "HEAD"], "")?;
    let done: Vec<String> = (0..size - N_LEFT).map(id).collect();
    let mut commits = String::new();
    for (at, id) in (START..).zip(&done) {
        let message =
            format!("[{id}] x\n\nRekindle-Run: {RUN}\nRekindle-Task: {id}\nRekindle-Attempt: 1\n");
        let from = if at == START {
            format!("from {base}\n")
        } else {
            String::new()
        };
        commits.push_str(&format!(
            "commit refs/heads/result\ncommitter bench <bench@localhost> {at} +0000\ndata {}\n{message}{from}\n",
            message.len()
        ));
    }
    git(folder, &["fast-import", "--quiet"], &commits)?;
    let landed = git(
        folder,
        &["rev-list", "--reverse", "result", &format!("^{base}")],
        "",
    )?;
    let run = folder.join(".agent-memory/runs").join(RUN);
    let write = |name: &str, text: String| files::write(run.join(name), text);
    for name in ["prd.md", "plan.md", "constitution.md"] {
        write(name, "# Long\n\nMany tasks.\n".to_owned())?;
    }
    let mut tasks = Vec::new();
    for id in (0..size).map(id) {
        tasks.push(format!(r#"{{"id":"{id}","title":"x","allow_empty":true}}"#));
        write(&format!("tasks/{id}.md"), format!("## Task: {id} x\n"))?;
    }
    let tasks = tasks.join(",");
    write(
        "task-graph.json",
        format!(r#"{{"actor":"rekindle","tasks":[{tasks}]}}"#),
    )?;
    write(
        "rekindle-run.json",
        format!(
            r#"{{"schema":"rekindle.run-settings/1","branch":"result","base":"{base}","verify":[],"retries":2,"timeout_seconds":2700,"agent":{{"command":"true"}},"jobs":2}}"#
        ),
    )?;
    let event = |at: u64, kind: &str, rest: &str| {
        let at = Instant(at).long();
        format!(
            r#"{{"event_type":"{kind}","run_id":"{RUN}","timestamp":"{at}","actor":"orchestrator",{rest}}}"#
        ) + "\n"
    };
    let mut log = event(
        START,
        "run_started",
        r#""details":{"initiated_by":"rekindle run"}"#,
    );
    for phase in [1, 2] {
        let rest = format!(
            r#""details":{{"from_phase":{},"to_phase":{phase}}}"#,
            phase - 1
        );
        log.push_str(&event(START, "phase_transition", &rest));
    }
    for ((at, id), commit) in (START..).zip(&done).zip(landed.lines()) {
        let rest = format!(r#""task_id":"{id}","details":{{"attempt":1,"commit":"{commit}"}}"#);
        log.push_str(&event(at, "task_completed", &rest));
    }
    write(&format!("{LOGS}/20260105-090000.jsonl"), log)
}

fn id(number: u32) -> String {
    format!("T{number:05}")
}

/// Runs git with an input; returns what it prints.
fn git(folder: &Path, arguments: &[&str], input: &str) -> Result<String, String> {
    let input_file = folder.with_extension("input");
    files::write(&input_file, input)?;
    let file = std::fs::File::open(&input_file).map_err(|error| error.to_string())?;
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::from(file));
    let done = command
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !done.status.success() {
        return Err(format!(
            "git failed: {}",
            String::from_utf8_lossy(&done.stderr)
        ));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// Returns the milliseconds from one landing to the next, as the newest log has them.
fn pace(folder: &Path) -> Result<f64, String> {
    let logs = folder.join(".agent-memory/runs").join(RUN).join(LOGS);
    let mut logs = files::list(&logs)?;
    logs.sort();
    let newest = logs.last().ok_or("the resume left no log")?;
    let text_of_log = files::read(newest)?;
    let landings = text_of_log
        .lines()
        .filter(|line| line.contains("\"task_completed\""));
    let times: Vec<i64> = landings
        .filter_map(|line| moment(text(line, "timestamp")?))
        .collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Err("nothing has landed".to_owned());
    };
    let n_pauses = u32::try_from(times.len() - 1).map_or(f64::NAN, f64::from);
    let span = u32::try_from(last - first).map_or(f64::NAN, f64::from);
    Ok(span / 1000.0 / n_pauses)
}
