//! `rekindle torture`: the crash test, for everybody to run.

use rekindle_app::Project;
use rekindle_torture::{Error, Interruption, Options};
use rekindle_wire::exit;

use crate::arguments::TortureArguments;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn torture(
    project: &Project,
    arguments: &TortureArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let options = Options {
        program: project.program.clone(),
        repository: Some(project.folder.clone()),
        kills: usize::try_from(arguments.kills).unwrap_or(usize::MAX),
        seed: arguments.seed,
        jobs: usize::from(arguments.jobs),
        interruption: Interruption::heed().map_err(failure)?,
    };
    let score = rekindle_torture::torture(&options, &mut |score| {
        terminal.hint(&render::torture_so_far(score));
    });
    let score = score.map_err(failure)?;
    if terminal.is_json() {
        terminal.json(&score);
    } else {
        terminal.result(&render::torture(&score));
    }
    Ok(if score.wrong.is_empty() {
        exit::DONE
    } else {
        exit::CANNOT
    })
}

fn failure(error: Error) -> Failure {
    let hint = match &error {
        Error::Interrupted => None,
        Error::Undisturbed(_) => Some("`rekindle doctor` checks what rekindle needs"),
        Error::System { .. } | Error::Git { .. } => {
            Some("it needs Linux, a writable temporary folder, and `sh`, `cksum` and `git`")
        }
    };
    let failure = Failure::of(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
