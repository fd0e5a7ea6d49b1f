//! Whether a repair has suspended the run of a branch.
//!
//! Since MAP 3.33 a run can be suspended for a repair. The state then has a marker, and the repair has
//! a journal `<git folder>/map-repairs/repair-<24 hex digits>/journal.json`. Until the repair is finished,
//! commands that change something are refused. Contradictory or unreadable files count as an open
//! repair, because a wrong guess would damage both runs.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_text::excerpt;
use rekindle_text::python_json::{self, Json, Object};
use rekindle_world::{GitAnswer, GitQuestion, Kind, ReadError};
use serde::Deserialize;

use super::desk::{Desk, LARGEST};
use super::layout::{self, Branch};
use super::state::{StateFile, key};

/// The folder of all repairs, in the git folder of the worktree.
const STORAGE: &str = "map-repairs";
const JOURNAL: &str = "journal.json";
/// The stage of a repair that is over.
const DONE: &str = "done";
/// Only the stricter parser reads a larger journal.
const LARGEST_LENIENT: usize = 4 * 1024 * 1024;
/// The longest path in a message.
const LONGEST_WORD: usize = 200;

/// Whether a repair has suspended the run of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interruption {
    /// No repair is open.
    Idle,
    /// A repair is open.
    Open(Repair),
    /// Marker and journals contradict each other or cannot be read, so nothing may change.
    Unclear(Contradiction),
}

/// An open repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// Its name.
    pub operation: String,
    /// Its stage.
    pub stage: String,
    /// Its checkout.
    pub checkout: String,
}

/// Why it is unclear whether a repair is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// One sentence that names the state file and the journal.
    pub reason: String,
    /// The file or folder of the repair.
    pub place: String,
    /// Whether the marker or a journal of this branch says that a repair is open.
    pub is_claimed: bool,
}

impl Interruption {
    /// Reads it for a branch; `file` is `None` if the state file cannot be read at all.
    pub fn read(desk: Desk<'_>, file: Option<&StateFile>) -> Self {
        match examined(desk, file) {
            Ok(None) => Self::Idle,
            Ok(Some(repair)) => Self::Open(repair),
            Err(contradiction) => Self::Unclear(contradiction),
        }
    }

    /// Returns the answer of `get_interruption_status`.
    pub fn status(&self) -> Object {
        match self {
            Self::Idle => Object::new().with("status", "idle"),
            Self::Open(repair) => Object::new()
                .with("status", "interrupted")
                .with("operation_id", &repair.operation)
                .with("stage", &repair.stage)
                .with("private_checkout", &repair.checkout),
            Self::Unclear(contradiction) => error(&contradiction.reason),
        }
    }

    /// Returns the answer of a command that would change something, if it must not.
    pub(crate) fn refusal(&self) -> Option<Object> {
        if *self == Self::Idle {
            return None;
        }
        let mut answer = self.status();
        answer.set("status", "error");
        answer.set("valid", false);
        Some(answer)
    }
}

/// Returns the answer of `get_interruption_status` where something cannot be read.
pub(crate) fn error(reason: &str) -> Object {
    Object::new()
        .with("status", "error")
        .with("reasons", vec![reason])
}

/// What the journals of the git folder say.
struct Storage {
    folder: Utf8PathBuf,
    /// The project as the journals spell it.
    root: Utf8PathBuf,
    /// Each with the name of its folder.
    journals: Vec<(String, Journal)>,
}

/// The values of a journal that matter here; all its other values are ignored.
#[derive(Debug, Default, Deserialize)]
struct Journal {
    operation_id: Option<String>,
    contract_digest: Option<String>,
    branch: Option<String>,
    root: Option<String>,
    stage: Option<String>,
    private_checkout: Option<String>,
}

