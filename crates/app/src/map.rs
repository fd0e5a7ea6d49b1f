//! `rekindle map`: MAP's own commands, answered by its state machine.

use rekindle_map_machine::{Access, Branch, Request};
use rekindle_runner::Transaction;

use crate::Project;

pub use rekindle_map_machine::Answer as MapAnswer;

/// Runs one of MAP's commands; `input` provides standard input if the command reads it.
///
/// A command that may write takes the lock of its branch, reads, writes, and then answers; one that only
/// reads takes no lock. Errors are part of the answer, in the form of the peer.
pub fn map(project: &Project, typed: &[String], input: impl FnOnce() -> Vec<u8>) -> MapAnswer {
    let request = match Request::parse(typed) {
        Ok(request) => request,
        Err(answer) => return answer,
    };
    let input = if request.wants_input() {
        input()
    } else {
        Vec::new()
    };
    let root = rekindle_map_machine::root(&project.world());
    let project = Project {
        folder: root.folder,
        ..project.clone()
    };
    let world = project.world();
    let branch = request.branch(&world);
    // A refused command leaves no trace, not even our lock: finishing a repair compares the files.
    let refusal = branch.refusal(&world);
    let refusal = refusal.or_else(|| request.refusal(&world, &branch));
    let mut answer = refusal.unwrap_or_else(|| match request.access() {
        Access::Read => request.answer(&world, &branch, &input),
        Access::Write | Access::Advance => {
            changed(&project, &branch, &request, &input).unwrap_or_else(|error| failed(&error))
        }
    });
    if let Some(warning) = root.warning {
        answer.stderr.insert_str(0, &warning);
    }
    answer
}

fn changed(
    project: &Project,
    branch: &Branch,
    request: &Request,
    input: &[u8],
) -> Result<MapAnswer, rekindle_runner::Error> {
    let foreign = format!(".map/.locks/{branch}.transaction.lock");
    let transaction = Transaction::open(
        &project.state(),
        &project.search_path,
        &format!("map-{branch}"),
        "rekindle map",
        project.now(),
        foreign.as_str().into(),
    )?;
    // Read under the lock: earlier reads may be outdated by another command.
    let mut answer = request.answer(&project.world(), branch, input);
    transaction.commit(&answer.actions)?;
    // Nobody was asked, so the finished steps of an earlier command are at least listed.
    for note in transaction.notes().iter().rev() {
        answer.stderr.insert_str(0, &format!("rekindle: {note}\n"));
    }
    Ok(answer)
}

fn failed(error: &rekindle_runner::Error) -> MapAnswer {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    if let Some(hint) = error.hint() {
        message = format!("{message}; {hint}");
    }
    MapAnswer::failed(&message)
}
