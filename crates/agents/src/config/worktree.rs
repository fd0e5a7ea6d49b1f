//! The settings of worktrees: where tasks are worked on.

use toml::de::DeTable;

use super::Error;
use super::read::{Found, Reader, members};

/// The settings of worktrees in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entry {
    fresh: Option<bool>,
}

/// The settings of worktrees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Whether every task gets a worktree of its own, which is removed after its delivery.
    pub fresh: bool,
}

impl Worktree {
    /// Returns these settings with those of a file that takes precedence.
    pub(super) fn under(self, over: &Entry) -> Self {
        Self {
            fresh: over.fresh.unwrap_or(self.fresh),
        }
    }
}

impl Reader<'_> {
    pub(super) fn worktree(&mut self, key: &str, table: &DeTable<'_>) -> Result<Entry, Error> {
        let mut entry = Entry::default();
        for (name, at, found) in members(key, table) {
            match name {
                "fresh" => entry.fresh = Some(self.flag(&found)?),
                _ => self.unknown(found.key, &at),
            }
        }
        Ok(entry)
    }

    fn flag(&self, found: &Found<'_, '_>) -> Result<bool, Error> {
        let flag = found.value.get_ref().as_bool();
        flag.ok_or_else(|| self.wrong_type(found, "`true` or `false`"))
    }
}
