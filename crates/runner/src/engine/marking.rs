//! Marking a task in the list that it comes from, in the commit of its work.
//!
//! An agent may mark tasks itself, its own or others. Such marks are taken back before its work is
//! merged: marks of neighboring lines would conflict, and a mark is not the agent's to make.

use camino::Utf8Path;
use rekindle_git::{Message, ObjectId, RepoPath};

use super::Orchestrator;
use crate::Error;

/// Marks tasks in a list.
pub trait Marker {
    /// Returns the list, `protocol:name`.
    fn list(&self) -> &str;

    /// Returns the file with the tasks, relative to the project.
    fn path(&self) -> &Utf8Path;

    /// Returns the file with a task marked as done; `None` if the task is not there as it was read.
    fn mark(&self, file: &[u8], task: &str, title: &str) -> Option<Vec<u8>>;

    /// Returns `theirs` with the marks that `base` has.
    fn with_marks_of(&self, base: &[u8], theirs: &[u8]) -> Vec<u8>;
}

impl Orchestrator<'_> {
    /// Returns a delivery, as commit and tree, without the marks that its agent made.
    pub(super) fn without_marks(
        &self,
        base: &ObjectId,
        commit: ObjectId,
        tree: ObjectId,
    ) -> Result<(ObjectId, ObjectId), Error> {
        let Some(marker) = self.engine.marker else {
            return Ok((commit, tree));
        };
        let path = self.list_path(marker);
        let Some((before, old)) = self.repo.file_at(base, &path)? else {
            return Ok((commit, tree));
        };
        let Some((after, new)) = self.repo.file_at(&tree, &path)? else {
            return Ok((commit, tree));
        };
        if before.id == after.id {
            return Ok((commit, tree));
        }
        let plain = marker.with_marks_of(&old, &new);
        if plain == new {
            return Ok((commit, tree));
        }
        let tree = self.repo.tree_with(&tree, &[(path, plain)])?;
        let message = Message {
            subject: "Take marks back".to_owned(),
            body: String::new(),
            trailers: Vec::new(),
        };
        let commit = self
            .repo
            .commit_tree(&tree, std::slice::from_ref(base), &message, None)?;
        Ok((commit, tree))
    }

    /// Returns a tree with a task marked in its list; as it is if the task cannot be found there.
    pub(super) fn marked(&self, task: usize, tree: ObjectId) -> Result<ObjectId, Error> {
        let Some(marker) = self.engine.marker else {
            return Ok(tree);
        };
        let path = self.list_path(marker);
        let Some((_, file)) = self.repo.file_at(&tree, &path)? else {
            return Ok(tree);
        };
        let entry = &self.engine.work.tasks[task];
        match marker.mark(&file, &entry.id, &entry.title) {
            Some(marked) if marked != file => Ok(self.repo.tree_with(&tree, &[(path, marked)])?),
            Some(_) | None => Ok(tree),
        }
    }

    fn list_path(&self, marker: &dyn Marker) -> RepoPath {
        RepoPath::from(self.folder.join(marker.path()).as_str())
    }
}
