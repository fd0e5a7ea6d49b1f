//! Commands for workers and scripts: events, heartbeats, checkpoints.

use rekindle_app::{Hearing, Project, Recorded};
use rekindle_model::Report;
use rekindle_wire::{MuteOut, exit};

use super::{named, query, resume};
use crate::arguments::{
    CheckpointArguments, CheckpointsArguments, EventArguments, HeartbeatArguments,
};
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn event(
    project: &Project,
    arguments: EventArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let report = Report {
        event: arguments.event,
        actor: arguments.actor,
        task: arguments.task,
        details: arguments.details,
    };
    let recorded = rekindle_app::event(project, &named(arguments.id), report)?;
    Ok(show(recorded, terminal))
}

pub(super) fn heartbeat(
    project: &Project,
    arguments: HeartbeatArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let report = Report::heartbeat(arguments.actor, arguments.task);
    let recorded = rekindle_app::event(project, &named(arguments.id), report)?;
    Ok(show(recorded, terminal))
}

pub(super) fn checkpoint(
    project: &Project,
    arguments: CheckpointArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let recorded = rekindle_app::checkpoint(
        project,
        &query(project, &arguments.workflow),
        arguments.message,
    )?;
    Ok(show(recorded, terminal))
}

pub(super) fn mute(
    project: &Project,
    id: String,
    undo: bool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let hearing = if undo { Hearing::Told } else { Hearing::Muted };
    let id = rekindle_app::mute(project, &named(id), hearing)?;
    if terminal.is_json() {
        terminal.json(&MuteOut {
            schema: "rekindle.mute/1",
            id: id.to_string(),
            muted: !undo,
        });
    } else {
        terminal.hint(&render::muted(&id, hearing));
    }
    Ok(exit::DONE)
}

fn show(recorded: Recorded, terminal: &mut Terminal) -> u8 {
    if terminal.is_json() {
        terminal.json(&recorded.object());
    } else {
        // Nobody was asked, so it is said even to those who want to hear nothing.
        for line in &recorded.finished {
            terminal.note(&format!("{line}\n"));
        }
        terminal.hint(&render::recorded(&recorded.log));
        for note in &recorded.notes {
            terminal.hint(&render::hint(note));
        }
    }
    exit::DONE
}

pub(super) fn checkpoints(
    project: &Project,
    arguments: &CheckpointsArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let query = query(project, &arguments.workflow);
    if arguments.archive {
        let archived = rekindle_app::archive(project, &query, arguments.yes, terminal)?;
        return Ok(resume::show(project, archived, terminal));
    }
    let timeline = rekindle_app::checkpoints(project, &query)?;
    if terminal.is_json() {
        terminal.json(&timeline.object());
    } else if let Some(words) = &timeline.words {
        terminal.result(words);
    } else {
        terminal.result(&render::checkpoints(&timeline.checkpoints));
    }
    Ok(exit::DONE)
}
