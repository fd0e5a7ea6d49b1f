//! The places that a run has passed, by its notes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use camino::Utf8Path;

/// What stands in the notes for a change on the disk, of whatever name.
const CHANGE: &str = "change";

/// Places by the command that passed them, in the order of their first passing, and how often.
#[derive(Debug, Clone, Default)]
pub struct Census {
    passed: Vec<(String, u32)>,
}

impl Census {
    /// Reads notes: a process, a mark, a command and a place a line.
    pub(super) fn read(notes: &Utf8Path) -> io::Result<Self> {
        let text = match fs_err::read_to_string(notes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        Ok(Self::of(&text))
    }

    fn of(notes: &str) -> Self {
        let mut by_process: BTreeMap<&str, u32> = BTreeMap::new();
        let mut passed: Vec<(String, u32)> = Vec::new();
        for line in notes.lines() {
            let nth = by_process.entry(line).or_default();
            *nth += 1;
            let Some((_, place)) = line.split_once([' ', '=']) else {
                continue;
            };
            // Processes of one command count for themselves: the busiest counts.
            match passed.iter_mut().find(|(known, _)| known == place) {
                Some((_, most)) => *most = (*most).max(*nth),
                None => passed.push((place.to_owned(), 1)),
            }
        }
        Self { passed }
    }

    /// Returns the names of all places, without who passed them.
    pub fn names(&self) -> BTreeSet<&str> {
        let names = self.passed.iter().filter_map(|(place, _)| {
            let (_, name) = place.split_once('/')?;
            (name != CHANGE).then_some(name)
        });
        names.collect()
    }

    /// Returns at most so many passings, each name's first before any other's second.
    pub(super) fn places(&self, most: usize) -> Vec<String> {
        let is_place = |place: &str| !place.ends_with(&format!("/{CHANGE}"));
        let passed = || self.passed.iter().filter(|(place, _)| is_place(place));
        let names: Vec<String> = passed().map(|(place, _)| format!("{place}:1")).collect();
        let mut chosen: Vec<String> = evenly(&names, most).collect();
        let others: Vec<String> = passed()
            .flat_map(|(place, most)| (2..=*most).map(move |nth| format!("{place}:{nth}")))
            .collect();
        let n_left = most - chosen.len();
        chosen.extend(evenly(&others, n_left));
        chosen
    }

    /// Returns at most so many changes, by command and number.
    pub(super) fn changes(&self, most: usize) -> Vec<(String, u32)> {
        let all: Vec<(String, u32)> = self
            .passed
            .iter()
            .filter_map(|(place, n)| Some((place.strip_suffix(CHANGE)?.strip_suffix('/')?, *n)))
            .flat_map(|(command, n)| (1..=n).map(|nth| (command.to_owned(), nth)))
            .collect();
        evenly(&all, most).collect()
    }
}

/// Returns at most so many of a list, from its beginning to its end.
pub(super) fn evenly<T: Clone>(all: &[T], most: usize) -> impl Iterator<Item = T> {
    let n = all.len().min(most);
    (0..n).map(move |number| all[number * all.len() / n].clone())
}

/// Returns one of a list, far from the one before; an empty list has none.
pub(super) fn spread<T>(all: &[T], number: usize) -> Option<&T> {
    // A prime: whatever the length, all of the list come in turn.
    let place = (number * 7919).checked_rem(all.len())?;
    all.get(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTES: &str = "7 run/fs-write\n7=run/change\n8 worker/fs-write\n8=worker/change\n7 run/after-claim\n9 worker/fs-write\n9=worker/change\n9 worker/fs-write\n9=worker/change\n";

    #[test]
    fn processes_of_one_command_are_counted_each_by_itself() {
        let census = Census::of(NOTES);
        assert_eq!(
            census.places(usize::MAX),
            [
                "run/fs-write:1",
                "worker/fs-write:1",
                "run/after-claim:1",
                "worker/fs-write:2"
            ]
        );
        assert_eq!(census.names(), BTreeSet::from(["after-claim", "fs-write"]));
        let changes = [("run", 1), ("worker", 1), ("worker", 2)];
        assert_eq!(
            census.changes(9),
            changes.map(|(command, nth)| (command.to_owned(), nth))
        );
        assert_eq!(census.changes(1), [("run".to_owned(), 1)]);
    }

    #[test]
    fn each_name_comes_before_any_second_passing() {
        let notes = "1 a/x\n".repeat(50) + "1 a/y\n";
        let census = Census::of(&notes);
        let places = census.places(6);
        assert_eq!(places[..2], ["a/x:1", "a/y:1"]);
        assert_eq!(places.len(), 6);
        assert_eq!(census.places(usize::MAX).len(), 51);
    }

    #[test]
    fn of_more_names_than_are_wanted_the_last_come_too() {
        let notes: Vec<String> = (0..40).map(|n| format!("1 a/x{n}\n")).collect();
        let places = Census::of(&notes.concat()).places(4);
        assert_eq!(places, ["a/x0:1", "a/x10:1", "a/x20:1", "a/x30:1"]);
    }
}
