//! What stands at single paths of a worktree: in the user's index, and as a file.
//!
//! `git status` answers by differences and forgets files that it was told not to look at. Before
//! something is written over a file, the file itself must be looked at.

use std::collections::{BTreeMap, BTreeSet};

use crate::changes::Entry;
use crate::error::Error;
use crate::path::RepoPath;
use crate::repo::Repo;
use crate::scratch::Scratch;
use crate::snapshot::{IndexEntry, parse_entries};

/// What the user's index has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indexed {
    /// One file.
    Entry {
        /// What it is.
        entry: Entry,
        /// Whether a sparse checkout leaves it out, so that its not being there means nothing.
        is_sparse: bool,
    },
    /// The sides of a conflict that is not resolved.
    Conflict,
}

impl Repo {
    /// Returns everything that the user's index has, by path.
    pub fn index(&self) -> Result<BTreeMap<RepoPath, Indexed>, Error> {
        let mut index = BTreeMap::new();
        for entry in self.index_entries(&self.layout()?)? {
            let is_sparse = entry.is_sparse();
            let indexed = match entry.stage {
                0 => Indexed::Entry {
                    is_sparse,
                    entry: Entry {
                        mode: entry.mode,
                        id: entry.id,
                    },
                },
                _ => Indexed::Conflict,
            };
            index.insert(entry.path, indexed);
        }
        Ok(index)
    }

    /// Returns what `git add` and a commit would have for these files of the worktree, also for
    /// ignored ones and for those that git was told not to look at.
    ///
    /// Each path must be a file or a link, and no part of it a link; one that is gone meanwhile is
    /// left out. Neither the index nor the object store is touched.
    pub fn as_committed(&self, paths: &[RepoPath]) -> Result<BTreeMap<RepoPath, Entry>, Error> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let layout = self.layout_at_top()?;
        let scratch = Scratch::empty_apart(&layout)?;
        // What the index has is known, since line ends that were committed once stay as they are;
        // but not what git remembers of the files, so that each is read.
        let entries = self.index_entries(&layout)?;
        let merged = entries.iter().filter(|entry| entry.stage == 0);
        let lines = merged.map(|entry| entry.line(entry.path.as_bytes()));
        self.edit_index(&scratch, lines)?;
        let args = ["update-index", "-z", "--add", "--remove", "--replace"];
        let names: Vec<u8> = paths
            .iter()
            .flat_map(|path| [path.as_bytes(), b"\0"].concat())
            .collect();
        let call = self.write().args(args).args(["--stdin"]).input(names);
        scratch.apply(call).output()?;
        let list = self.read().args(["ls-files", "-z", "--stage", "-v"]);
        let found = scratch.apply(list).parsed(parse_entries)?;
        let wanted: BTreeSet<&RepoPath> = paths.iter().collect();
        let entry = |found: IndexEntry| {
            let (mode, id) = (found.mode, found.id);
            (found.path, Entry { mode, id })
        };
        Ok(found
            .into_iter()
            .filter(|found| wanted.contains(&found.path))
            .map(entry)
            .collect())
    }

    /// Returns whether the executable bits of files mean something here (`core.fileMode`).
    pub fn trusts_modes(&self) -> Result<bool, Error> {
        let args = ["config", "--type=bool", "--default=true", "core.fileMode"];
        Ok(self.read().args(args).line()? == b"true")
    }
}
