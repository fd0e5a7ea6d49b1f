//! What an agent pays for a hook that has nothing to say.

use std::path::{Path, PathBuf};

use super::chore::{Bench, Setting};
use super::race::{self, N_RUNS, Racer};
use super::report::{Section, Target};

pub(super) const BENCH: Bench = Bench {
    name: "hook",
    run: bench,
};

const MOST_MS: f64 = 10.0;

/// The log of a run that is over.
const OVER: &str = r#"{"event_type":"run_completed","timestamp":"2026-01-19T11:00:00Z","actor":"orchestrator","details":{"total_tasks":1,"tasks_completed":1}}"#;

fn bench(setting: &Setting) -> Result<Section, String> {
    let empty = made(setting.folder.join("empty"))?;
    let over = setting.folder.join("over");
    let run = over.join(".agent-memory/runs/20260119-0900-over-a1b2/events/orchestrator");
    let log = made(run)?.join("20260119-0900.jsonl");
    std::fs::write(&log, format!("{OVER}\n"))
        .map_err(|e| format!("cannot write `{}`: {e}", log.display()))?;
    let start: &[&str] = &["hook", "session-start", "--agent", "claude"];
    let tool: &[&str] = &["hook", "post-tool-use", "--agent", "claude"];
    let rekindle =
        |shown: &str, args, folder: &Path| Racer::new(shown, &setting.rekindle, args, folder);
    let mut racers = vec![
        rekindle("`rekindle hook session-start`, no workflow", start, &empty),
        rekindle(
            "`rekindle hook session-start`, a finished one",
            start,
            &over,
        ),
        rekindle("`rekindle hook post-tool-use`", tool, &over),
    ];
    racers.extend(race::known(&empty)?);
    let racers = race::race(racers)?;
    let [nothing, finished, tool] = [0, 1, 2].map(|at| racers[at].median());
    Ok(Section {
        title: "Hooks",
        about: vec![format!(
            "Wall time of a hook that has nothing to say, {N_RUNS} runs of each in turns, started \
             by one process; the targets are for the median."
        )],
        table: race::table(&racers),
        targets: vec![
            Target::below("where there is no workflow", nothing, MOST_MS, "ms"),
            Target::below("where all is finished", finished, MOST_MS, "ms"),
            Target::below("after a tool was used", tool, MOST_MS, "ms"),
        ],
        standings: Vec::new(),
        chart: None,
    })
}

fn made(folder: PathBuf) -> Result<PathBuf, String> {
    std::fs::create_dir_all(&folder)
        .map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    Ok(folder)
}
