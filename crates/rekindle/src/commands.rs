//! One function a command: call the use case, render, pick the exit code.
mod attach;
mod config;
mod decide;
mod demo;
mod hook;
mod inspect;
mod install;
mod logs;
mod map;
mod mcp;
mod picture;
mod prune;
mod reference;
mod report;
mod rescue;
mod resume;
mod run;
mod sessions;
mod torture;
mod validation;

use camino::Utf8PathBuf;
use rekindle_app::{Listing, Project, Query, Wish};
use rekindle_wire::exit;

use crate::arguments::{
    Command, OutputArguments, SessionsArguments, StartArguments, StatusArguments, WorkflowArguments,
};
use crate::environment;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

/// Runs what was typed.
#[expect(clippy::too_many_lines, reason = "one arm for each command")]
pub(crate) fn run(
    command: Option<Command>,
    list: &StatusArguments,
    output: &OutputArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let here = || environment::here(output.folder.as_deref());
    let project = |terminal: &mut Terminal| found(output, terminal);
    match command {
        Some(Command::Sessions(arguments)) => {
            Ok(sessions::sessions(&here()?, &arguments, terminal))
        }
        None if list.everywhere => {
            let arguments = SessionsArguments::of(list);
            Ok(sessions::sessions(&here()?, &arguments, terminal))
        }
        Some(Command::Status(arguments)) if arguments.everywhere => {
            let arguments = SessionsArguments::of(&arguments);
            Ok(sessions::sessions(&here()?, &arguments, terminal))
        }
        None => Ok(inspect::status(
            &project(terminal)?,
            listing(list),
            terminal,
        )),
        Some(Command::Status(arguments)) => {
            // `rekindle -a status` means what `rekindle status -a` does.
            let asked = Listing {
                protocol: arguments.protocol.or(list.protocol),
                all: arguments.all || list.all,
            };
            Ok(inspect::status(&project(terminal)?, asked, terminal))
        }
        Some(Command::Inspect(arguments)) => {
            inspect::inspect(&project(terminal)?, &arguments, terminal)
        }
        Some(Command::Plan(arguments)) => {
            let project = project(terminal)?;
            let query = started(&project, &arguments.workflow, &arguments.start);
            inspect::plan(&project, &query, &run::no_wish(), terminal)
        }
        Some(Command::Run(arguments)) => run::run(&project(terminal)?, &arguments, terminal),
        Some(Command::Worker { order }) => run::worker(&order),
        Some(Command::Resume(arguments)) => {
            if resume::halts_without_folder(&arguments, terminal)? {
                return Ok(exit::CANNOT);
            }
            resume::resume(&project(terminal)?, &arguments, terminal)
        }
        Some(Command::Retry(arguments)) => decide::retry(&project(terminal)?, arguments, terminal),
        Some(Command::Skip(arguments)) => decide::skip(&project(terminal)?, arguments, terminal),
        Some(Command::Cancel(arguments)) => {
            decide::cancel(&project(terminal)?, arguments, terminal)
        }
        Some(Command::Stop(arguments)) => decide::stop(&project(terminal)?, arguments, terminal),
        Some(Command::Explain(arguments)) => {
            inspect::explain(&project(terminal)?, &arguments, terminal)
        }
        Some(Command::Logs(arguments)) => logs::logs(&project(terminal)?, &arguments, terminal),
        Some(Command::Report(arguments)) => {
            picture::report(&project(terminal)?, &arguments, terminal)
        }
        Some(Command::Attach(arguments)) => {
            attach::attach(&project(terminal)?, &arguments, terminal)
        }
        Some(Command::Checkpoint(arguments)) => {
            report::checkpoint(&project(terminal)?, arguments, terminal)
        }
        Some(Command::Checkpoints(arguments)) => {
            report::checkpoints(&project(terminal)?, &arguments, terminal)
        }
        Some(Command::Rollback(arguments)) => {
            resume::rollback(&project(terminal)?, arguments, terminal)
        }
        Some(Command::Validate(arguments)) => {
            validation::validate(&project(terminal)?, arguments, terminal)
        }
        Some(Command::Migrate { feature, yes }) => {
            validation::migrate(&project(terminal)?, feature.as_deref(), yes, terminal)
        }
        Some(Command::Event(arguments)) => report::event(&project(terminal)?, arguments, terminal),
        Some(Command::Heartbeat(arguments)) => {
            report::heartbeat(&project(terminal)?, arguments, terminal)
        }
        Some(Command::Mute { id, undo }) => report::mute(&project(terminal)?, id, undo, terminal),
        Some(Command::Install(arguments)) => {
            install::install(&project(terminal)?, &arguments, Wish::Install, terminal)
        }
        Some(Command::Uninstall(arguments)) => {
            install::install(&project(terminal)?, &arguments, Wish::Uninstall, terminal)
        }
        Some(Command::Hook(arguments)) => Ok(hook::hook(&arguments, output, terminal)),
        Some(Command::Clean { names, yes }) => {
            run::clean(&project(terminal)?, &names, yes, terminal)
        }
        Some(Command::Prune(arguments)) => prune::prune(&project(terminal)?, arguments, terminal),
        Some(Command::Rescue(command)) => rescue::rescue(&project(terminal)?, &command, terminal),
        Some(Command::Map { words }) => Ok(map::map(&here()?, &words, terminal)),
        Some(Command::Demo { story, report }) => demo::demo(story, report, terminal),
        Some(Command::Torture(arguments)) => torture::torture(&here()?, &arguments, terminal),
        Some(Command::Mcp { .. }) => mcp::mcp(here()?),
        Some(Command::Init) => config::init(&project(terminal)?, terminal),
        Some(Command::Config) => config::config(&project(terminal)?, terminal),
        Some(Command::Doctor) => Ok(inspect::doctor(&project(terminal)?, terminal)),
        Some(Command::Completions { shell }) => Ok(reference::completions(shell, terminal)),
        Some(Command::Version) => Ok(reference::version(terminal)),
        Some(Command::Man { command }) => reference::manual(&command, terminal),
    }
}

