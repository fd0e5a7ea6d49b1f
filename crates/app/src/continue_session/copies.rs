//! Copies of transcripts of Gemini CLI, which deletes a session that was resumed.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Preset;
use rekindle_fs::{Company, Content};
use rekindle_model::{Code, Finding, Session};
use rekindle_text::option_words;
use rekindle_world::World as _;

use super::claim;
use crate::{Error, Project};

/// The most copies of a session.
const MOST: usize = 5;
/// A longer conversation fits no model.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Keeps a copy of the transcript of a session whose program deletes it, and returns what to say of it.
pub(super) fn keep_of(project: &Project, session: &Session) -> Result<Option<Finding>, Error> {
    if !is_forgotten(session) {
        return Ok(None);
    }
    let copy = keep(project, session)?;
    let open = format!("gemini {}", option_words("--session-file", copy.as_str()));
    Ok(Some(finding(&format!(
        "the copy is `{copy}`, and `{open}` opens it as a new session"
    ))))
}

/// Returns what a resume will say, if the program of a session deletes its transcript.
pub(super) fn forgets(project: &Project, session: &Session) -> Option<Finding> {
    let folder = folder_of(project, session)?;
    Some(finding(&format!("a resume keeps copies in `{folder}`")))
}

fn finding(more: &str) -> Finding {
    let message =
        "Gemini CLI deletes the transcript of a resumed session when it starts in its folder again";
    Finding::new(Code::GeminiForgets, format!("{message}; {more}"))
}

fn is_forgotten(session: &Session) -> bool {
    Preset::of(session.agent) == Some(Preset::Gemini)
}

/// Returns the folder of the copies of a session, if any are kept.
pub(super) fn folder_of(project: &Project, session: &Session) -> Option<Utf8PathBuf> {
    let folder = claim::folder(project)
        .ok()
        .filter(|_| is_forgotten(session))?;
    Some(copies_of(&folder, session))
}

fn copies_of(folder: &Utf8Path, session: &Session) -> Utf8PathBuf {
    folder
        .join("copies")
        .join(format!("{}-{}", session.agent, session.session))
}

/// Keeps a copy of a transcript, and returns its path; equal ones are kept once.
fn keep(project: &Project, session: &Session) -> Result<Utf8PathBuf, Error> {
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
    let is_kept = |last: &Utf8PathBuf| world.read(last, LARGEST).is_ok_and(|last| last == bytes);
    let path = match kept.last() {
        Some((_, last)) if is_kept(last) => last.clone(),
        last => {
            let number = last.map_or(1, |(number, _)| number.saturating_add(1));
            let path = folder.join(format!("{number}.jsonl"));
            rekindle_fs::create_private(&path, &bytes)?;
            kept.push((number, path.clone()));
            path
        }
    };
    // A death after the last copy was made may have left one too many.
    for (_, old) in kept.iter().take(kept.len().saturating_sub(MOST)) {
        rekindle_fs::remove(old, &Content::read(old)?)?;
    }
    Ok(path)
}
