//! Copies of transcripts of Gemini CLI, which deletes a session that was resumed.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::{Company, Content};
use rekindle_model::Session;
use rekindle_world::World as _;

use super::claim;
use crate::{Error, Project};

/// The most copies of a session.
const MOST: usize = 5;
/// A longer conversation fits no model.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Returns the folder of the copies of a session, as it is shown.
pub(super) fn folder(project: &Project, session: &Session) -> String {
    let folder = claim::folder(project).map(|folder| copies_of(&folder, session));
    folder.map_or_else(|_| "nowhere".to_owned(), Utf8PathBuf::into_string)
}

fn copies_of(folder: &Utf8Path, session: &Session) -> Utf8PathBuf {
    folder
        .join("copies")
        .join(format!("{}-{}", session.agent, session.session))
}

/// Keeps a copy of a transcript, and returns its path; equal ones are kept once.
pub(super) fn keep(project: &Project, session: &Session) -> Result<Utf8PathBuf, Error> {
    let folder = copies_of(&claim::folder(project)?, session);
    for part in [folder.parent(), Some(folder.as_path())]
        .into_iter()
        .flatten()
    {
        rekindle_fs::ensure_private_dir(part, Company::Nobody)?;
    }
    let world = project.world();
    let file = &session.transcript;
    let bytes = world
        .read(file, LARGEST)
        .map_err(|reason| Error::Unreadable {
            path: file.clone(),
            reason,
        })?;
    let mut kept: Vec<(u32, Utf8PathBuf)> = world
        .list(&folder)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|entry| {
            let number = entry.name.strip_suffix(".jsonl")?.parse().ok()?;
            Some((number, folder.join(&entry.name)))
        })
        .collect();
    kept.sort_unstable();
    if let Some((_, last)) = kept.last()
        && world.read(last, LARGEST).is_ok_and(|last| last == bytes)
    {
        return Ok(last.clone());
    }
    let number = kept
        .last()
        .map_or(1, |(number, _)| number.saturating_add(1));
    let path = folder.join(format!("{number}.jsonl"));
    rekindle_fs::create_private(&path, &bytes)?;
    let surplus = (kept.len() + 1).saturating_sub(MOST);
    for (_, old) in kept.iter().take(surplus) {
        rekindle_fs::remove(old, &Content::read(old)?)?;
    }
    Ok(path)
}
