//! `rekindle run`, and the worker that it starts.

use std::time::Duration;

use camino::Utf8Path;
use rekindle_app::{
    Agent, Ending, EngineOptions, Outcome, Project, Ran, Resumed, RunDefaults, RunOptions,
};
use rekindle_model::{CommandSource, LeftFolder, LeftKind};
use rekindle_wire::{CleanOut, NotRemovedOut, OrphanOut, RemovedOut, RunOut, exit};

use super::resume;
use crate::arguments::{AgentArguments, RunArguments};
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
    let Some((engine, defaults, verify_from)) = engine(project, &arguments.agent, terminal)? else {
        return Err(Failure::usage("no agent was given".to_owned())
            .hint("name one with `--agent NAME`, or a command with `--agent-cmd 'COMMAND'` (it gets the prompt on standard input)")
            .hint("`[agent] default = \"NAME\"` in `.rekindle/config.toml` sets the default"));
    };
    let (verify, verify_from) = if arguments.verify.is_empty() {
        (defaults.verify, verify_from)
    } else {
        (arguments.verify.clone(), CommandSource::Typed)
    };
    let timeout = arguments
        .timeout
        .or(engine.agent.timeout)
        .unwrap_or(defaults.timeout);
    let options = RunOptions {
        engine,
        branch: arguments.branch.clone(),
        verify,
        verify_from,
        retries: arguments.retries.unwrap_or(defaults.retries),
        timeout: Some(timeout.as_secs()),
        yes: arguments.yes,
    };
    let ran = rekindle_app::run(project, &arguments.plan, &options, terminal)?;
    Ok(report(project, &ran, terminal))
}

/// Returns how tasks are to be run and the configured defaults, or `None` where no agent is named anywhere.
pub(super) fn engine(
    project: &Project,
    arguments: &AgentArguments,
    terminal: &mut Terminal,
) -> Result<Option<(EngineOptions, RunDefaults, CommandSource)>, Failure> {
    let configured = rekindle_app::configured(project)?;
    for warning in &configured.warnings {
        let warning = rekindle_text::printable(warning).into_owned();
        terminal.hint(&format!("warning: {warning}\n"));
    }
    let config = configured.config;
    // A repository that was cloned can bring a configuration; what it would run must be seen.
    for command in config.project_commands() {
        terminal.hint(&format!(
            "note: `.rekindle/config.toml` sets {}: {}\n",
            rekindle_text::printable(&command.key),
            rekindle_text::visible_command(&command.text)
        ));
    }
    let named = arguments
        .agent
        .as_deref()
        .or_else(|| config.default_agent());
    let (agent, agent_from) = match (&arguments.agent_cmd, named) {
        (Some(command), _) => (Agent::shell(command), CommandSource::Typed),
        (None, Some(name)) => {
            let agent = config.agent(name).map_err(rekindle_app::Error::Config)?;
            (agent, config.source_of(&format!("agents.{name}.")))
        }
        (None, None) => return Ok(None),
    };
    let engine = EngineOptions {
        agent_from,
        agent,
        jobs: arguments.jobs.map(usize::from),
        default_jobs: config.run.jobs.get(),
        max_cost: arguments.max_cost,
        default_max_cost: config.run.max_cost.map(millionths),
        silent_after: environment::silent_after().unwrap_or(SILENT_AFTER),
    };
    let verify_from = config.source_of("run.verify");
    Ok(Some((engine, config.run, verify_from)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a limit of money is positive and far below the range"
)]
fn millionths(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

fn report(project: &Project, ran: &Ran, terminal: &mut Terminal) -> u8 {
    let Some(ending) = &ran.ending else {
        return resume::show(project, Resumed::plain(None, Outcome::Declined), terminal);
    };
    show(&ran.id.to_string(), ending, terminal);
    code(ending)
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
            cost_microdollars: ending.cost.told,
            attempts_without_cost: ending.cost.untold,
            branch: ending.branch.clone(),
            tip: ending.tip.clone(),
            stopped: ending.stopped,
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
            terminal.hint(&render::hint("`rekindle rescue list` lists saved work"));
        }
        terminal.note(&render::stuck(&cleaning));
    }
    let is_done = cleaning.stuck.is_empty();
    Ok(if is_done { exit::DONE } else { exit::CANNOT })
}
