//! Changes of the user's own checkout while agents are at work.
//!
//! Agents are told to stay in their worktrees, and nothing keeps them there.
//! The author of a change is unknown, so it is reported and never undone.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use rekindle_git::{Error, Repo, RepoPath, StatusEntry};

use super::Orchestrator;

/// The status of the checkout at one time: every path that differs from its last commit.
///
/// Taken twice in an orchestrator's life and not for every task: it takes 20 ms in a
/// checkout of 2,400 files.
#[derive(Debug)]
pub(super) struct Seen(BTreeMap<RepoPath, (StatusEntry, Option<Stamp>)>);

/// Modification time and length, since a changed file can change again.
type Stamp = (i64, i64, u64);

impl Orchestrator<'_> {
    /// Reads the user's checkout; `None` if git fails, which does not stop the work.
    pub(super) fn look_at_checkout(&self) -> Option<Seen> {
        let own = self.own_paths();
        see(&self.repo, &own).ok()
    }

    /// Reports all paths of the user's checkout that have changed.
    pub(super) fn tell_of_checkout(&mut self, before: Option<Seen>) {
        let (Some(before), Some(now)) = (before, self.look_at_checkout()) else {
            return;
        };
        let changed = before.changed(&now);
        if !changed.is_empty() {
            self.engine.watcher.checkout_changed(&changed);
        }
    }
}

fn see(repo: &Repo, own: &[RepoPath]) -> Result<Seen, Error> {
    let mut entries = repo.status()?;
    entries.retain(|entry| !own.iter().any(|own| entry.path().is_within(own)));
    if entries.is_empty() {
        return Ok(Seen(BTreeMap::new()));
    }
    let top_level = repo.top_level()?;
    let seen = |entry: StatusEntry| {
        let path = top_level.as_std_path().join(entry.path().as_path());
        let metadata = fs_err::symlink_metadata(path).ok();
        let stamp = metadata
            .filter(|metadata| !metadata.is_dir())
            .map(|metadata| (metadata.mtime(), metadata.mtime_nsec(), metadata.len()));
        (entry.path().clone(), (entry, stamp))
    };
    Ok(Seen(entries.into_iter().map(seen).collect()))
}

impl Seen {
    /// Returns the paths that are not the same now, in order.
    fn changed(&self, now: &Self) -> Vec<String> {
        let mut paths: Vec<&RepoPath> = self.0.keys().chain(now.0.keys()).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.0.get(*path) != now.0.get(*path));
        paths.into_iter().map(ToString::to_string).collect()
    }
}
