//! Single paths of a worktree: in the user's index, and as files.
//!
//! `git status` omits files that it was configured to ignore, so a file is checked itself before it
//! is overwritten.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use crate::changes::Entry;
use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::repo::Repo;
use crate::scratch::Scratch;
use crate::snapshot::{IndexEntry, names, parse_entries};

/// What the user's index has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indexed {
    /// One file.
    Entry {
        /// What it is.
        entry: Entry,
        /// Whether a sparse checkout omits it, so that a missing file means nothing.
        is_sparse: bool,
    },
    /// An unresolved conflict.
    Conflict,
}

impl Repo {
    /// Returns the user's index, by path.
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

    /// Returns what `git add` and a commit would have for these files, also for ignored and hidden
    /// ones.
    ///
    /// Each path must be a file or a link without a link above it; a missing one is omitted. Index
    /// and object store stay unchanged.
    pub fn as_committed(&self, paths: &[RepoPath]) -> Result<BTreeMap<RepoPath, Entry>, Error> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let layout = self.layout_at_top()?;
        let scratch = Scratch::empty_apart(&layout)?;
        // The index is needed, since committed line ends stay as they are; without git's cache,
        // each file is read.
        let entries = self.index_entries(&layout)?;
        let merged = entries.iter().filter(|entry| entry.stage == 0);
        let lines = merged.map(|entry| entry.line(entry.path.as_bytes()));
        self.edit_index(&scratch, lines)?;
        let args = ["update-index", "-z", "--add", "--remove", "--replace"];
        let call = self.write().args(args).args(["--stdin"]);
        let call = call.input(names(paths));
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

    /// Returns the ids of the bytes of these files, without any conversion.
    ///
    /// Each path must be a file without a link above it. A name with a line feed is omitted, since
    /// git reads these names as lines.
    pub fn unconverted_ids(
        &self,
        paths: &[&RepoPath],
    ) -> Result<BTreeMap<RepoPath, ObjectId>, Error> {
        let is_line = |path: &&RepoPath| !path.as_bytes().contains(&b'\n');
        let asked: Vec<&RepoPath> = paths.iter().copied().filter(is_line).collect();
        if asked.is_empty() {
            return Ok(BTreeMap::new());
        }
        // After `./` a name in quotes is not unquoted.
        let lines = asked
            .iter()
            .flat_map(|path| [b"./", path.as_bytes(), b"\n"].concat());
        let args = ["hash-object", "--no-filters", "--stdin-paths"];
        let call = self.read().args(args).input(lines.collect());
        let ids = call.parsed(|output| {
            let lines = output.trim_ascii_end().split(|byte| *byte == b'\n');
            let ids: Option<Vec<ObjectId>> = lines.map(ObjectId::from_output).collect();
            ids.filter(|ids| ids.len() == asked.len())
                .ok_or_else(|| format!("not the ids of {} files", asked.len()))
        })?;
        Ok(asked.into_iter().cloned().zip(ids).collect())
    }

    /// Returns the bytes that a checkout writes for stored content: line ends, encoding and
    /// keywords converted, and filters where the program is [`crate::Program::for_work`].
    pub fn as_checked_out(&self, id: &ObjectId, path: &RepoPath) -> Result<Vec<u8>, Error> {
        let path = [b"--path=", path.as_bytes()].concat();
        let path = OsString::from_vec(path);
        let args = ["cat-file", "--filters"].map(OsString::from);
        let call = self.read().args(args).args([path]).args([id.as_str()]);
        call.output()
    }

    /// Returns whether executable bits are meaningful (`core.fileMode`).
    pub fn trusts_modes(&self) -> Result<bool, Error> {
        let args = ["config", "--type=bool", "--default=true", "core.fileMode"];
        Ok(self.read().args(args).line()? == b"true")
    }
}
