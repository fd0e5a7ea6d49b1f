//! Files that are cut short or have a byte flipped, while a story is under way.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;

use super::census::evenly;
use super::{Extent, Story, Told};
use crate::sandbox::{Files, Ran};
use crate::soak;

/// What is asked of a project whose files are broken; none of it may write.
const QUESTIONS: [&[&str]; 3] = [
    &["status", "--json"],
    &["inspect", "--json"],
    &["plan", "--json"],
];

/// Breaks the files of a story that has died half way: none is overwritten, nothing panics, and once
/// the file is put right the story comes to its end.
pub fn survives_damage<S: Story>(story: &S, extent: Extent) -> Result<()> {
    let extent = extent.wanted();
    let told = Told::new(story)?;
    let (calm, census) = told.calm()?;
    told.scene.put_back()?;
    let places = census.places(usize::MAX);
    let half_way = places.get(places.len() / 2).context("no place is passed")?;
    told.dies(0, half_way)?;
    told.scene.wait_for_processes()?;
    let root = story.sandbox().root();
    let before = Files::below(root)?;
    let mut n_broken = 0;
    for (path, bytes) in before.iter() {
        let place = root.join(path);
        if bytes.is_empty() || !place.is_file() || !is_state(path) {
            continue;
        }
        let all: Vec<usize> = (0..bytes.len()).collect();
        for at in evenly(&all, extent.damages) {
            for broken in [bytes[..at].to_vec(), flipped(bytes, at)] {
                n_broken += 1;
                fs_err::write(&place, &broken)?;
                is_only_read(story, &before, path, &broken)
                    .with_context(|| format!("{path}, broken at byte {at}"))?;
            }
        }
        fs_err::write(&place, bytes)?;
    }
    ensure!(n_broken > 0, "no file was broken");
    let (ran, _) = told.session(1, &[])?;
    told.compare(&calm, &ran)
        .context("after all was put right")?;
    soak::note(&[("broken files", n_broken)])?;
    Ok(())
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x80;
    bytes
}

/// Asks what can be asked, and looks that the answers come without a panic and without a change.
fn is_only_read<S: Story>(story: &S, before: &Files, path: &Utf8Path, broken: &[u8]) -> Result<()> {
    let now = before.clone().with(path, broken);
    for question in QUESTIONS {
        let ran = story.sandbox().run(question)?;
        is_answered(&ran)?;
        let changes = now.changes(&Files::below(story.sandbox().root())?);
        ensure!(
            changes.is_empty(),
            "{question:?} changed {changes:?}: {ran}"
        );
    }
    Ok(())
}

fn is_answered(ran: &Ran) -> Result<()> {
    let is_known = ran.code().is_some_and(|code| (0..=4).contains(&code));
    ensure!(is_known && !ran.stderr().contains("panicked"), "{ran}");
    ran.json().with_context(|| ran.to_string())?;
    Ok(())
}

/// Returns whether a file, by its path from the root, is the workflow's or rekindle's own.
fn is_state(path: &Utf8Path) -> bool {
    let parts = || path.components().map(|part| part.as_str());
    let is_state = |part: &str| part == "specs" || part.starts_with('.');
    parts().any(is_state) && !parts().any(|part| part == ".git" || part == "worktrees")
}
