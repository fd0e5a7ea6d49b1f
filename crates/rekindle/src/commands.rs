//! One function a command: call the use case, render, pick the exit code.
mod demo;
mod hook;
mod inspect;
mod install;
mod map;
mod mcp;
mod reference;
mod report;
mod rescue;
mod resume;
mod run;
mod torture;
mod validation;

use rekindle_app::{Project, Query, Wish};
use rekindle_wire::exit;

use crate::arguments::{Command, OutputArguments, StartArguments, WorkflowArguments};
use crate::environment;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Runs what was typed.
pub(crate) fn run(
    command: Option<Command>,
    output: &OutputArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let project = || environment::project(output.folder.as_deref());
    match command {
        None | Some(Command::Status) => Ok(inspect::status(&project()?, terminal)),
        Some(Command::Inspect(arguments)) => inspect::inspect(&project()?, &arguments, terminal),
        Some(Command::Plan(arguments)) => {
            let query = started(&arguments.workflow, &arguments.start);
            inspect::plan(&project()?, &query, terminal)
        }
        Some(Command::Run(arguments)) => run::run(&project()?, &arguments, terminal),
        Some(Command::Worker { order }) => run::worker(&order),
        Some(Command::Resume(arguments)) => {
            if resume::halts_without_folder(&arguments, terminal)? {
                return Ok(exit::CANNOT);
            }
            resume::resume(&project()?, &arguments, terminal)
        }
        Some(Command::Explain(arguments)) => inspect::explain(&project()?, &arguments, terminal),
        Some(Command::Checkpoint(arguments)) => {
            report::checkpoint(&project()?, arguments, terminal)
        }
        Some(Command::Checkpoints(arguments)) => {
            report::checkpoints(&project()?, &arguments, terminal)
        }
        Some(Command::Rollback(arguments)) => resume::rollback(&project()?, arguments, terminal),
        Some(Command::Validate(arguments)) => {
            validation::validate(&project()?, arguments, terminal)
        }
        Some(Command::Migrate { feature, yes }) => {
            validation::migrate(&project()?, feature.as_deref(), yes, terminal)
        }
        Some(Command::Event(arguments)) => report::event(&project()?, arguments, terminal),
        Some(Command::Heartbeat(arguments)) => report::heartbeat(&project()?, arguments, terminal),
        Some(Command::Install(arguments)) => {
            install::install(&project()?, &arguments, Wish::Install, terminal)
        }
        Some(Command::Uninstall(arguments)) => {
            install::install(&project()?, &arguments, Wish::Uninstall, terminal)
        }
        Some(Command::Hook(arguments)) => Ok(hook::hook(&arguments, output, terminal)),
        Some(Command::Clean { names, yes }) => run::clean(&project()?, &names, yes, terminal),
        Some(Command::Rescue(command)) => rescue::rescue(&project()?, &command, terminal),
        Some(Command::Map { words }) => Ok(map::map(&project()?, &words, terminal)),
        Some(Command::Demo) => demo::demo(terminal),
        Some(Command::Torture(arguments)) => torture::torture(&project()?, &arguments, terminal),
        Some(Command::Mcp { .. }) => mcp::mcp(project()?),
        Some(Command::Doctor) => Ok(inspect::doctor(&project()?, terminal)),
        Some(Command::Completions { shell }) => Ok(reference::completions(shell, terminal)),
        Some(Command::Man) => Ok(reference::manual(terminal)),
    }
}

fn query(arguments: &WorkflowArguments) -> Query {
    let tasks = arguments.tasks.iter();
    Query {
        protocol: arguments.protocol,
        name: arguments.id.clone(),
        options: tasks
            .map(|file| (rekindle_app::ResumeOption::TASKS, file.to_string()))
            .collect(),
        ..Query::default()
    }
}

/// Returns the query of a workflow that may begin at a checkpoint.
fn started(workflow: &WorkflowArguments, start: &StartArguments) -> Query {
    let checkpoint = start.checkpoint.iter();
    let flags = [
        (rekindle_app::ResumeOption::FRESH, start.fresh),
        (rekindle_app::ResumeOption::VALIDATE, start.validate),
    ];
    let flags = flags.into_iter().filter(|(_, is_given)| *is_given);
    let options = checkpoint
        .map(|name| (rekindle_app::ResumeOption::CHECKPOINT, name.clone()))
        .chain(flags.map(|(flag, _)| (flag, String::new())));
    let query = query(workflow);
    Query {
        options: query.options.into_iter().chain(options).collect(),
        ..query
    }
}

/// Returns the query of a workflow that must be named.
fn named(id: String) -> Query {
    Query {
        protocol: rekindle_app::split_id(&id).0,
        name: Some(id),
        ..Query::default()
    }
}

/// Returns the exit code of a look at something.
fn looked(found: bool) -> u8 {
    if found { exit::DONE } else { exit::CANNOT }
}

/// Returns where a hint about another folder can be given: a parent that has something to resume.
fn elsewhere(project: &Project) -> Option<String> {
    let parent = project.folder.ancestors().skip(1).find(|folder| {
        let above = Project {
            folder: (*folder).to_owned(),
            ..project.clone()
        };
        !rekindle_app::status(&above).workflows.is_empty()
    })?;
    Some(format!(
        "a folder above has workflows: `rekindle -C {parent}`"
    ))
}
