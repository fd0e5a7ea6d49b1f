//! `rekindle torture`: the crash test, for everybody to run.

use rekindle_app::Project;
use rekindle_torture::{Error, Interruption, LIMIT, Options};
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
        search_path: project.search_path.clone(),
        repository: Some(project.folder.clone()),
        kills: usize::try_from(arguments.kills).unwrap_or(usize::MAX),
        seed: arguments.seed,
        jobs: usize::from(arguments.jobs),
        limit: LIMIT,
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
        Error::Repository(_) => Some(match error.trust_command() {
            Some(command) => format!("if you trust it: `{command}`"),
            None => "`rekindle doctor` checks git; `-C DIR` tortures a copy of another repository, or a small one where there is none".to_owned(),
        }),
        Error::Undisturbed(_) | Error::Git { .. } => {
            Some("`rekindle doctor` checks what rekindle needs".to_owned())
        }
        Error::System { .. } => Some(
            "it needs Linux, a writable temporary folder, and `sh`, `cksum` and `git`".to_owned(),
        ),
    };
    let failure = Failure::of(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
