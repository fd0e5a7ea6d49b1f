//! `rekindle run`, and the worker that it starts.

use std::time::Duration;

use camino::Utf8Path;
use rekindle_app::{
    Ending, EngineWish, Outcome, Outline, PlanText, Project, Ran, Resumed, RunDefaults, RunOptions,
};
use rekindle_model::{AgentChoice, CommandSource, LeftFolder, LeftKind, WorkflowId};
use rekindle_wire::{CleanOut, NotRemovedOut, OrphanOut, RemovedOut, RunOut, exit};

use super::resume;
use crate::arguments::{AgentArguments, ResumeArguments, RunArguments};
use crate::environment;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

/// A worker writes a sign of life every half minute; ten missing ones are no accident.
const SILENT_AFTER: Duration = Duration::from_secs(300);

pub(super) fn run(
    project: &Project,
    arguments: &RunArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let configured = configured(project, terminal)?;
    let defaults = configured.run;
    let (verify, verify_from) = if arguments.verify.is_empty() {
        (defaults.verify, configured.verify_from)
    } else {
        (arguments.verify.clone(), CommandSource::Typed)
    };
    let options = RunOptions {
        engine: wish(project, &arguments.agent),
        branch: arguments.branch.clone(),
        verify,
        verify_from,
        retries: arguments.retries.unwrap_or(defaults.retries),
        timeout: arguments.timeout,
        default_timeout: defaults.timeout,
        dry_run: arguments.dry_run,
        yes: arguments.yes,
    };
    let plan = plan(project, &arguments.plan, terminal)?;
    match rekindle_app::run(project, &plan, &options, terminal)? {
        Ran::Shown(outline) => {
            shown(&outline, terminal);
            Ok(exit::DONE)
        }
        Ran::Declined => {
            let declined = Resumed::plain(None, Outcome::Declined);
            Ok(resume::show(project, declined, terminal))
        }
        Ran::Instead(id) => resume::again(project, &id, &options.engine, terminal),
        Ran::Ended(id, ending) => {
            show_failures(project, &id, &ending, terminal);
            show(&id.to_string(), &ending, terminal);
            Ok(code(&ending))
        }
    }
}

/// Returns how the tasks of a list are run when it is resumed.
pub(super) fn of_list(
    project: &Project,
    arguments: &ResumeArguments,
    terminal: &mut Terminal,
) -> Result<RunOptions, Failure> {
    let configured = configured(project, terminal)?;
    let defaults = configured.run;
    Ok(RunOptions {
        engine: EngineWish {
            restart: arguments.restart,
            ..wish(project, &arguments.agent)
        },
        branch: arguments.branch.clone(),
        verify: defaults.verify,
        verify_from: configured.verify_from,
        retries: defaults.retries,
        timeout: None,
        default_timeout: defaults.timeout,
        dry_run: false,
        yes: arguments.yes,
    })
}

/// Reads the plan: a file, or standard input.
fn plan(project: &Project, name: &Utf8Path, terminal: &mut Terminal) -> Result<PlanText, Failure> {
    if name != rekindle_app::STANDARD_INPUT {
        return Ok(rekindle_app::read_plan(project, name)?);
    }
    let bytes = terminal.whole_input().map_err(|error| {
        Failure::cannot(format!(
            "the plan cannot be read from standard input: {error}"
        ))
    })?;
    Ok(PlanText {
        name: name.to_owned(),
        bytes,
    })
}

/// Shows what a run would do.
fn shown(outline: &Outline, terminal: &mut Terminal) {
    if terminal.is_json() {
        terminal.json(&outline.object());
    } else {
        let verbose = terminal.is_verbose();
        terminal.result(&render::outline(outline, verbose));
        terminal.result(&render::waves(outline));
    }
}

/// What is configured for runs.
struct ConfiguredRun {
    run: RunDefaults,
    verify_from: CommandSource,
}

/// Reads the configuration, and shows what a person has to see of it.
fn configured(project: &Project, terminal: &mut Terminal) -> Result<ConfiguredRun, Failure> {
    let configured = rekindle_app::configured(project)?;
    for warning in &configured.warnings {
        let warning = rekindle_text::printable(warning).into_owned();
        terminal.hint(&format!("warning: {warning}\n"));
    }
    let config = configured.config;
    // A repository that was cloned can bring a configuration; what it would run must be seen.
    for command in config.project_commands() {
        terminal.hint(&format!(
            "note: `{}` sets {}: {}\n",
            command.file,
            rekindle_text::printable(&command.key),
            rekindle_text::visible_command(&command.text)
        ));
    }
    Ok(ConfiguredRun {
        verify_from: config.source_of("run.verify"),
        run: config.run,
    })
}

/// Returns how tasks are run where nothing was typed about it.
pub(super) fn no_wish() -> EngineWish {
    EngineWish {
        agent: None,
        jobs: None,
        max_cost: None,
        fresh: false,
        restart: false,
        silent_after: SILENT_AFTER,
    }
}

