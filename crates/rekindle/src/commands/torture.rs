//! `rekindle torture`: the crash test, for everybody to run.

use rekindle_app::Project;
use rekindle_torture::{Error, Interruption, LIMIT, Options};
use rekindle_wire::exit;
use rekindle_wire::torture::Score;

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
    let mut so_far = None;
    let score = rekindle_torture::torture(&options, &mut |score| {
        terminal.hint(&render::torture_so_far(score));
        so_far = Some(score.clone());
    });
    let score = score.map_err(|error| {
        if let Some(score) = worth_showing(&error, so_far)
            && !terminal.is_json()
        {
            terminal.result(&render::torture(&score));
        }
        failure(error)
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

/// Returns the score of the runs that were over when somebody had seen enough.
fn worth_showing(error: &Error, so_far: Option<Score>) -> Option<Score> {
    match error {
        Error::Interrupted => so_far.filter(|score| score.runs > 0),
        Error::Repository(_) | Error::Undisturbed(_) | Error::Git { .. } | Error::System { .. } => {
            None
        }
    }
}

fn failure(error: Error) -> Failure {
    let hint = match &error {
        Error::Interrupted => None,
        Error::Repository(_) => Some(match error.trust_command() {
            Some(command) => format!("if you trust it: `{command}`"),
            None => "`rekindle doctor` checks git; `-C DIR` uses a copy of another repository"
                .to_owned(),
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

#[cfg(test)]
mod tests {
    use rekindle_wire::torture::Tortured;

    use super::*;

    #[test]
    fn an_interruption_shows_the_score_of_what_was_over() {
        let score = |runs: usize| {
            let because = String::new();
            let score = Score::new(1, 1, Tortured::Made { because });
            Some(Score { runs, ..score })
        };
        let shown = |error: &Error, runs: usize| worth_showing(error, score(runs)).is_some();
        assert!(shown(&Error::Interrupted, 1));
        assert!(!shown(&Error::Interrupted, 0));
        assert!(!shown(&Error::Undisturbed("no".to_owned()), 1));
        assert!(worth_showing(&Error::Interrupted, None).is_none());
    }
}
