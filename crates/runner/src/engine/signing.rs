//! Makes the commits that land, signed where the user wants that and no person is needed for it.

use rekindle_git::{Message, ObjectId, Signing};

use super::{Orchestrator, Progress};
use crate::Error;

impl Orchestrator<'_> {
    /// Makes the commit of a landing, signed if the user wants that and it works.
    pub(super) fn commit(&mut self, tree: &ObjectId, message: &Message) -> Result<ObjectId, Error> {
        let parents = std::slice::from_ref(&self.tip);
        if self.signing == Signing::On {
            match self.repo.commit_tree_signed(tree, parents, message) {
                Ok(commit) => return Ok(commit),
                Err(error) => {
                    // Such as a key that its agent has forgotten: finished work must not wait for a person.
                    let reason = error.said();
                    self.engine.watcher.progress(&Progress::Unsigned(&reason));
                    self.signing = Signing::Impossible(reason);
                }
            }
        }
        Ok(self.repo.commit_tree(tree, parents, message, None)?)
    }
}
