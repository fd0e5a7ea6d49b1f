//! Restoring the files of a rescue into a new folder.

use std::fs;
use std::io;

use camino::Utf8Path;

use super::Rescue;
use crate::error::Error;
use crate::repo::Repo;
use crate::scratch::{Scratch, make_folder};

impl Repo {
    /// Writes the files of a rescue into `into`, which must be empty or not exist.
    ///
    /// Content, links and executable bits are those of the rescued worktree, without conversion. No
    /// worktree or index of the user is changed.
    pub fn restore(&self, rescue: &Rescue, into: &Utf8Path) -> Result<(), Error> {
        let into = self.dir().join(into);
        refuse_occupied(&into)?;
        let layout = self.layout()?;
        rekindle_fault::growth("git-make-folder").map_err(Error::prepare(&into))?;
        make_folder(into.as_std_path())?;
        let into = into.canonicalize_utf8().map_err(Error::prepare(&into))?;
        let scratch = Scratch::byte_by_byte(&layout, &into)?;
        let there = Repo::at(self.program(), &into);
        scratch
            .apply(there.write().args(["read-tree", rescue.tree.as_str()]))
            .output()?;
        let write_all = ["checkout-index", "--all", "--quiet", "--index"];
        scratch.apply(there.write().args(write_all)).output()?;
        // `checkout-index` can exit with 0 despite files it could not write.
        let compare = ["diff-files", "--quiet", "--ignore-submodules=all"];
        match scratch.apply(there.read().args(compare)).answer()? {
            Some(_) => Ok(()),
            None => Err(Error::unexpected(
                &write_all,
                &into,
                "not all files were written",
            )),
        }
    }
}

fn refuse_occupied(dir: &Utf8Path) -> Result<(), Error> {
    let is_empty = match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => false,
        Err(error) => return Err(Error::prepare(dir)(error)),
    };
    if is_empty {
        Ok(())
    } else {
        Err(Error::Occupied(dir.to_owned()))
    }
}
