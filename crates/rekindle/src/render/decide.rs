//! What decisions about a run come to.

use rekindle_app::{Asked, Decided, Decision};
use rekindle_model::WorkflowId;
use rekindle_text::shell_word;

use super::run::listed;

/// Returns what was decided about tasks.
pub(crate) fn decided(decided: &Decided, decision: Decision) -> String {
    let tasks = listed(&decided.tasks, 80);
    match (decision, decided.tasks.is_empty()) {
        (Decision::Retry, true) => "no task waits for a person".to_owned(),
        (Decision::Retry, false) => format!("to be tried again: {tasks}"),
        (Decision::Skip, _) => format!("skipped: {tasks}"),
    }
}

/// Returns who was asked to end, and what follows.
pub(crate) fn asked(asked: &Asked) -> String {
    match asked {
        Asked::Nobody => "nobody is at work on it".to_owned(),
        Asked::Rekindle(pid) => format!("asked process {pid} to stop"),
        Asked::Workers(tasks) => format!("asked the workers to stop: {}", listed(tasks, 80)),
        Asked::LeftToFinish(tasks) => format!(
            "nothing new starts; still at work: {} (`--now` stops them)",
            listed(tasks, 80)
        ),
    }
}

/// Returns the sentence that names the command to continue.
pub(crate) fn resume_of(id: &WorkflowId) -> String {
    let name = id.to_string();
    format!("continue with `rekindle resume {}`", shell_word(&name))
}

/// Returns the command of a verb about tasks of a run, as it can be pasted into a shell.
pub(crate) fn verb_of(verb: &str, run: &str, tasks: &[&str]) -> String {
    let run = shell_word(run);
    let words: Vec<_> = tasks.iter().map(|task| shell_word(task)).collect();
    let dashes = if tasks.iter().any(|task| task.starts_with('-')) {
        "-- "
    } else {
        ""
    };
    let words = words.join(" ");
    format!("rekindle {verb} --run {run} {dashes}{words}")
        .trim_end()
        .to_owned()
}
