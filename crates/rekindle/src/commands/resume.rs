//! The job, on a terminal.

use rekindle_app::{Options, Outcome, Project, Query, Resumed};
use rekindle_model::{ProtocolName, StopKind, WorkflowId};
use rekindle_wire::{ResumeOut, exit};

use super::{elsewhere, inspect, named, run, started};
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
    let query = started(&arguments.workflow, &arguments.start);
    if arguments.dry_run {
        return inspect::plan(project, &query, terminal);
    }
    let options = Options {
        yes: arguments.yes,
        engine: if arguments.no_agent {
            None
        } else {
            run::engine(project, &arguments.agent, terminal)?.map(|(engine, _)| engine)
        },
        watch: arguments.watch,
        // What a person typed counts more than where it was typed.
        hand_back: environment::is_inside_agent()
            && arguments.agent.agent.is_none()
            && arguments.agent.agent_cmd.is_none(),
    };
    let resumed = rekindle_app::resume(project, &query, &options, terminal)?;
    if let (Some(id), Outcome::Ran(ending)) = (&resumed.id, &resumed.outcome) {
        run::show(&id.to_string(), ending, terminal);
        return Ok(run::code(ending));
    }
    Ok(show(project, resumed.id, resumed.outcome, terminal))
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
        checkpoint: Some(arguments.checkpoint),
        ..named
    };
    let options = Options {
        yes: arguments.yes,
        ..Options::default()
    };
    let resumed = rekindle_app::resume(project, &query, &options, terminal)?;
    Ok(show(project, resumed.id, resumed.outcome, terminal))
}

/// Shows how it ended and returns the exit code.
pub(super) fn show(
    project: &Project,
    id: Option<WorkflowId>,
    outcome: Outcome,
    terminal: &mut Terminal,
) -> u8 {
    let code = if outcome.is_failure() {
        exit::CANNOT
    } else {
        exit::DONE
    };
    if terminal.is_json() {
        let text = terminal.take_printed();
        terminal.json(&object(Resumed { id, outcome }, text));
    } else {
        tell(project, &outcome, terminal);
    }
    code
}

/// Says what kiln says where the project's path is not known; other protocols have no words for it.
pub(super) fn refuse_without_folder(arguments: &ResumeArguments) -> Result<(), Failure> {
    if arguments.workflow.protocol != Some(ProtocolName::Kiln) || environment::knows_folder() {
        return Ok(());
    }
    let words = "Cannot determine project path. Please run this command from the project root.";
    Err(Failure::cannot(words.to_owned()))
}

fn tell(project: &Project, outcome: &Outcome, terminal: &mut Terminal) {
    match outcome {
        Outcome::Nothing => {
            terminal.result("Nothing to resume here.\n");
            if let Some(hint) = elsewhere(project) {
                terminal.hint(&render::hint(&hint));
            }
        }
        Outcome::Declined => terminal.hint("nothing was changed\n"),
        // Shown in its own way.
        Outcome::Ran(_) => {}
        Outcome::Stopped(stop) => {
            terminal.note(&render::stop(stop));
        }
        Outcome::AgentNeeded(task) => terminal.note(&render::agent_needed(task)),
        Outcome::Unanswered(question) => terminal.note(&render::unanswered(question)),
    }
}

fn object(resumed: Resumed, text: String) -> ResumeOut {
    let mut out = ResumeOut {
        schema: "rekindle.resume/1",
        id: resumed.id.map(|id| id.to_string()),
        outcome: String::new(),
        summary: String::new(),
        text,
        agent: None,
        question: None,
        hints: Vec::new(),
    };
    let (outcome, summary) = match resumed.outcome {
        Outcome::Nothing => ("nothing", "nothing to resume here".to_owned()),
        Outcome::Declined => ("declined", "nothing was changed".to_owned()),
        Outcome::Ran(ending) => ("done", format!("{} tasks landed", ending.tally.landed)),
        Outcome::Stopped(stop) => {
            out.hints = stop.hints;
            let word = match stop.kind {
                StopKind::Done | StopKind::Said => "done",
                StopKind::Waiting | StopKind::OthersAtWork => "waiting",
                StopKind::Blocked => "blocked",
            };
            (word, stop.reason)
        }
        Outcome::AgentNeeded(task) => {
            let summary = task.summary.clone();
            out.agent = Some(rekindle_wire::agent(&task));
            ("agent_needed", summary)
        }
        Outcome::Unanswered(question) => {
            out.question = Some(rekindle_wire::question(&question));
            ("waiting", question.unanswered)
        }
    };
    outcome.clone_into(&mut out.outcome);
    out.summary = summary;
    out
}
