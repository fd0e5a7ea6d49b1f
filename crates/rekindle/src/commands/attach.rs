//! `rekindle attach`: the live view of a run that is at work in another terminal.

use rekindle_app::{Attached, Project, Query};
use rekindle_wire::exit;

use super::run;
use crate::arguments::AttachArguments;
use crate::failure::Failure;
use crate::keys::Keys;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn attach(
    project: &Project,
    arguments: &AttachArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let query = Query {
        protocol: arguments.protocol,
        name: arguments.id.clone(),
        ..Query::default()
    };
    let keys = Keys::listen();
    let attached = rekindle_app::attach(project, &query, terminal, &mut |time| keys.wait(time));
    drop(keys);
    match attached? {
        Attached::Left(id) => {
            terminal.end_live();
            terminal.hint(&render::left(&id));
            Ok(exit::DONE)
        }
        Attached::Over(id, ending) => {
            run::show_failures(project, &id, &ending, terminal);
            run::show(&id.to_string(), &ending, terminal);
            Ok(run::code(&ending))
        }
    }
}
