//! The job, on a terminal.

use rekindle_app::{
    EngineWish, Error, Options, Outcome, Project, Query, Resumed, SessionMode, SessionOptions,
    UpdatePlan,
};
use rekindle_model::{ProtocolName, WorkflowId};
use rekindle_wire::exit;

use super::{elsewhere, inspect, named, run, sessions, started};
use crate::arguments::{ResumeArguments, RollbackArguments};
use crate::environment;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn resume(
    project: &Project,
    arguments: &ResumeArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    if arguments.all {
        return sessions::resume_all(project, arguments, terminal);
    }
    let query = started(project, &arguments.workflow, &arguments.start);
    if arguments.dry_run {
        let wish = run::wish(project, &arguments.agent);
        return inspect::plan(project, &query, &wish, terminal);
    }
    let start = if arguments.no_agent {
        None
    } else {
        Some(run::of_list(project, arguments, terminal)?)
    };
    let options = Options {
        yes: arguments.yes,
        agreed_to: None,
        engine: start.as_ref().map(|start| start.engine.clone()),
        start,
        watch: arguments.watch,
        update_plan: if arguments.update_plan {
            UpdatePlan::Yes
        } else {
            UpdatePlan::Ask
        },
        // What a person typed counts more than where it was typed.
        hand_back: environment::is_inside_agent()
            && arguments.agent.agent.is_none()
            && arguments.agent.agent_cmd.is_none(),
        session: SessionOptions {
            mode: session_mode(arguments),
            in_folder: arguments.in_folder.clone(),
            wait: arguments.wait,
            with: match &arguments.with {
                Some(name) => Some(sessions::agent(project, name)?),
                None => None,
            },
            agent: match (&arguments.agent.agent, &arguments.agent.agent_cmd) {
                (Some(name), _) => Some(name.clone()),
                (None, command) => command.clone(),
            },
        },
        ..Options::default()
    };
    let resumed = rekindle_app::resume(project, &query, &options, terminal)?;
    Ok(ended(project, resumed, terminal))
}

/// Resumes the run of a plan that was to be started once more; the person has just chosen it.
pub(super) fn again(
    project: &Project,
    id: &WorkflowId,
    engine: &EngineWish,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let options = Options {
        engine: Some(engine.clone()),
        ..Options::default()
    };
    let query = named(id.to_string());
    let resumed = rekindle_app::resume(project, &query, &options, terminal)?;
    Ok(ended(project, resumed, terminal))
}

/// Shows how a resume ended and returns the exit code.
fn ended(project: &Project, resumed: Resumed, terminal: &mut Terminal) -> u8 {
    if let (Some(id), Outcome::Ran(ending)) = (&resumed.id, &resumed.outcome) {
        run::show_failures(project, id, ending, terminal);
        run::show(&id.to_string(), ending, terminal);
        return run::code(ending);
    }
    show(project, resumed, terminal)
}

/// Returns who continues a session of a coding agent.
fn session_mode(arguments: &ResumeArguments) -> SessionMode {
    if arguments.no_agent {
        SessionMode::HandBack
    } else if arguments.yes || !Terminal::is_interactive() {
        SessionMode::Headless
    } else {
        SessionMode::Terminal
    }
}

/// Goes back to a checkpoint, which is a resume from it without an agent.
pub(super) fn rollback(
    project: &Project,
    arguments: RollbackArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let named = named(arguments.id);
    let query = Query {
        protocol: arguments.protocol.or(named.protocol),
        options: vec![(rekindle_app::ResumeOption::CHECKPOINT, arguments.checkpoint)],
        ..named
    };
    let options = Options {
        yes: arguments.yes,
        ..Options::default()
    };
    let resumed = rekindle_app::resume(project, &query, &options, terminal);
    // The option is ours: nobody typed it.
    if let Err(Error::NotOffered { protocol, .. }) = &resumed {
        let message = format!("workflows of `{protocol}` cannot be rolled back");
        let hint = "`rekindle rollback --help` says which workflows can";
        return Err(Failure::usage(message).hint(hint));
    }
    let resumed = resumed?;
    Ok(show(project, resumed, terminal))
}

/// Shows how it ended and returns the exit code.
pub(super) fn show(project: &Project, resumed: Resumed, terminal: &mut Terminal) -> u8 {
    let code = if resumed.outcome.is_failure() {
        exit::CANNOT
    } else {
        exit::DONE
    };
    if terminal.is_json() {
        let text = terminal.take_printed();
        terminal.json(&resumed.object(text));
    } else {
        tell(project, &resumed.outcome, terminal);
    }
    code
}

/// Says what kiln says where the project's path is not known, and returns whether it did; other
/// protocols have no words for it.
pub(super) fn halts_without_folder(
    arguments: &ResumeArguments,
    terminal: &mut Terminal,
) -> Result<bool, Failure> {
    if arguments.workflow.protocol != Some(ProtocolName::new("kiln"))
        || environment::current_folder().is_some()
    {
        return Ok(false);
    }
    let words = "Cannot determine project path. Please run this command from the project root.";
    if terminal.is_json() {
        return Err(Failure::cannot(words.to_owned()));
    }
    terminal.result(&format!("{words}\n"));
    Ok(true)
}

fn tell(project: &Project, outcome: &Outcome, terminal: &mut Terminal) {
    match outcome {
        Outcome::Nothing => {
            terminal.result(render::NOTHING);
            if let Some(hint) = elsewhere(project) {
                terminal.hint(&render::hint(&hint));
            }
        }
        Outcome::Declined => terminal.declined(),
        // Shown in its own way.
        Outcome::Ran(_) => {}
        Outcome::Stopped(stop) => {
            terminal.note(&render::stop(stop));
        }
        Outcome::AgentNeeded(task) => {
            terminal.note(&render::agent_needed(task, environment::is_inside_agent()));
        }
        Outcome::Unanswered(question) => terminal.note(&render::unanswered(question)),
    }
}
