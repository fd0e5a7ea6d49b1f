//! Changes applied to another tree path by path, without a merge.
//!
//! A merge guesses where a folder was moved; where nobody else changes the paths, that is not
//! needed.

use crate::changes::{Change, ChangeKind};
use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;
use crate::scratch::Scratch;
use crate::snapshot::index_line;

impl Repo {
    /// Writes the tree of `onto` with these changes in it, and returns its id.
    ///
    /// The content of what is new must be stored already ([`Repo::snapshot_tree`]).
    pub fn overlay(&self, onto: &ObjectId, changes: &[Change]) -> Result<ObjectId, Error> {
        let scratch = Scratch::empty()?;
        let read = ["read-tree", "--end-of-options", onto.as_str()];
        scratch.apply(self.write().args(read)).output()?;
        self.edit_index(&scratch, index_lines(changes).into_iter())?;
        self.write_tree(&scratch)
    }

    /// Sets the paths of these changes in the user's index; all other paths stay as they are.
    pub fn stage(&self, changes: &[Change]) -> Result<(), Error> {
        let input = index_lines(changes).concat();
        if input.is_empty() {
            return Ok(());
        }
        let args = ["update-index", "-z", "--index-info"];
        self.write().args(args).input(input).output()?;
        // Only saves the next `git status` from reading these files.
        let refresh = ["update-index", "-q", "--refresh"];
        self.write().args(refresh).answer().map(drop)
    }
}

/// Returns the lines that bring an index to what the changes left; removals first, since a folder
/// that became a file must be gone before the file is added.
fn index_lines(changes: &[Change]) -> Vec<Vec<u8>> {
    let gone = |id: &ObjectId, path: &[u8]| index_line("0", &"0".repeat(id.as_str().len()), path);
    let mut lines = Vec::new();
    for change in changes {
        if let (ChangeKind::Renamed { from }, Some(old)) = (&change.kind, &change.old) {
            lines.push(gone(&old.id, from.as_bytes()));
        }
        if let (None, Some(old)) = (&change.new, &change.old) {
            lines.push(gone(&old.id, change.path.as_bytes()));
        }
    }
    let kept = changes
        .iter()
        .filter_map(|change| change.new.as_ref().map(|new| (new, change.path.as_bytes())));
    lines.extend(kept.map(|(new, path)| index_line(new.mode.as_octal(), new.id.as_str(), path)));
    lines
}
