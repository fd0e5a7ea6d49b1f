//! Compares a binary with a case: `inspect`, `status`, `resume`, `run` and `commands`, each in a scene of its own.

use camino::Utf8Path;

use super::case::Case;
use super::error::Error;
use super::scene::Scene;

mod commands;
mod files;
mod inspect;
mod resume;
mod run;
mod status;
#[cfg(test)]
mod tests;

/// Runs every part of the case against the binary; the error is the first thing that is wrong.
pub fn check(case: &Case, binary: &Utf8Path) -> Result<(), Error> {
    if let Some(want) = &case.inspect {
        inspect::check(&Scene::lay_out(case)?, binary, want)?;
    }
    if let Some(want) = &case.status {
        status::check(&Scene::lay_out(case)?, binary, want)?;
    }
    if let Some(want) = &case.resume {
        resume::check(&Scene::lay_out(case)?, binary, want)?;
    }
    if let Some(want) = &case.run {
        run::check(&Scene::lay_out(case)?, binary, want)?;
    }
    if let Some(steps) = &case.commands {
        commands::check(&Scene::lay_out(case)?, binary, steps)?;
    }
    Ok(())
}

/// Returns how a program ended, in a word.
fn ending(status: std::process::ExitStatus) -> String {
    status
        .code()
        .map_or_else(|| status.to_string(), |code| code.to_string())
}

/// Returns the first `limit` characters of an output.
fn head(output: &[u8], limit: usize) -> String {
    String::from_utf8_lossy(output)
        .chars()
        .take(limit)
        .collect()
}
