//! When something last happened in a list, and what commits prove of it.

use std::collections::{BTreeSet, HashMap};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{
    GitAnswer, GitPath, GitQuestion, GitTouch, GitTouched, Kind, ReadError, World,
};

use crate::lists::format::List;

/// The trailer that names the list of a commit.
const LIST_TRAILER: &str = "Rekindle-List";
/// The trailer that names the task of a commit.
const TASK_TRAILER: &str = "Rekindle-Task";
/// The files of a list are looked at so deep, and so many of them.
const DEEPEST: usize = 6;
const MOST_FILES: usize = 2_000;

/// A clock may have been wrong by so many seconds when a list was first committed.
const SLACK: i64 = 7 * 24 * 60 * 60;

/// What is known of the past of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// When something last happened in it.
    pub(crate) last: Option<Timestamp>,
    /// The ids of the tasks whose commits are there.
    pub(crate) landed: BTreeSet<String>,
    /// The time before which nothing of it can have landed, in seconds since 1970.
    pub(crate) since: Option<i64>,
}

/// Returns the past of each list.
pub(crate) fn of_each(world: &dyn World, format: &str, lists: &[List]) -> Vec<Past> {
    let paths: Vec<String> = lists.iter().map(|list| list.folder.to_string()).collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let answer = world.git(world.project(), &GitQuestion::Touched { paths });
    let touched = match answer.and_then(GitAnswer::touched) {
        Ok(touched) => touched,
        Err(ReadError::NotFound) => {
            let by_disk = |list: &List| Past {
                last: on_disk(world, &list.folder),
                ..Past::default()
            };
            return lists.iter().map(by_disk).collect();
        }
        Err(_) => GitTouched::default(),
    };
    let first = touched.commits.iter().map(|commit| commit.at).min();
    let since = first.map(|first| first.saturating_sub(SLACK));
    let mut commits = touched.commits.clone();
    // A landed commit that could not make its mark touched no file of the list.
    commits.extend(since.map_or_else(Vec::new, |since| trailed(world, since, false)));
    let each = lists.iter().map(|list| Past {
        last: last(world, list, &touched),
        landed: landed(format, list, &commits),
        since,
    });
    each.collect()
}

/// Returns the ids of the tasks of a list whose commits what is checked out has.
pub(crate) fn in_head(
    world: &dyn World,
    format: &str,
    list: &List,
    since: i64,
) -> BTreeSet<String> {
    landed(format, list, &trailed(world, since, true))
}

/// Returns the commits that did a task of any list.
fn trailed(world: &dyn World, since: i64, of_head: bool) -> Vec<GitTouch> {
    let question = GitQuestion::Trailed {
        trailer: LIST_TRAILER.to_owned(),
        since,
        of_head,
    };
    let answer = world.git(world.project(), &question);
    let touched = answer.and_then(GitAnswer::touched);
    touched.map(|touched| touched.commits).unwrap_or_default()
}

/// Returns the ids of the tasks of a list that commits prove done.
fn landed(format: &str, list: &List, commits: &[GitTouch]) -> BTreeSet<String> {
    let id = format!("{format}:{}", list.name);
    let of_list = commits.iter().filter_map(|commit| {
        let value = |name: &str| {
            let mut trailers = commit.trailers.iter().rev();
            trailers
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        };
        let is_own = value(LIST_TRAILER) == Some(&id);
        let task = value(TASK_TRAILER).filter(|_| is_own)?;
        Some((task, commit))
    });
    let of_list: Vec<(&String, &GitTouch)> = of_list.collect();
    if of_list.is_empty() {
        return BTreeSet::new();
    }
    let tasks = list.file.tasks.iter();
    let by_place: HashMap<&str, &str> = tasks
        .filter(|task| task.is_counted)
        .map(|task| (task.id.as_str(), task.title.as_str()))
        .collect();
    // An id that is only a place may mean another task by now; the subject of our commits has the title.
    let is_meant = |(task, commit): &(&String, &GitTouch)| {
        let Some(title) = by_place.get(task.as_str()) else {
            return true;
        };
        let subject = commit.subject.strip_prefix(&format!("[{task}] "));
        subject.is_none_or(|subject| is_same(subject, title))
    };
    let proven = of_list.into_iter().filter(is_meant);
    proven.map(|(task, _)| task.clone()).collect()
}

/// Returns whether the subject of a commit has a title, as far as letters and digits go: git folds blanks.
pub(crate) fn is_same(subject: &str, title: &str) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    letters(subject) == letters(title)
}

/// Returns when something last happened in a list.
fn last(world: &dyn World, list: &List, touched: &GitTouched) -> Option<Timestamp> {
    let folder = GitPath::from(list.folder.as_str());
    let is_own = |path: &GitPath| path.is_within(&folder);
    let commits = touched.commits.iter();
    let own = commits.filter(|commit| commit.paths.iter().any(is_own));
    let committed = own.filter_map(|commit| Timestamp::from_second(commit.at).ok());
    let uncommitted = touched.uncommitted.iter().filter(|path| is_own(path));
    let times = uncommitted.filter_map(|path| {
        let path = str::from_utf8(path.as_bytes()).ok()?;
        world.modified(&world.project().join(path))
    });
    let last = committed.max().max(times.max());
    // Without both, nothing of it is committed and git ignores it.
    last.or_else(|| on_disk(world, &list.folder))
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
