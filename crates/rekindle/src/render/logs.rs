//! What agents and checks printed, for a terminal.

use std::fmt::Write as _;

use rekindle_app::AttemptLog;
use rekindle_text::{excerpt, printable, shell_word};

use super::{FAINT, STRONG, hint, styled};

/// Returns the output of an attempt, of which this many lines at the beginning are not shown.
pub(crate) fn log(log: &AttemptLog, lines: &[String], n_hidden: usize) -> String {
    let at_work = if log.is_at_work { ", at work" } else { "" };
    let title = format!(
        "{} (attempt {}){at_work}",
        excerpt(&log.task, 80),
        log.attempt
    );
    let mut text = format!("{}\n", styled(STRONG, &title));
    if n_hidden > 0 {
        let what = format!("  [{n_hidden} earlier lines]");
        put!(text, "{}\n", styled(FAINT, &what));
    }
    for line in lines {
        put!(text, "  {}\n", printable(line));
    }
    text
}

/// Returns one line that was printed just now.
pub(crate) fn log_line(log: &AttemptLog, line: &str) -> String {
    let task = styled(FAINT, &format!("{} |", excerpt(&log.task, 40)));
    format!("{task} {}\n", printable(line))
}

/// Returns the last lines of a failed task's output, and the command that shows all of it.
pub(crate) fn failed_output(id: &str, task: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("the last lines of {}:\n", excerpt(task, 80));
    for line in lines {
        put!(text, "  {} {}\n", styled(FAINT, "|"), excerpt(line, 200));
    }
    let command = format!("rekindle logs {} {}", shell_word(id), shell_word(task));
    text.push_str(&hint(&format!("`{command}` shows all of its output")));
    text
}
