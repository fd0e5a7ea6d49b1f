//! Decisions about a run: `retry`, `skip`, `cancel`, `stop`.

use rekindle_app::{Asked, Decided, Decision, Project, Query, Tasks, Urgency};
use rekindle_model::WorkflowId;
use rekindle_wire::{DecidedOut, exit};

use super::named;
use crate::arguments::{CancelArguments, RetryArguments, SkipArguments, StopArguments};
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn retry(
    project: &Project,
    arguments: RetryArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let tasks = if arguments.all || arguments.about.tasks.is_empty() {
        Tasks::Blocked
    } else {
        Tasks::Named(arguments.about.tasks)
    };
    let query = of(arguments.about.run);
    let decided = rekindle_app::decide(project, &query, Decision::Retry, &tasks)?;
    Ok(show(&decided, Decision::Retry, terminal))
}

pub(super) fn skip(
    project: &Project,
    arguments: SkipArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    if arguments.about.tasks.is_empty() {
        let message = "no task was named".to_owned();
        return Err(Failure::usage(message).hint("name each task to skip: `rekindle skip TASK`"));
    }
    let query = of(arguments.about.run);
    let tasks = Tasks::Named(arguments.about.tasks);
    let decided = rekindle_app::decide(project, &query, Decision::Skip, &tasks)?;
    Ok(show(&decided, Decision::Skip, terminal))
}

pub(super) fn cancel(
    project: &Project,
    arguments: CancelArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let canceled = rekindle_app::cancel(project, &of(arguments.id), arguments.yes, terminal)?;
    match canceled {
        None => terminal.declined(),
        Some(id) => told(&id, "run_cancelled", Vec::new(), "canceled", terminal),
    }
    Ok(exit::DONE)
}

pub(super) fn stop(
    project: &Project,
    arguments: StopArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let urgency = if arguments.now {
        Urgency::Now
    } else {
        Urgency::AfterRunningTasks
    };
    let (id, asked) = rekindle_app::stop(project, &of(arguments.id), urgency)?;
    let (event, tasks) = match &asked {
        Asked::Nobody => ("not_at_work", Vec::new()),
        Asked::Rekindle(_) => ("asked_to_stop", Vec::new()),
        Asked::Workers(tasks) => ("asked_to_stop", tasks.clone()),
        Asked::LeftToFinish(tasks) => ("left_to_finish", tasks.clone()),
    };
    told(&id, event, tasks, &render::asked(&asked), terminal);
    Ok(exit::DONE)
}

/// Returns the query of the named run, or of the open one.
fn of(id: Option<String>) -> Query {
    id.map_or_else(Query::default, named)
}

fn show(decided: &Decided, decision: Decision, terminal: &mut Terminal) -> u8 {
    let text = render::decided(decided, decision);
    let tasks = decided.tasks.clone();
    told(&decided.id, decision.event(), tasks, &text, terminal);
    if !decided.tasks.is_empty() {
        terminal.hint(&render::hint(&render::resume_of(&decided.id)));
    }
    exit::DONE
}

fn told(id: &WorkflowId, event: &str, tasks: Vec<String>, text: &str, terminal: &mut Terminal) {
    if terminal.is_json() {
        terminal.json(&DecidedOut {
            schema: "rekindle.decided/1",
            id: id.to_string(),
            event: event.to_owned(),
            tasks,
        });
    } else {
        terminal.result(&format!("{text}\n"));
    }
}