fn examined(desk: Desk<'_>, file: Option<&StateFile>) -> Result<Option<Repair>, Contradiction> {
    let state = desk.branch.file(layout::STATE);
    // If the state cannot be read, the journals decide.
    let readable = file.filter(|file| file.damage().is_none());
    let marker = readable.map(|file| file.state.get(key::INTERRUPTION));
    let marker = marker.filter(|marker| **marker != Json::Null);
    let is_claimed = marker.is_some();
    let Some(storage) = storage(desk, is_claimed)? else {
        return match marker {
            None => Ok(None),
            Some(_) => Err(Contradiction {
                reason: format!(
                    "`{state}` has the marker `active_interruption`, but there is no journal of a repair in `{STORAGE}` of the git folder"
                ),
                place: state,
                is_claimed,
            }),
        };
    };
    let mut open = storage.journals.iter().filter(|(_, journal)| {
        journal.branch.as_deref() == Some(desk.branch.as_str())
            && journal.stage.as_deref() != Some(DONE)
    });
    let open = open.next().map(|(name, _)| name.as_str());
    let contradiction = |name: Option<&str>, what: &str| {
        let place = match name {
            Some(name) => storage.folder.join(name).join(JOURNAL),
            None => storage.folder.clone(),
        };
        let place = excerpt(place.as_str(), LONGEST_WORD);
        Contradiction {
            reason: format!("{what}: `{state}`, `{place}`"),
            place,
            is_claimed: is_claimed || open.is_some(),
        }
    };
    if file.is_some_and(|file| !file.is_there()) {
        return Err(contradiction(
            open,
            "there is a folder of repairs, but the state file of the branch is missing",
        ));
    }
    let Some(marker) = marker else {
        return match open {
            None => Ok(None),
            Some(_) if readable.is_none() => Err(contradiction(
                open,
                "a repair is not finished, but its state file cannot be read",
            )),
            Some(_) => Err(contradiction(
                open,
                "a repair is not finished, but the state has no marker `active_interruption` for it",
            )),
        };
    };
    let mismatch = |name: Option<&str>, what: &str| {
        let what = format!("the marker `active_interruption` and the journal disagree: {what}");
        contradiction(name.or(open), &what)
    };
    let operation = marker
        .as_object()
        .and_then(|marker| marker.text("operation_id"));
    let Some(operation) = operation.filter(|operation| is_operation(operation)) else {
        return Err(mismatch(None, "the marker does not name a repair"));
    };
    let mut journals = storage.journals.iter();
    let Some((name, journal)) = journals.find(|(name, _)| name == operation) else {
        return Err(mismatch(
            None,
            &format!("there is no journal of `{operation}`"),
        ));
    };
    if let Some(what) = journal.difference(marker, desk.branch, &storage.root) {
        return Err(mismatch(Some(name), &format!("the journal has {what}")));
    }
    let text = |value: &Option<String>, key: &str| {
        let missing = || mismatch(Some(name), &format!("the journal has no text `{key}`"));
        value.clone().ok_or_else(missing)
    };
    Ok(Some(Repair {
        // The folder has the name of its repair.
        operation: journal.operation_id.clone().unwrap_or_else(|| name.clone()),
        stage: text(&journal.stage, "stage")?,
        checkout: text(&journal.private_checkout, "private_checkout")?,
    }))
}

/// Returns whether a word is the name of a repair and safe in a path.
fn is_operation(word: &str) -> bool {
    let digits = word.strip_prefix("repair-");
    digits.is_some_and(|digits| {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        digits.len() == 24 && digits.bytes().all(is_digit)
    })
}

