//! Readers of what each program writes: where its sessions are, and what their rows say.
//!
//! A reader opens transcripts, lists of processes and databases of the user, and never a link, a key
//! or a file of another user. Only the end of a transcript is read.

mod claude;
mod claude_rows;
mod codex;
mod forks;
mod gemini;
mod opencode;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_agents::Preset;
use rekindle_agents::traces::Tail;
use rekindle_world::{Kind, Owner, World};

pub(crate) use self::claude::Claude;
pub(crate) use self::forks::Forks;
pub(crate) use self::opencode::{Conversation, Opencode};
use crate::story::Story;

/// How many bytes of the end are read first.
const FIRST: usize = 16 * 1024;
/// How many bytes are read to find the last prompt and the folder, if the rest is known already.
const FOR_PROMPT: usize = 256 * 1024;

/// A transcript that was found.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) agent: Preset,
    /// The program's id, or its beginning if only that is in the name of the file.
    pub(crate) id: String,
    pub(crate) file: Utf8PathBuf,
    pub(crate) modified: Option<Timestamp>,
}

/// How much of a transcript is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// As much as tells how far it had come.
    State,
    /// As much as is ever read, for a hand-over.
    Everything,
}

impl Place {
    /// Returns the folder that the file is in, which sessions of one folder share.
    pub(crate) fn shelf(&self) -> &Utf8Path {
        self.file.parent().unwrap_or(&self.file)
    }
}

/// Finds all transcripts by their names.
pub(crate) fn places(world: &dyn World) -> Vec<Place> {
    let mut found = claude::places(world);
    found.extend(codex::places(world));
    found.extend(gemini::places(world));
    found
}

/// Looks at transcripts: those that are files, each with its time.
pub(crate) fn look(world: &dyn World, found: Vec<Place>) -> Vec<Place> {
    let paths: Vec<Utf8PathBuf> = found.iter().map(|place| place.file.clone()).collect();
    let seen = world.look_at_each(&paths);
    let both = found.into_iter().zip(seen);
    both.filter_map(|(place, seen)| {
        let seen = seen.filter(|seen| seen.meta.kind == Kind::File)?;
        let modified = seen.modified;
        Some(Place { modified, ..place })
    })
    .collect()
}

/// Reads a transcript; `None` if it is not a session, or belongs to another user.
pub(crate) fn read(world: &dyn World, place: &Place, depth: Depth) -> Option<Story> {
    if world.ownership(&place.file).ok()?.owner != Owner::Me {
        return None;
    }
    match place.agent {
        Preset::Claude => Some(claude::read(world, place, depth)),
        Preset::Codex => codex::read(world, place, depth),
        Preset::Gemini => gemini::read(world, place, depth),
        // It keeps its sessions in a database.
        Preset::Opencode => None,
    }
}

/// Reads the rows at the end of a transcript until they are enough.
fn rows(
    world: &dyn World,
    file: &Utf8Path,
    depth: Depth,
    tell: impl Fn(&Tail) -> Story,
    is_enough: impl Fn(&Tail) -> bool,
) -> Story {
    let tail = match depth {
        Depth::Everything => Tail::longest(world, file),
        Depth::State => Tail::read(world, file, FIRST, |tail| {
            is_enough(tail) && (tail.len >= FOR_PROMPT || tell(tail).prompt.is_some())
        }),
    };
    let tail = tail.unwrap_or_default();
    let mut story = tell(&tail);
    story.is_torn = tail.is_torn;
    story.is_intact = !tail.is_cut && !tail.is_torn && tail.n_damaged == 0 && !tail.rows.is_empty();
    story
}

/// Returns the names of the files of a folder that have a beginning and an end, without both.
fn named<'a>(
    world: &dyn World,
    folder: &'a Utf8Path,
    start: &'a str,
    end: &'a str,
) -> impl Iterator<Item = (String, Utf8PathBuf)> + use<'a> {
    let entries = world.list(folder).unwrap_or_default().into_iter();
    entries
        .filter(|entry| entry.kind == Kind::File)
        .filter_map(move |entry| {
            let middle = entry.name.strip_prefix(start)?.strip_suffix(end)?;
            Some((middle.to_owned(), folder.join(&entry.name)))
        })
}

/// Returns the folders in a folder.
fn folders(world: &dyn World, folder: &Utf8Path) -> Vec<(String, Utf8PathBuf)> {
    let entries = world.list(folder).unwrap_or_default().into_iter();
    let folders = entries.filter(|entry| entry.kind == Kind::Folder);
    folders
        .map(|entry| {
            let path = folder.join(&entry.name);
            (entry.name, path)
        })
        .collect()
}