/// Returns what was typed about how tasks are run.
pub(super) fn wish(project: &Project, arguments: &AgentArguments) -> EngineWish {
    let agent = match (&arguments.agent_cmd, &arguments.agent) {
        // A relative path is meant where it was typed; an agent starts in a worktree.
        (Some(command), _) => Some(AgentChoice::Command(anchored(project, command))),
        (None, Some(name)) => Some(AgentChoice::Named(name.clone())),
        (None, None) => None,
    };
    EngineWish {
        agent,
        jobs: arguments.jobs.map(usize::from),
        fresh: arguments.fresh_worktrees,
        restart: false,
        max_cost: arguments.max_cost,
        silent_after: environment::silent_after().unwrap_or(SILENT_AFTER),
    }
}

/// Returns a shell command whose program does not depend on the folder in which it is started.
fn anchored(project: &Project, command: &str) -> String {
    rekindle_app::anchored(command, &project.typed_path(Utf8Path::new("")), &|path| {
        path.is_file()
    })
}

/// How many lines of a failed task's output are shown.
const MOST_LINES: usize = 10;
/// Of how many failed tasks.
const MOST_FAILED: usize = 3;

/// Shows the last lines of what failed tasks printed.
pub(super) fn show_failures(
    project: &Project,
    id: &WorkflowId,
    ending: &Ending,
    terminal: &mut Terminal,
) {
    terminal.end_live();
    // A task that waits for another one printed nothing about it.
    let failed = ending.given_up.iter().filter(|task| task.behind.is_none());
    let short_id = rekindle_app::short_id(project, id);
    for given_up in failed.take(MOST_FAILED) {
        let lines = rekindle_app::last_lines(project, id, &given_up.task, MOST_LINES);
        terminal.hint(&render::failed_output(&short_id, &given_up.task, &lines));
    }
}

/// Shows how a run ended.
pub(super) fn show(id: &str, ending: &Ending, terminal: &mut Terminal) {
    terminal.end_live();
    if terminal.is_json() {
        terminal.json(&RunOut {
            schema: "rekindle.run/1",
            id: id.to_owned(),
            landed: ending.tally.landed,
            unchanged: ending.unchanged.clone(),
            skipped: ending.tally.skipped,
            blocked: ending
                .given_up
                .iter()
                .map(|given_up| format!("{}: {}", given_up.task, given_up.reason))
                .collect(),
            left: ending.tally.left + ending.tally.running,
            total: ending.tally.total,
            attempts: ending.attempts,
            all_attempts: ending.all_attempts,
            cost_microdollars: ending.cost.told,
            attempts_without_cost: ending.cost.untold,
            branch: ending.branch.clone(),
            tip: ending.tip.clone(),
            stopped: ending.stopped,
            cannot_start: ending.cannot_start.clone(),
        });
    } else {
        terminal.note(&render::ending(id, ending));
    }
}

pub(super) fn code(ending: &Ending) -> u8 {
    let complete = ending.tally.landed + ending.tally.skipped == ending.tally.total;
    if complete { exit::DONE } else { exit::CANNOT }
}

/// Does one attempt; started by an orchestrator, never by a person.
pub(super) fn worker(order: &Utf8Path) -> Result<u8, Failure> {
    let key = environment::key();
    rekindle_app::worker(order, key.as_deref(), environment::worker_clock()?)?;
    Ok(exit::DONE)
}

/// Removes the worktrees that runs left behind, after a yes.
fn orphan_out(orphan: &LeftFolder) -> OrphanOut {
    OrphanOut {
        path: orphan.path.to_string(),
        task: orphan.task.clone(),
        since: match orphan.kind {
            LeftKind::Orphaned { since } => since.map(rekindle_text::format_seconds),
            LeftKind::Landed => None,
        },
    }
}

pub(super) fn clean(
    project: &Project,
    names: &[String],
    yes: bool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let cleaning = rekindle_app::clean(project, names, yes, terminal)?;
    if terminal.is_json() {
        terminal.json(&CleanOut {
            schema: "rekindle.clean/1",
            removed: cleaning
                .removed
                .iter()
                .map(|cleaned| RemovedOut {
                    path: cleaned.leftover.path.to_string(),
                    saved_as: cleaned.saved_as.clone(),
                    not_kept: cleaned.ignored.clone(),
                })
                .collect(),
            kept: cleaning
                .kept
                .iter()
                .chain(cleaning.stuck.iter().map(|stuck| &stuck.leftover))
                .map(|leftover| leftover.path.to_string())
                .collect(),
            failed: cleaning
                .stuck
                .iter()
                .map(|stuck| NotRemovedOut {
                    path: stuck.leftover.path.to_string(),
                    reason: stuck.error.to_string(),
                    hint: stuck.hint(),
                })
                .collect(),
            orphans: cleaning.orphans.iter().map(orphan_out).collect(),
        });
    } else {
        terminal.result(&render::cleaning(&cleaning));
        if yes {
            // The question would have said so.
            terminal.note(&render::not_kept(&cleaning));
        }
        if cleaning.removed.iter().any(|gone| gone.saved_as.is_some()) {
            terminal.hint(&render::hint("`rekindle rescue list` lists the backups"));
        }
        terminal.note(&render::stuck(&cleaning));
    }
    let is_done = cleaning.stuck.is_empty();
    Ok(if is_done { exit::DONE } else { exit::CANNOT })
}
