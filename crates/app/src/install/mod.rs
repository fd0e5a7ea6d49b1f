//! Living inside other programs: what is put into a project for them, and taken out again.
//!
//! Each target has a file here. An installation is shown before it is made, changes only files that
//! still are what was shown, and can be taken back byte for byte.

mod map;

use camino::Utf8PathBuf;

use crate::{Error, Face, Project};

/// What rekindle can be installed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The scripts of a MAP project.
    Map,
}

/// How an installation is to go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstallOptions {
    /// Go on without asking.
    pub yes: bool,
    /// Show what would be done, and do nothing.
    pub dry_run: bool,
}

/// What an installation, or its taking back, comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The files that are changed, with what happens to each, one sentence; none if all is as wanted.
    pub changes: Vec<(Utf8PathBuf, String)>,
    /// What is shown of the new contents.
    pub shown: String,
    /// Whether it was done.
    pub done: bool,
}

/// Installs rekindle into a target.
///
/// # Errors
/// When the target is not here, or its files changed since they were shown.
pub fn install(
    project: &Project,
    target: Target,
    options: InstallOptions,
    face: &mut dyn Face,
) -> Result<Installation, Error> {
    match target {
        Target::Map => carried_out(map::installing(project)?, options, face),
    }
}

/// Takes an installation back.
///
/// # Errors
/// When what was there before is not to be had, or its files changed since they were shown.
pub fn uninstall(
    project: &Project,
    target: Target,
    options: InstallOptions,
    face: &mut dyn Face,
) -> Result<Installation, Error> {
    match target {
        Target::Map => carried_out(map::uninstalling(project)?, options, face),
    }
}

/// What is about to be done: in words, and as the deed itself.
struct Prepared {
    installation: Installation,
    deed: Box<dyn FnOnce() -> Result<(), Error>>,
}

fn carried_out(
    prepared: Prepared,
    options: InstallOptions,
    face: &mut dyn Face,
) -> Result<Installation, Error> {
    let mut installation = prepared.installation;
    if installation.changes.is_empty() || options.dry_run {
        return Ok(installation);
    }
    if options.yes || face.agree(&installation.to_string()) {
        (prepared.deed)()?;
        installation.done = true;
    }
    Ok(installation)
}

impl std::fmt::Display for Installation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (path, change) in &self.changes {
            writeln!(f, "{path}: {change}")?;
        }
        if !self.shown.is_empty() {
            write!(f, "\n{}", self.shown)?;
        }
        Ok(())
    }
}
