//! Forks of Claude Code: new files that begin with the old rows, under their old ids.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;

use camino::Utf8Path;
use rekindle_agents::traces::is_session_id;
use rekindle_world::{End, World};
use serde_json::Value;

/// How far back a copied row is searched.
const LONGEST_SEARCH: usize = 8 * 1024 * 1024;
/// A file up to this length is searched, however it begins.
const SHORT: u64 = 256 * 1024;
/// The most short files of a folder that are searched.
const MOST_SHORT: usize = 40;
/// How much of the beginning of a file usually has its first row.
const HEAD: usize = 16 * 1024;
/// How much of it is read otherwise: a prompt can be long.
const LONGEST_HEAD: usize = 256 * 1024;

/// The transcripts of one folder, of which each is read at most once.
pub(crate) struct Forks<'a> {
    world: &'a dyn World,
    files: Vec<File<'a>>,
    n_short: Cell<usize>,
}

/// A transcript, and what was read of it.
struct File<'a> {
    path: &'a Utf8Path,
    first: OnceCell<Option<String>>,
    rows: OnceCell<BTreeSet<String>>,
}

impl<'a> Forks<'a> {
    /// Returns a search among files, the oldest first.
    pub(crate) fn among(world: &'a dyn World, files: impl Iterator<Item = &'a Utf8Path>) -> Self {
        let file = |path| File {
            path,
            first: OnceCell::new(),
            rows: OnceCell::new(),
        };
        Self {
            world,
            files: files.map(file).collect(),
            n_short: Cell::new(0),
        }
    }

    /// Returns which of the files from a position on is the first that holds a row of another one.
    ///
    /// A fork begins with the old rows, so the end of a long file is searched only if both begin alike.
    pub(crate) fn holder(&self, row: &str, of: usize, from: usize) -> Option<usize> {
        if !is_session_id(row) || from >= self.files.len() {
            return None;
        }
        let first = self.files.get(of)?.first(self.world);
        (from..self.files.len()).find(|&at| at != of && self.is_in(&self.files[at], row, first))
    }

    fn is_in(&self, other: &File<'_>, row: &str, first: Option<&str>) -> bool {
        if first.is_some() && other.first(self.world) == first {
            let end = self.world.read_end(other.path, End::Tail, LONGEST_SEARCH);
            return end.is_ok_and(|bytes| lines_with(&bytes, row).any(|id| id == row));
        }
        other
            .rows
            .get_or_init(|| self.short(other.path))
            .contains(row)
    }

    /// Returns the ids of all rows of a short file; none of others, or after too many of them.
    fn short(&self, file: &Utf8Path) -> BTreeSet<String> {
        let is_short = self.world.stat(file).is_ok_and(|meta| meta.len <= SHORT);
        if !is_short || self.n_short.get() == MOST_SHORT {
            return BTreeSet::new();
        }
        self.n_short.set(self.n_short.get() + 1);
        let bytes = self.world.read_end(file, End::Tail, LONGEST_SEARCH);
        lines_with(&bytes.unwrap_or_default(), "\"uuid\"").collect()
    }
}

impl File<'_> {
    fn first(&self, world: &dyn World) -> Option<&str> {
        let read = || {
            [HEAD, LONGEST_HEAD]
                .into_iter()
                .find_map(|most| first_row(world, self.path, most))
        };
        self.first.get_or_init(read).as_deref()
    }
}

/// Returns the ids of the rows on lines that contain a text; others name a row as their parent.
fn lines_with<'b>(bytes: &'b [u8], text: &'b str) -> impl Iterator<Item = String> + 'b {
    bytes.split(|&byte| byte == b'\n').filter_map(move |line| {
        let line = String::from_utf8_lossy(line);
        if !line.contains(text) {
            return None;
        }
        let row: Value = serde_json::from_str(line.trim()).ok()?;
        Some(row.get("uuid")?.as_str()?.to_owned())
    })
}

/// Returns the id of the first row of a transcript that has one.
fn first_row(world: &dyn World, file: &Utf8Path, most: usize) -> Option<String> {
    let head = world.read_end(file, End::Head, most).ok()?;
    lines_with(&head, "\"uuid\"").next()
}
