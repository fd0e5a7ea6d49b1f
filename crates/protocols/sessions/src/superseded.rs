//! Which sessions were continued by a fork: a newer session of the same folder that has their rows.

use std::collections::BTreeMap;

use camino::Utf8Path;

use crate::assess::{Found, Surroundings, id};
use crate::read::Forks;

/// Returns for each session the newer one that begins with its rows; nothing is searched for those
/// that are not meant.
pub(crate) fn by_forks(
    around: &Surroundings<'_>,
    found: &[Found],
    is_meant: impl Fn(&Found) -> bool,
) -> Vec<Option<String>> {
    let mut shelves: BTreeMap<(&str, &Utf8Path), Vec<usize>> = BTreeMap::new();
    for (at, one) in found.iter().enumerate() {
        if let Some(place) = &one.place {
            let shelf = (one.agent.name(), place.shelf());
            shelves.entry(shelf).or_default().push(at);
        }
    }
    let mut forks = vec![None; found.len()];
    let when = |at: usize| (found[at].last_activity(), found[at].modified);
    for mut shelf in shelves.into_values() {
        shelf.sort_by_key(|&at| when(at));
        let files = shelf.iter().map(|&at| found[at].file.as_path());
        let search = Forks::among(around.world, files);
        for (position, &at) in shelf.iter().enumerate() {
            let of = &found[at];
            let Some(row) = of.story.last_row.as_deref().filter(|_| is_meant(of)) else {
                continue;
            };
            let newer = shelf.partition_point(|&other| when(other) <= when(at));
            let holder = search.holder(row, position, newer);
            forks[at] = holder.map(|position| {
                let other = &found[shelf[position]];
                id(around.shorts, other.agent, &other.id).to_string()
            });
        }
    }
    forks
}
