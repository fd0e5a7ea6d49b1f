//! `rekindle hook`: called by coding agents, which must never suffer from it.
//!
//! Whatever goes wrong ends in exit code 0, with nothing on standard output and a line in the log of
//! hooks.

use rekindle_app::hook::{Event, Moment};
use rekindle_app::{Preset, Project};
use rekindle_wire::exit;

use crate::arguments::{HookArguments, OutputArguments};
use crate::environment;
use crate::terminal::Terminal;

/// More than any agent tells a hook, but for what tools have read.
const MOST_TOLD: usize = 1024 * 1024;

pub(super) fn hook(
    arguments: &HookArguments,
    output: &OutputArguments,
    terminal: &mut Terminal,
) -> u8 {
    // What is to be written down is small, and must not be lost because the agent is in a hurry: it
    // is asked to end as soon as it was told. So nothing from here on may wait for long.
    rekindle_app::hook::outlive_signals();
    let told = crate::terminal::input(MOST_TOLD);
    let heard = hear(arguments, told);
    let folder = heard.as_ref().ok().and_then(|event| event.folder.clone());
    // A folder that is gone, or never was, leaves the one that the agent started us in.
    let project = output.folder.clone().or(folder).map_or_else(
        || environment::here(None),
        |folder| environment::here(Some(&folder)).or_else(|_| environment::here(None)),
    );
    // Without a project there is no place for a log either.
    if let Ok(project) = project {
        let said = heard.and_then(|event| react(&project, &event));
        let problem = match said {
            Ok(Some(text)) => {
                terminal.result(&format!("{text}\n"));
                let lost = terminal.take_loss();
                lost.map(|error| format!("cannot write the answer: {error}"))
            }
            Ok(None) => None,
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            // A log that can not be written has nobody to be told to.
            rekindle_app::hook::complain(&project, &arguments.event, &problem).ok();
        }
    }
    exit::DONE
}

fn hear(arguments: &HookArguments, told: Option<Vec<u8>>) -> Result<Event, String> {
    let moment = Moment::of(&arguments.event)
        .ok_or_else(|| format!("unknown hook event `{}`", arguments.event))?;
    let agent = match &arguments.agent {
        Some(name) => Some(Preset::of(name).ok_or_else(|| format!("unknown agent `{name}`"))?),
        None => None,
    };
    let told = match (told, moment) {
        (Some(told), _) => told,
        // What a tool has read can be of any length, and is not looked at.
        (None, Moment::PostToolUse) => Vec::new(),
        (None, _) => return Err(format!("the hook input is larger than {MOST_TOLD} bytes")),
    };
    Event::parse(moment, agent, &told).map_err(|error| error.to_string())
}

fn react(project: &Project, event: &Event) -> Result<Option<String>, String> {
    let attempt = environment::attempt();
    rekindle_app::hook::hook(project, event, attempt.as_ref()).map_err(|error| {
        let chain = std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
            error.source()
        });
        let chain: Vec<String> = chain.map(ToString::to_string).collect();
        chain.join(": ")
    })
}
