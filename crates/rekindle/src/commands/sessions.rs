//! Sessions of coding agents.

use rekindle_app::{Agent, AllOptions, Project, Reach, SessionList, SessionScope};
use rekindle_model::{Session, SessionState};
use rekindle_wire::exit;

use crate::arguments::{ResumeArguments, SessionsArguments};
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn sessions(
    project: &Project,
    arguments: &SessionsArguments,
    terminal: &mut Terminal,
) -> u8 {
    let reach = if arguments.all {
        Reach::All
    } else {
        Reach::Recent
    };
    let list = rekindle_app::sessions(project, SessionScope::Everywhere, reach);
    if terminal.is_json() {
        terminal.json(&list.object());
    } else if arguments.commands {
        terminal.result(&list.commands());
    } else {
        terminal.result(&render::sessions(project, &list, arguments.all));
        if let Some(hint) = next(&list) {
            terminal.hint(&render::hint(&hint));
        }
    }
    exit::DONE
}

/// Returns the command that continues the first session that is safe.
fn next(list: &SessionList) -> Option<String> {
    let can_go_on =
        |session: &&Session| session.state == SessionState::Interrupted && session.is_safe();
    let first = list.sessions.iter().find(can_go_on)?;
    Some(format!(
        "continue one with `rekindle resume {}`, all that are safe with `rekindle resume --all --everywhere`",
        first.id
    ))
}

/// Returns a configured agent.
pub(super) fn agent(project: &Project, name: &str) -> Result<Agent, Failure> {
    let config = rekindle_app::configured(project)?.config;
    Ok(config.agent(name).map_err(rekindle_app::Error::Config)?)
}

/// Continues every session that is safe.
pub(super) fn resume_all(
    project: &Project,
    arguments: &ResumeArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let config = rekindle_app::configured(project)?.config;
    let options = AllOptions {
        scope: if arguments.everywhere {
            SessionScope::Everywhere
        } else {
            SessionScope::Project
        },
        yes: arguments.yes,
        headless: arguments.headless,
        wait: arguments.wait,
        jobs: arguments
            .agent
            .jobs
            .map_or(config.run.jobs.get(), usize::from),
    };
    let continued = rekindle_app::resume_sessions(project, &options, terminal)?;
    if terminal.is_json() {
        terminal.json(&continued.object());
    } else if continued.is_declined {
        terminal.declined();
    } else {
        terminal.result(&render::continued(&continued));
    }
    Ok(if continued.is_failure() {
        exit::CANNOT
    } else {
        exit::DONE
    })
}
