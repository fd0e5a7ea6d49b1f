//! Whether all of a commit is stored.
//!
//! A user's `git gc --prune=now` takes every object that no ref reaches at that moment, also those
//! that were stored a moment ago and whose ref is about to be written. Whoever relies on a commit
//! looks after its ref is there.

use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

impl Repo {
    /// Returns whether the repository has a commit with everything that it has and `known` has not.
    ///
    /// What `known` has is not looked at.
    pub fn is_complete(&self, commit: &ObjectId, known: Option<&ObjectId>) -> Result<bool, Error> {
        let call = self
            .read()
            .args(["rev-list", "--objects", "--quiet", commit.as_str()]);
        let call = match known {
            Some(known) => call.args(["--not", known.as_str()]),
            None => call,
        };
        match call.output() {
            Ok(_) => Ok(true),
            Err(error @ Error::Failed { .. }) if !error.is_of_the_machine() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
