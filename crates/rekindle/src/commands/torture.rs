//! `rekindle torture`: the crash test, for everybody to run.

use rekindle_app::Project;
use rekindle_torture::Options;
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
        kills: arguments.kills,
        seed: arguments.seed,
        jobs: arguments.jobs.get(),
    };
    let score = rekindle_torture::torture(&options, &mut |score| {
        terminal.hint(&render::torture_so_far(score));
    });
    let score = score.map_err(|error| {
        Failure::cannot(error)
            .hint("it needs Linux, a writable temporary folder, and `sh`, `cksum` and `git`")
    })?;
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