/// Reads all journals in the worktree's git folder, if there is a folder of repairs.
fn storage(desk: Desk<'_>, is_claimed: bool) -> Result<Option<Storage>, Contradiction> {
    let head = desk.git(&GitQuestion::HeadName);
    let Ok(head) = head.and_then(GitAnswer::head_name) else {
        return Ok(None);
    };
    let Some(git_dir) = head.git_dir else {
        return Ok(None);
    };
    let folder = git_dir.join(STORAGE);
    let state = desk.branch.file(layout::STATE);
    let unreadable = |place: &Utf8Path, what: &str| {
        let place = excerpt(place.as_str(), LONGEST_WORD);
        Contradiction {
            reason: format!(
                "`{place}` {what}, so it is unclear whether a repair has suspended the run of `{state}`"
            ),
            place,
            is_claimed,
        }
    };
    match desk.world.stat(&folder).map(|meta| meta.kind) {
        Err(ReadError::NotFound) => return Ok(None),
        Ok(Kind::Folder) => {}
        Ok(Kind::Link) => return Err(unreadable(&folder, "is a link")),
        Ok(Kind::File | Kind::Other) => return Err(unreadable(&folder, "is not a folder")),
        Err(error) => return Err(unreadable(&folder, &format!("cannot be read ({error})"))),
    }
    let entries = desk.world.list(&folder);
    let entries =
        entries.map_err(|error| unreadable(&folder, &format!("cannot be read ({error})")))?;
    let mut journals = Vec::new();
    for entry in entries {
        let own = folder.join(&entry.name);
        if entry.kind != Kind::Folder {
            return Err(unreadable(&own, "is not the folder of a repair"));
        }
        let path = own.join(JOURNAL);
        let journal = journal(desk, &path).map_err(|what| unreadable(&path, &what))?;
        journals.push((entry.name, journal));
    }
    let root = desk.world.resolve(&head.top_level);
    Ok(Some(Storage {
        folder,
        root: root.unwrap_or(head.top_level),
        journals,
    }))
}

/// Reads one journal, or returns what is wrong with it.
fn journal(desk: Desk<'_>, path: &Utf8Path) -> Result<Journal, String> {
    match desk.world.stat(path).map(|meta| meta.kind) {
        Ok(Kind::File) => {}
        Ok(Kind::Link) => return Err("is a link".to_owned()),
        Ok(Kind::Folder | Kind::Other) => return Err("is not a file".to_owned()),
        Err(ReadError::NotFound) => return Err("is missing".to_owned()),
        Err(error) => return Err(format!("cannot be read ({error})")),
    }
    let bytes = desk.world.read(path, LARGEST);
    let bytes = bytes.map_err(|error| format!("cannot be read ({error})"))?;
    let text = str::from_utf8(&bytes).map_err(|_| "is not UTF-8".to_owned())?;
    // A journal has a copy of every file, so only a few values are kept.
    match serde_json::from_str(text) {
        Ok(journal) => Ok(journal),
        Err(error) if text.len() > LARGEST_LENIENT => Err(format!("is not a journal ({error})")),
        // Python accepts duplicate keys and NaN; other types of values are read leniently too.
        Err(_) => match python_json::parse(text) {
            Ok(Json::Object(object)) => Ok(Journal::of(&object)),
            Ok(other) => Err(format!("holds {}, not an object", other.kind())),
            Err(error) => Err(format!("is not JSON ({error})")),
        },
    }
}

impl Journal {
    /// Returns what differs from the marker, the branch and the project.
    fn difference(&self, marker: &Json, branch: &Branch, root: &Utf8Path) -> Option<&'static str> {
        let digest = marker.as_object();
        let digest = digest.and_then(|marker| marker.get("contract_digest"));
        let digest = digest.filter(|digest| **digest != Json::Null);
        // A missing value is not a contradiction.
        let is_another = match (&self.contract_digest, digest) {
            (Some(known), Some(digest)) => !digest.is_text(known),
            (None, _) | (Some(_), None) => false,
        };
        if is_another {
            Some("another `contract_digest`")
        } else if self.branch.as_deref() != Some(branch.as_str()) {
            Some("another `branch`")
        } else if self.root.as_deref() != Some(root.as_str()) {
            Some("another `root`")
        } else {
            None
        }
    }

    fn of(object: &Object) -> Self {
        let text = |key: &str| object.text(key).map(str::to_owned);
        Self {
            operation_id: text("operation_id"),
            // A digest that is not a string matches nothing.
            contract_digest: object
                .get("contract_digest")
                .filter(|digest| **digest != Json::Null)
                .map(|_| text("contract_digest").unwrap_or_default()),
            branch: text("branch"),
            root: text("root"),
            stage: text("stage"),
            private_checkout: text("private_checkout"),
        }
    }
}

#[cfg(test)]
#[path = "interruption_tests.rs"]
mod tests;
