//! In which order places were passed: what is written is synced before anything is built upon it.
//!
//! A kill shows no missing sync, since the kernel keeps what was written; only a power cut would. The
//! notes of an undisturbed run have every write and every sync in their order.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

/// Changes that are lost in a power cut unless a sync follows.
const NEED_SYNC: [&str; 2] = ["fs-write", "fs-rename"];
const SYNC: &str = "fs-sync";

/// Checks that no process has a write or a rename without a sync behind it when it passes one of these
/// points, and that each of them is passed.
pub(super) fn check(notes: &str, points: &[&str]) -> Result<()> {
    let mut unsynced: BTreeMap<&str, &str> = BTreeMap::new();
    let mut passed = BTreeSet::new();
    for line in notes.lines() {
        let Some((process, place)) = line.split_once(' ') else {
            continue;
        };
        let name = place.rsplit('/').next().unwrap_or_default();
        if NEED_SYNC.contains(&name) {
            unsynced.insert(process, name);
        } else if name == SYNC {
            unsynced.remove(process);
        } else if points.contains(&name) {
            passed.insert(name);
            let found = unsynced.get(process);
            ensure!(found.is_none(), "{place} with an unsynced {found:?}");
        }
    }
    let missed: Vec<_> = points
        .iter()
        .filter(|point| !passed.contains(*point))
        .collect();
    ensure!(missed.is_empty(), "never passed: {missed:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_of_the_same_process_without_a_sync_behind_it_is_found() {
        let is_good = |notes: &str| check(notes, &["after-intent"]).is_ok();
        assert!(is_good(
            "1 run/fs-write\n1=run/change\n1 run/fs-write-half\n1 run/fs-sync\n1 run/after-intent\n"
        ));
        assert!(is_good("2 worker/fs-write\n1 run/after-intent\n"));
        assert!(!is_good(
            "1 run/fs-write\n2 worker/fs-sync\n1 run/after-intent\n"
        ));
        assert!(!is_good(
            "1 run/fs-sync\n1 run/fs-rename\n1 run/after-intent\n"
        ));
        assert!(!is_good("1 run/fs-write\n1 run/fs-sync\n"), "never passed");
    }
}
