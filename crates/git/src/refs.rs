//! Changes of refs by compare and swap.

use std::fmt;

use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

/// The required position of a ref before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There must be no such ref yet.
    Missing,
    /// It must be at this object.
    At(ObjectId),
}

impl fmt::Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => formatter.write_str("not to exist"),
            Self::At(id) => write!(formatter, "at {id}"),
        }
    }
}

impl Repo {
    /// Moves or creates a ref (`refs/…`) if it is where `expected` says; otherwise
    /// [`Error::RefMoved`].
    pub fn update_ref(&self, name: &str, new: &ObjectId, expected: &Expected) -> Result<(), Error> {
        check_name(name)?;
        // An empty old value means "must not exist", for either length of ids.
        let old = match expected {
            Expected::Missing => "",
            Expected::At(id) => id.as_str(),
        };
        let call = self.write().args(["update-ref", name, new.as_str(), old]);
        call.done()
            .map_err(|error| self.moved_or(error, name, expected))
    }

    /// Deletes a ref, if it is at `expected`; otherwise [`Error::RefMoved`].
    pub fn delete_ref(&self, name: &str, expected: &ObjectId) -> Result<(), Error> {
        check_name(name)?;
        // `--no-deref` deletes a symbolic ref itself and not the branch it names.
        let call = self
            .write()
            .args(["update-ref", "--no-deref", "-d", name, expected.as_str()]);
        let expected = Expected::At(expected.clone());
        call.done()
            .map_err(|error| self.moved_or(error, name, &expected))
    }

    /// Moves one ref and deletes another, both or neither, if both are where they are expected.
    pub fn move_and_delete(
        &self,
        (name, new, old): (&str, &ObjectId, &ObjectId),
        (gone, at): (&str, &ObjectId),
    ) -> Result<(), Error> {
        check_name(name)?;
        check_name(gone)?;
        let script =
            format!("start\0update {name}\0{new}\0{old}\0delete {gone}\0{at}\0prepare\0commit\0");
        let call = self
            .write()
            .args(["update-ref", "-z", "--stdin"])
            .input(script.into_bytes());
        let expected = Expected::At(old.clone());
        call.done()
            .map_err(|error| self.moved_or(error, name, &expected))
    }

    /// git exits with 128 for a lost race and for a full disk alike, so the ref is checked.
    fn moved_or(&self, error: Error, name: &str, expected: &Expected) -> Error {
        let Ok(found) = self.ref_target(name) else {
            return error;
        };
        let is_as_expected = match expected {
            Expected::Missing => found.is_none(),
            Expected::At(id) => found.as_ref() == Some(id),
        };
        if is_as_expected {
            return error;
        }
        Error::RefMoved {
            name: name.to_owned(),
            expected: expected.clone(),
            found,
        }
    }

    /// Returns the object of a ref, which need not exist.
    fn ref_target(&self, name: &str) -> Result<Option<ObjectId>, Error> {
        let answer = self
            .read()
            .args(["rev-parse", "--quiet", "--verify", name])
            .answer()?;
        Ok(answer.and_then(|line| ObjectId::from_output(line.trim_ascii_end())))
    }
}

/// A full name can be neither an option nor the HEAD of a worktree.
fn check_name(name: &str) -> Result<(), Error> {
    if name.starts_with("refs/") && !name.contains('\0') {
        Ok(())
    } else {
        Err(Error::BadRefName(name.to_owned()))
    }
}
