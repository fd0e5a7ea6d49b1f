//! What `rekindle torture` shows: the score.

use std::fmt::Write as _;

use rekindle_wire::torture::Score;

use super::{GOOD, WARNING, styled};

/// One line after each run.
pub(crate) fn torture_so_far(score: &Score) -> String {
    format!(
        "{} runs, {} kills, {} stops, {} resumes, {} faults\n",
        score.runs,
        score.kills(),
        score.stopped,
        score.resumes,
        score.wrong.len()
    )
}

pub(crate) fn torture(score: &Score) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        put!(text, "{name:<28} {value}\n");
    };
    let killed = &score.killed;
    line("seed, workers", format!("{}, {}", score.seed, score.jobs));
    line("runs, tasks", format!("{}, {}", score.runs, score.tasks));
    line(
        "kills",
        format!(
            "{} (orchestrators {}, workers {}, agents {}, all at once {})",
            score.kills(),
            killed.orchestrators,
            killed.workers,
            killed.agents,
            killed.everything
        ),
    );
    line("stopped and let go on", score.stopped.to_string());
    line("resumes", score.resumes.to_string());
    line("tasks landed twice", score.landed_twice.to_string());
    line("tasks lost", score.lost.to_string());
    line("bytes of work lost", score.bytes_lost.to_string());
    line("processes left", score.processes_left.to_string());
    line("worktrees leaked", score.worktrees_leaked.to_string());
    if let Some(restart) = &score.restart {
        line(
            "restart to first deed",
            format!(
                "median {:.1} ms, 99 % below {:.1} ms, of {}",
                restart.median_ms, restart.p99_ms, restart.count
            ),
        );
    }
    if score.wrong.is_empty() {
        put!(text, "\n{}\n", styled(GOOD, "Nothing was wrong."));
    } else {
        put!(text, "\n{}\n", styled(WARNING, "Wrong:"));
        for fault in &score.wrong {
            put!(text, "- {}\n", rekindle_text::excerpt(fault, 2000));
        }
    }
    text
}
