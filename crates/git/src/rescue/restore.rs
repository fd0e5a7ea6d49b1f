//! The way back: the files of a rescue, written into a folder of their own.

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
    /// Content, symbolic links and executable bits are those of the worktree it was made from;
    /// nothing is converted on the way. No worktree or index of the user is touched.
    pub fn restore(&self, rescue: &Rescue, into: &Utf8Path) -> Result<(), Error> {
        let into = self.dir().join(into);
        refuse_occupied(&into)?;
        let layout = self.layout()?;
        rekindle_fault::growth("git-make-folder").map_err(|source| Error::Prepare {
            path: into.clone().into_std_path_buf(),
            source,
        })?;
        make_folder(into.as_std_path())?;
        let into = into.canonicalize_utf8().map_err(|source| Error::Prepare {
            path: into.into_std_path_buf(),
            source,
        })?;
        let scratch = Scratch::byte_by_byte(&layout, &into)?;
        let there = Repo::at(self.program(), &into);
        scratch
            .apply(there.write().args(["read-tree", rescue.tree.as_str()]))
            .output()?;
        let write_all = ["checkout-index", "--all", "--quiet", "--index"];
        scratch.apply(there.write().args(write_all)).output()?;
        // `checkout-index` has ended with 0 in spite of files it could not write.
        let compare = ["diff-files", "--quiet", "--ignore-submodules=all"];
        match scratch.apply(there.read().args(compare)).answer()? {
            Some(_) => Ok(()),
            None => Err(Error::Unexpected {
                args: write_all.map(str::to_owned).to_vec(),
                dir: into,
                what: "not all files were written".to_owned(),
            }),
        }
    }
}

fn refuse_occupied(dir: &Utf8Path) -> Result<(), Error> {
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Error::Occupied {
                dir: dir.to_owned(),
            }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(Error::Occupied {
            dir: dir.to_owned(),
        }),
        Err(source) => Err(Error::Prepare {
            path: dir.as_std_path().to_owned(),
            source,
        }),
    }
}
