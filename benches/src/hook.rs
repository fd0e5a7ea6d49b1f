//! How long a hook delays an agent, measured by hyperfine.

use std::path::Path;
use std::process::Command;

use xtask::{files, packages, run};

use crate::chore::Setting;
use crate::peer;
use crate::report::{Section, Table, Target};

const HYPERFINE: packages::Package = ("hyperfine", "1.20.0");
const MOST_MS: f64 = 10.0;
/// A hook that may write a checkpoint.
const MOST_MS_TO_KEEP: f64 = 50.0;
const N_RUNS: &str = "400";

/// The number of runs in the large projects, and how many of them are open.
const N_MANY: u32 = 5000;
const N_OPEN: u32 = 10;
/// The number of runs next to a session that used one.
const N_SOME: u32 = 60;
/// What a session used.
const USED: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":".agent-memory/runs/20260101-0000-many-a1b2/plan.md"}}]}}"#;
const STARTED: &str = r#"{"event_type":"session_resumed","timestamp":"2026-01-19T09:00:00Z","actor":"orchestrator","details":{}}"#;
const COMPLETED: &str = r#"{"event_type":"run_completed","timestamp":"2026-01-19T11:00:00Z","actor":"orchestrator","details":{"total_tasks":1,"tasks_completed":1}}"#;
const SUMMARY: &str =
    "# Run Summary: over\n\n## Outcome\n\nsuccess\n\n## Statistics\n\n- Tasks: 1/1\n- Retries: 0\n";

/// The input of a hook.
const INPUT: &str =
    r#"{"session_id":"bench","hook_event_name":"SessionStart","source":"startup","cwd":"."}"#;

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let hyperfine = packages::rust(HYPERFINE)?;
    let folder = |name: &str| setting.folder.join(name);
    let empty = files::empty_folder(folder("empty"))?;
    let (over, many, ended) = (folder("over"), folder("many"), folder("many-ended"));
    let log = ".agent-memory/runs/20260119-0900-over-a1b2/events/orchestrator/20260119-0900.jsonl";
    files::write(over.join(log), format!("{COMPLETED}\n"))?;
    make_many(&many, N_MANY, N_OPEN, true)?;
    make_many(&ended, N_MANY, N_OPEN, false)?;
    let some = folder("some");
    make_many(&some, N_SOME, N_SOME, false)?;
    let input = folder("hook.json");
    files::write(&input, INPUT)?;
    let rekindle = quoted(&setting.rekindle);
    let start = format!("{rekindle} hook session-start --agent claude");
    let tool = format!("{rekindle} hook post-tool-use --agent claude");
    // The session used a run, so it is not the cheap test that ends the hook.
    let transcript = folder("transcript.jsonl");
    files::write(&transcript, format!("{USED}\n"))?;
    let told = folder("keep.json");
    files::write(
        &told,
        format!(
            r#"{{"session_id":"bench","transcript_path":"{}","cwd":"."}}"#,
            transcript.display()
        ),
    )?;
    let keep = |moment: &str| format!("{rekindle} hook {moment} --agent claude");
    let kept =
        |moment: &str| format!("`rekindle hook {moment}`, {N_SOME} open runs, one of them used");
    let (python, version) = peer::python()?;
    let shown = |what: &str| format!("`rekindle hook session-start`, {what}");
    let programs = [
        (shown("no workflow"), start.clone(), &empty),
        (shown("a completed one"), start.clone(), &over),
        (
            shown(&format!("{N_MANY} runs with summaries, {N_OPEN} open")),
            start.clone(),
            &many,
        ),
        (
            shown(&format!("{N_MANY} runs without, {N_OPEN} open")),
            start,
            &ended,
        ),
        ("`rekindle hook post-tool-use`".to_owned(), tool, &over),
        (kept("pre-compact"), keep("pre-compact"), &some),
        (kept("session-end"), keep("session-end"), &some),
        ("`true`".to_owned(), quoted(&peer::TRUE.need()?), &empty),
        (
            format!("`python3 -c pass`, {version}"),
            format!("{} -c pass", quoted(&python)),
            &empty,
        ),
    ];
    let figures = folder("hook.csv");
    let (mut rows, mut medians) = (Vec::new(), Vec::new());
    for (at, (shown, command, folder)) in programs.into_iter().enumerate() {
        let mut call = Command::new(&hyperfine);
        let is_kept = (5..7).contains(&at);
        let input = if is_kept { &told } else { &input };
        if is_kept {
            call.env("REKINDLE_NOW", "2026-01-19T12:00:00Z");
        }
        call.args(["--shell=none", "--style=none", "--warmup=20"])
            .args(["--runs", N_RUNS, "--input"])
            .arg(input)
            .arg("--export-csv")
            .arg(&figures);
        run::check(call.arg(&command).current_dir(folder))?;
        let times = read(&files::read(&figures)?).ok_or("cannot read the output of hyperfine")?;
        medians.push(times[1]);
        let times = times.map(|time| format!("{time:.2}"));
        rows.push([shown].into_iter().chain(times).collect());
    }
    let target = |what, at: usize| Target::below(what, medians[at], MOST_MS, "ms");
    Ok(Section {
        title: "Hooks",
        about: format!(
            "Wall time of a hook: {N_RUNS} runs of each by hyperfine {}, without a shell; the targets are for the median.\n\
             For a run without a summary, the last line of its last log is read once; a record keeps what was found.\n\
             A session that used a run gets a checkpoint of it, unless there is a new one already.",
            HYPERFINE.1
        ),
        table: Table {
            n_text: 1,
            head: &["program", "minimum ms", "median ms", "maximum ms"],
            rows,
        },
        targets: vec![
            target("without a workflow", 0),
            target("with a completed one", 1),
            target("among many with summaries", 2),
            target("among many without", 3),
            target("after the use of a tool", 4),
            Target::below("before a compaction", medians[5], MOST_MS_TO_KEEP, "ms"),
            Target::below("at the end of a session", medians[6], MOST_MS_TO_KEEP, "ms"),
        ],
        ..Section::default()
    })
}

/// Makes a project of many runs, a few of which are open.
fn make_many(project: &Path, n_runs: u32, n_open: u32, with_summaries: bool) -> Result<(), String> {
    for n in 0..n_runs {
        let (day, hour, minute) = (n / 1440 + 1, n / 60 % 24, n % 60);
        let name = format!("202601{day:02}-{hour:02}{minute:02}-many-a1b2");
        let run = project.join(".agent-memory/runs").join(name);
        let mut log = format!("{STARTED}\n");
        if n % (n_runs / n_open) != 0 {
            log = format!("{log}{COMPLETED}\n");
            if with_summaries {
                files::write(run.join("summary.md"), SUMMARY)?;
            }
        }
        files::write(run.join("events/orchestrator/20260119-0900.jsonl"), log)?;
    }
    Ok(())
}

/// Reads the CSV of hyperfine; returns minimum, median and maximum in milliseconds.
fn read(csv: &str) -> Option<[f64; 3]> {
    let (names, figures) = csv.trim_end().split_once('\n')?;
    // The command comes first and may hold commas, so both lines are read from their ends.
    let figure = |name: &str| {
        let at = names.rsplit(',').position(|found| found == name)?;
        Some(figures.rsplit(',').nth(at)?.parse::<f64>().ok()? * 1000.0)
    };
    Some([figure("min")?, figure("median")?, figure("max")?])
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}
