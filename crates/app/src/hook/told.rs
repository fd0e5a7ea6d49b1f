//! What somebody was told already, so that they are told once: a session of a workflow, a person of a run.

use camino::Utf8Path;
use rekindle_fs::Content;
use rekindle_wire::told::Told;

use crate::{Error, Project};

/// A record of fifty sessions is a few dozen kilobytes long.
const LARGEST: u64 = 256 * 1024;
/// How often it is tried again when others write at the same time.
const MOST_TRIES: usize = 5;

/// What somebody knows before they are told anything now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knows {
    /// Nothing.
    Nothing,
    /// What is so now.
    All,
    /// What was so earlier.
    Earlier,
}

/// Records what a session is told, and returns what it knew before.
///
/// Of two hooks that run at the same time, such as those of a plugin and of settings, only the first
/// finds a session that knows nothing.
pub(super) fn tell(
    project: &Project,
    session: &str,
    state: &str,
    is_cleared: bool,
) -> Result<Knows, Error> {
    let folder = project.state();
    folder.ensure()?;
    let path = folder.told()?;
    let knows = note(project, &path, session, state)?;
    Ok(if is_cleared { Knows::Nothing } else { knows })
}

/// Records in a file what is told about somebody or something, and returns what was known before.
pub(crate) fn note(
    project: &Project,
    path: &Utf8Path,
    about: &str,
    state: &str,
) -> Result<Knows, Error> {
    let mut last = None;
    for _ in 0..MOST_TRIES {
        let noted = rekindle_fs::read_within(project.folder(), path, LARGEST)?;
        let content = noted.as_deref().map_or(Content::Absent, Content::of);
        let told = noted.as_deref().map(Told::parse).unwrap_or_default();
        let knows = match told.of(about) {
            Some(known) if known == state => return Ok(Knows::All),
            Some(_) => Knows::Earlier,
            None => Knows::Nothing,
        };
        match rekindle_fs::replace(path, &content, &told.with(about, state)) {
            Ok(()) => return Ok(knows),
            Err(error @ rekindle_fs::Error::Changed { .. }) => last = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    last.map_or(Ok(Knows::Nothing), |error| Err(error.into()))
}
