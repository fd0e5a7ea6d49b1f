//! `rekindle logs`: what agents and checks printed.

use rekindle_app::{Logs, Project, Query, Wanted};
use rekindle_wire::{LogOut, LogsOut, exit};

use crate::arguments::LogsArguments;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

/// How many lines of each task are shown where no task is named.
const MOST_LINES: usize = 20;

pub(super) fn logs(
    project: &Project,
    arguments: &LogsArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let wanted = Wanted {
        query: Query {
            protocol: arguments.protocol,
            name: arguments.id.clone(),
            ..Query::default()
        },
        task: arguments.task.clone(),
        attempt: arguments.attempt,
        raw: terminal.is_verbose(),
    };
    let logs = rekindle_app::logs(project, &wanted)?;
    if terminal.is_json() {
        terminal.json(&object(&logs));
    } else if arguments.follow {
        logs.follow(project, &mut |log, line| {
            terminal.result(&render::log_line(log, line));
        });
    } else {
        show(&logs, terminal);
    }
    Ok(exit::DONE)
}

fn show(logs: &Logs, terminal: &mut Terminal) {
    let is_one = logs.attempts.len() == 1;
    for log in &logs.attempts {
        let lines = logs.lines(log);
        let first = lines.len().saturating_sub(MOST_LINES);
        let shown = if is_one { &lines[..] } else { &lines[first..] };
        terminal.result(&render::log(log, shown, lines.len() - shown.len()));
    }
    if !is_one {
        let hint = "`rekindle logs ID TASK` shows all of one task, `-f` follows";
        terminal.hint(&render::hint(hint));
    }
}

fn object(logs: &Logs) -> LogsOut {
    let attempts = logs.attempts.iter().map(|log| LogOut {
        task: log.task.clone(),
        attempt: log.attempt,
        at_work: log.is_at_work,
        path: log.path.to_string(),
        lines: logs.lines(log),
    });
    LogsOut {
        schema: "rekindle.logs/1",
        id: logs.id.to_string(),
        attempts: attempts.collect(),
    }
}
