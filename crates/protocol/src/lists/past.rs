//! When something last happened in a list, and what commits prove of it.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{GitAnswer, GitPath, GitQuestion, GitTouched, Kind, ReadError, World};

use crate::lists::format::List;

/// The trailer that names the list of a commit.
const LIST_TRAILER: &str = "Rekindle-List";
/// The trailer that names the task of a commit.
const TASK_TRAILER: &str = "Rekindle-Task";
/// The files of a list are looked at so deep, and so many of them.
const DEEPEST: usize = 6;
const MOST_FILES: usize = 2_000;

/// What is known of the past of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// When something last happened in it.
    pub(crate) last: Option<Timestamp>,
    /// The ids of the tasks whose commits are there.
    pub(crate) landed: BTreeSet<String>,
}

/// Returns the past of each list.
pub(crate) fn of_each(world: &dyn World, format: &str, lists: &[List]) -> Vec<Past> {
    let paths: Vec<String> = lists.iter().map(|list| list.folder.to_string()).collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let answer = world.git(world.project(), &GitQuestion::Touched { paths });
    let touched = match answer.and_then(GitAnswer::touched) {
        Ok(touched) => Some(touched),
        Err(ReadError::NotFound) => None,
        Err(_) => Some(GitTouched::default()),
    };
    let each = lists.iter();
    each.map(|list| match &touched {
        Some(touched) => by_git(world, format, list, touched),
        None => Past {
            last: on_disk(world, &list.folder),
            landed: BTreeSet::new(),
        },
    })
    .collect()
}

fn by_git(world: &dyn World, format: &str, list: &List, touched: &GitTouched) -> Past {
    let folder = GitPath::from(list.folder.as_str());
    let id = format!("{format}:{}", list.name);
    let mut past = Past::default();
    for commit in &touched.commits {
        if commit.paths.iter().any(|path| path.is_within(&folder)) {
            past.last = past.last.max(Timestamp::from_second(commit.at).ok());
        }
        let value = |name: &str| {
            let mut trailers = commit.trailers.iter().rev();
            trailers
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        };
        if value(LIST_TRAILER) == Some(&id) {
            past.landed.extend(value(TASK_TRAILER).cloned());
        }
    }
    let own = touched
        .uncommitted
        .iter()
        .filter(|path| path.is_within(&folder));
    let times = own.filter_map(|path| {
        let path = str::from_utf8(path.as_bytes()).ok()?;
        world.modified(&world.project().join(path))
    });
    past.last = past.last.max(times.max());
    if past.last.is_none() {
        // Nothing of it is committed and git ignores it.
        past.last = on_disk(world, &list.folder);
    }
    past
}

/// Returns when a file of a folder was last written.
fn on_disk(world: &dyn World, folder: &Utf8Path) -> Option<Timestamp> {
    let mut open: Vec<(Utf8PathBuf, usize)> = vec![(world.project().join(folder), 0)];
    let mut newest = None;
    let mut n_files = 0;
    while let Some((folder, depth)) = open.pop() {
        for entry in world.list(&folder).unwrap_or_default() {
            let path = folder.join(&entry.name);
            n_files += 1;
            if n_files > MOST_FILES {
                return newest;
            }
            match entry.kind {
                Kind::Folder if depth < DEEPEST => open.push((path, depth + 1)),
                Kind::File => newest = newest.max(world.modified(&path)),
                Kind::Folder | Kind::Link | Kind::Other => {}
            }
        }
    }
    newest
}
