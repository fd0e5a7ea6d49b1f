//! The settings of worktrees: where tasks are worked on, and what they find there.

use std::time::Duration;

use camino::{Utf8Component, Utf8Path};
use toml::de::DeTable;

use super::Error;
use super::read::{Found, Reader, members};

/// How long one command of `setup` or `teardown` may take.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The settings of worktrees in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entry {
    fresh: Option<bool>,
    pub(super) setup: Option<Vec<String>>,
    setup_when: Option<Vec<String>>,
    pub(super) teardown: Option<Vec<String>>,
    timeout: Option<Duration>,
    copy: Option<Vec<String>>,
    link: Option<Vec<String>>,
    sparse: Option<Vec<String>>,
}

/// The settings of worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Whether every task gets a worktree of its own, which is removed after its delivery.
    pub fresh: bool,
    /// Shell commands that prepare a new worktree, before any agent works in it.
    pub setup: Vec<String>,
    /// Files of the project; if one of them changes, the commands run again.
    pub setup_when: Vec<String>,
    /// Shell commands that run before a worktree is removed.
    pub teardown: Vec<String>,
    /// How long each of the commands may take.
    pub timeout: Duration,
    /// Patterns as in `.gitignore`: ignored files that are copied from the main checkout.
    pub copy: Vec<String>,
    /// Ignored files and folders of the main checkout that are linked to.
    pub link: Vec<String>,
    /// Folders of the project; no other has files in a worktree. None for all.
    pub sparse: Vec<String>,
}

impl Default for Worktree {
    fn default() -> Self {
        Self {
            fresh: false,
            setup: Vec::new(),
            setup_when: Vec::new(),
            teardown: Vec::new(),
            timeout: LIMIT,
            copy: Vec::new(),
            link: Vec::new(),
            sparse: Vec::new(),
        }
    }
}

impl Worktree {
    /// Returns these settings with those of a file that takes precedence.
    pub(super) fn under(self, over: &Entry) -> Self {
        Self {
            fresh: over.fresh.unwrap_or(self.fresh),
            setup: over.setup.clone().unwrap_or(self.setup),
            setup_when: over.setup_when.clone().unwrap_or(self.setup_when),
            teardown: over.teardown.clone().unwrap_or(self.teardown),
            timeout: over.timeout.unwrap_or(self.timeout),
            copy: over.copy.clone().unwrap_or(self.copy),
            link: over.link.clone().unwrap_or(self.link),
            sparse: over.sparse.clone().unwrap_or(self.sparse),
        }
    }
}

impl Reader<'_> {
    pub(super) fn worktree(&mut self, key: &str, table: &DeTable<'_>) -> Result<Entry, Error> {
        let mut entry = Entry::default();
        for (name, at, found) in members(key, table) {
            match name {
                "fresh" => entry.fresh = Some(self.switch(&found)?),
                "setup" => entry.setup = Some(self.texts(&found)?),
                "setup_when" => entry.setup_when = Some(self.paths_inside(&found)?),
                "teardown" => entry.teardown = Some(self.texts(&found)?),
                "timeout" => entry.timeout = Some(self.duration(&found)?),
                "copy" => entry.copy = Some(self.patterns(&found)?),
                "link" => entry.link = Some(self.paths_inside(&found)?),
                "sparse" => entry.sparse = Some(self.paths_inside(&found)?),
                _ => self.unknown(found.key, &at),
            }
        }
        Ok(entry)
    }

    /// Reads paths that stay in the project.
    fn paths_inside(&self, found: &Found<'_, '_>) -> Result<Vec<String>, Error> {
        let is_inside = |text: &String| {
            let mut parts = Utf8Path::new(text).components();
            !text.is_empty() && parts.all(|part| matches!(part, Utf8Component::Normal(_)))
        };
        let paths = self.texts(found)?;
        match paths.iter().find(|path| !is_inside(path)) {
            Some(path) => {
                let problem =
                    format!("must have paths in the project, without `..`, and not `{path}`");
                Err(self.wrong(found, &problem))
            }
            None => Ok(paths),
        }
    }

    /// Reads patterns, each on a line of its own.
    fn patterns(&self, found: &Found<'_, '_>) -> Result<Vec<String>, Error> {
        let patterns = self.texts(found)?;
        let is_one = |text: &String| !text.trim().is_empty() && !text.contains(['\n', '\r']);
        if patterns.iter().all(is_one) {
            Ok(patterns)
        } else {
            Err(self.wrong(found, "must have one pattern in each string"))
        }
    }
}