fn query(project: &Project, arguments: &WorkflowArguments) -> Query {
    // Where a command is given in the project's folder, a path is shown as it was typed.
    let path = |file: &Utf8PathBuf| {
        if project.folder == project.typed_in {
            file.to_string()
        } else {
            project.typed_path(file).into_string()
        }
    };
    let tasks = arguments.tasks.iter();
    Query {
        protocol: arguments.protocol,
        name: arguments.id.clone(),
        options: tasks
            .map(|file| (rekindle_app::ResumeOption::TASKS, path(file)))
            .collect(),
        ..Query::default()
    }
}

/// Returns the query of a workflow that may begin at a checkpoint.
fn started(project: &Project, workflow: &WorkflowArguments, start: &StartArguments) -> Query {
    let checkpoint = start.checkpoint.iter();
    let flags = [
        (rekindle_app::ResumeOption::FRESH, start.fresh),
        (rekindle_app::ResumeOption::VALIDATE, start.validate),
        (
            rekindle_app::ResumeOption::INCLUDE_MARKED,
            start.include_marked,
        ),
        (rekindle_app::ResumeOption::IN_PLACE, start.in_place),
    ];
    let flags = flags.into_iter().filter(|(_, is_given)| *is_given);
    let options = checkpoint
        .map(|name| (rekindle_app::ResumeOption::CHECKPOINT, name.clone()))
        .chain(flags.map(|(flag, _)| (flag, String::new())));
    let query = query(project, workflow);
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

fn listing(arguments: &StatusArguments) -> Listing {
    Listing {
        protocol: arguments.protocol,
        all: arguments.all,
    }
}

/// Returns the project of a command, and names it if it is a folder above the current one.
fn found(output: &OutputArguments, terminal: &mut Terminal) -> Result<Project, Failure> {
    let project = environment::project(output.folder.as_deref())?;
    if project.folder != project.typed_in {
        terminal.hint(&render::found_above(&project.folder));
    }
    Ok(project)
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
        let found = rekindle_app::status(&above, rekindle_app::Listing::default());
        let mut workflows = found.workflows.iter();
        workflows.any(|summary| !rekindle_app::gives_way(summary))
    })?;
    Some(format!(
        "a folder above has workflows: `rekindle -C {parent}`"
    ))
}
