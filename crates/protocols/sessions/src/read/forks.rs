//! Forks of Claude Code: new files that begin with the old rows, under their old ids.

use std::cell::RefCell;
use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::traces::is_session_id;
use rekindle_world::{End, World};
use serde_json::Value;

/// How far back a copied row is searched.
const LONGEST_SEARCH: usize = 8 * 1024 * 1024;
/// A file up to this length is searched, however it begins.
const SHORT: u64 = 256 * 1024;
/// The most short files that are searched for one row.
const MOST_SHORT: usize = 40;
/// How much of the beginning of a file is read for its first row.
const HEAD: usize = 16 * 1024;

/// The first rows of transcripts, each read once.
#[derive(Default)]
pub(crate) struct FirstRows(RefCell<BTreeMap<Utf8PathBuf, Option<String>>>);

impl FirstRows {
    /// Returns a search for a row of a transcript in others.
    pub(crate) fn search<'a>(
        &'a self,
        world: &'a dyn World,
        file: &'a Utf8Path,
        row: &'a str,
    ) -> Search<'a> {
        Search {
            known: self,
            world,
            file,
            row,
            n_short: 0,
        }
    }

    fn of(&self, world: &dyn World, file: &Utf8Path) -> Option<String> {
        let mut known = self.0.borrow_mut();
        let read = || first_row(world, file);
        known.entry(file.to_owned()).or_insert_with(read).clone()
    }
}

/// A search for a copied row.
pub(crate) struct Search<'a> {
    known: &'a FirstRows,
    world: &'a dyn World,
    file: &'a Utf8Path,
    row: &'a str,
    n_short: usize,
}

impl Search<'_> {
    /// Returns whether a transcript holds the row.
    ///
    /// A fork begins with the old rows, so the end of a long file is searched only if both begin alike.
    pub(crate) fn is_in(&mut self, other: &Utf8Path) -> bool {
        if !is_session_id(self.row) {
            return false;
        }
        let first = self.known.of(self.world, self.file);
        let is_alike = first.is_some() && first == self.known.of(self.world, other);
        let is_short = self.world.stat(other).is_ok_and(|meta| meta.len <= SHORT);
        self.n_short += usize::from(is_short && !is_alike);
        if !is_alike && (!is_short || self.n_short > MOST_SHORT) {
            return false;
        }
        let end = self.world.read_end(other, End::Tail, LONGEST_SEARCH);
        end.is_ok_and(|bytes| holds(&bytes, self.row))
    }
}

/// Returns whether one of some lines is the row with this id; others name it as their parent.
fn holds(bytes: &[u8], row: &str) -> bool {
    bytes.split(|&byte| byte == b'\n').any(|line| {
        let text = String::from_utf8_lossy(line);
        let is_row = |found: Value| found.get("uuid").and_then(Value::as_str) == Some(row);
        text.contains(row) && serde_json::from_str(text.trim()).is_ok_and(is_row)
    })
}

/// Returns the id of the first row of a transcript that has one.
fn first_row(world: &dyn World, file: &Utf8Path) -> Option<String> {
    let head = world.read_end(file, End::Head, HEAD).ok()?;
    head.split(|&byte| byte == b'\n').find_map(|line| {
        let row: Value = serde_json::from_slice(line).ok()?;
        Some(row.get("uuid")?.as_str()?.to_owned())
    })
}
