//! What a session was told already, so that it is briefed once.

use rekindle_fs::Content;
use rekindle_wire::told::Told;

use crate::{Error, Project};

/// A record of fifty sessions is a few dozen kilobytes long.
const LARGEST: u64 = 256 * 1024;
/// How often it is tried again when other hooks write at the same time.
const MOST_TRIES: usize = 5;

/// What a session knows before it is told anything now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Knows {
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
    let mut last = None;
    for _ in 0..MOST_TRIES {
        let noted = rekindle_fs::read_within(project.folder(), &path, LARGEST)?;
        let content = noted.as_deref().map_or(Content::Absent, Content::of);
        let told = noted.as_deref().map(Told::parse).unwrap_or_default();
        let knows = match told.of(session) {
            Some(known) if known == state => Knows::All,
            Some(_) => Knows::Earlier,
            None => Knows::Nothing,
        };
        if knows == Knows::All && !is_cleared {
            return Ok(knows);
        }
        match rekindle_fs::replace(&path, &content, &told.with(session, state)) {
            Ok(()) if is_cleared => return Ok(Knows::Nothing),
            Ok(()) => return Ok(knows),
            Err(error @ rekindle_fs::Error::Changed { .. }) => last = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    last.map_or(Ok(Knows::Nothing), |error| Err(error.into()))
}
