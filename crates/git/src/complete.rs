//! Whether all objects of a commit are stored.
//!
//! `git gc --prune=now` removes every object that no ref reaches, even one whose ref is about to be
//! written. So callers check after writing the ref.

use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

impl Repo {
    /// Returns whether the repository has a commit with all its objects; those of `known` are not
    /// checked.
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
