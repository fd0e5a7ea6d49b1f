//! Single files of a tree: reading one, and writing a tree with some of them replaced.

use crate::changes::{Change, ChangeKind, Entry, Mode};
use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::repo::Repo;

impl Repo {
    /// Returns a file of a commit or tree with its content; `None` if there is no regular file.
    pub fn file_at(
        &self,
        tree: &ObjectId,
        path: &RepoPath,
    ) -> Result<Option<(Entry, Vec<u8>)>, Error> {
        let args = ["ls-tree", "-z", "--full-tree", tree.as_str(), "--"];
        let call = self.read().variable("GIT_LITERAL_PATHSPECS", "1");
        let found = parse(&call.args(args).args([path.as_path()]).output()?);
        let Some(entry) = found.filter(|entry| matches!(entry.mode, Mode::File | Mode::Executable))
        else {
            return Ok(None);
        };
        let contents = self
            .read()
            .args(["cat-file", "blob", entry.id.as_str()])
            .output()?;
        Ok(Some((entry, contents)))
    }

    /// Writes the tree of `onto` with these files in it, and returns its id.
    ///
    /// A file that is there keeps its mode.
    pub fn tree_with(
        &self,
        onto: &ObjectId,
        files: &[(RepoPath, Vec<u8>)],
    ) -> Result<ObjectId, Error> {
        let mut changes = Vec::new();
        for (path, contents) in files {
            let old = self.file_at(onto, path)?.map(|(entry, _)| entry);
            let store = self.write().args(["hash-object", "-w", "--stdin"]);
            let id = store.input(contents.clone()).object_id()?;
            let mode = old.as_ref().map_or(Mode::File, |old| old.mode);
            changes.push(Change {
                kind: if old.is_some() {
                    ChangeKind::Modified
                } else {
                    ChangeKind::Added
                },
                path: path.clone(),
                old,
                new: Some(Entry { mode, id }),
            });
        }
        self.overlay(onto, &changes)
    }
}

/// Reads the one line of `git ls-tree -z`.
fn parse(output: &[u8]) -> Option<Entry> {
    let mut lines = output.split(|byte| *byte == 0);
    let line = lines.find(|line| !line.is_empty())?;
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t'));
    let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
    // A folder has a mode that no file has.
    let mode = Mode::parse(mode)?;
    let id = ObjectId::from_output(id)?;
    Some(Entry { mode, id })
}
