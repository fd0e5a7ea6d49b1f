//! A worktree written as a tree, through a temporary index.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::brought::Brought;
use crate::changes::Mode;
use crate::environment::Purpose;
use crate::error::Error;
use crate::id::ObjectId;
use crate::path::{RepoPath, records};
use crate::raw_diff;
use crate::repo::{Layout, Repo};
use crate::scratch::{Objects, Scratch};

/// The folder for the sides of an unresolved conflict in the tree of an index, by stage.
const CONFLICTS: &str = ".rekindle-conflict";

impl Repo {
    /// Writes the worktree as a tree, as `git add --all` and a commit would have it, and returns
    /// its id. The user's index stays unchanged.
    ///
    /// `exclude` is as in HEAD. Ignored files and repositories inside the worktree
    /// ([`Repo::nested_repositories`]) are omitted.
    pub fn snapshot_tree(&self, exclude: &[RepoPath]) -> Result<ObjectId, Error> {
        let layout = self.layout_at_top()?;
        let scratch = Scratch::with_copied_index(&layout, Objects::Repository)?;
        self.stage_in(&layout, &scratch, exclude)?;
        self.within(&layout.top_level).write_tree(&scratch)
    }

    /// Adds the whole worktree to a temporary index.
    pub(crate) fn stage_in(
        &self,
        layout: &Layout,
        scratch: &Scratch,
        exclude: &[RepoPath],
    ) -> Result<(), Error> {
        let top = self.within(&layout.top_level);
        let mut leave_out = top.nested_in_a_small_worktree()?;
        leave_out.extend(top.not_ignored(exclude)?);
        let submodules = match self.program().purpose() {
            Purpose::Look => top.submodule_paths(layout)?,
            Purpose::Work => Vec::new(),
        };
        leave_out.extend_from_slice(&submodules);
        top.stage_all(scratch, &leave_out)?;
        top.stage_submodules(scratch, &submodules)?;
        if !exclude.is_empty() {
            top.unstage(scratch, exclude)?;
        }
        Ok(())
    }

    fn submodule_paths(&self, layout: &Layout) -> Result<Vec<RepoPath>, Error> {
        let entries = self.index_entries(layout)?.into_iter();
        Ok(entries
            .filter(|entry| entry.mode == Mode::Submodule)
            .map(|entry| entry.path)
            .collect())
    }

    /// Adds the commits of submodules to a temporary index; `git add` would start a git with the
    /// settings of each.
    fn stage_submodules(&self, scratch: &Scratch, paths: &[RepoPath]) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        let args = ["update-index", "-z", "--remove", "--replace", "--stdin"];
        scratch
            .apply(self.write().args(args))
            .input(names(paths))
            .done()
    }

    /// Updates a temporary index to these files of the worktree. Run it at the top.
    pub(crate) fn update_index(&self, scratch: &Scratch, paths: &[RepoPath]) -> Result<(), Error> {
        let args = [
            "update-index",
            "-z",
            "--add",
            "--remove",
            "--replace",
            "--stdin",
        ];
        scratch
            .apply(self.write().args(args))
            .input(names(paths))
            .done()
    }

    /// Writes every file of the worktree as a tree, byte by byte, and returns its id.
    ///
    /// All tracked files are read and hashed: git's cache describes them after conversion, and
    /// takes the files of [`IndexEntry::is_hidden`] as unchanged.
    pub(crate) fn byte_tree(
        &self,
        layout: &Layout,
        entries: &[IndexEntry],
        brought: &Brought,
    ) -> Result<ObjectId, Error> {
        let top = self.within(&layout.top_level);
        let mut leave_out = top.nested_in_a_small_worktree()?;
        leave_out.extend(top.not_ignored(&brought.paths())?);
        let scratch = Scratch::byte_by_byte(layout, &layout.top_level)?;
        let own = entries.iter().filter(|entry| !brought.has(&entry.path));
        let lines = own.map(|entry| entry.line(entry.path.as_bytes()));
        top.edit_index(&scratch, lines)?;
        // Files outside a sparse checkout are absent, but not deleted.
        let absent = |entry: &&IndexEntry| entry.is_sparse() && !entry.is_on_disk(layout);
        let absent: Vec<RepoPath> = entries
            .iter()
            .filter(absent)
            .map(|entry| entry.path.clone())
            .collect();
        if !absent.is_empty() {
            let args = ["update-index", "-z", "--skip-worktree", "--stdin"];
            scratch
                .apply(top.write().args(args))
                .input(names(&absent))
                .output()?;
        }
        top.stage_all(&scratch, &leave_out)?;
        top.write_tree(&scratch)
    }

    /// Writes the user's index as a tree and returns its id; the sides of an unresolved conflict go
    /// to `.rekindle-conflict/<stage>/`.
    pub(crate) fn index_tree(
        &self,
        layout: &Layout,
        entries: &[IndexEntry],
        brought: &Brought,
    ) -> Result<ObjectId, Error> {
        let scratch = Scratch::with_copied_index(layout, Objects::Repository)?;
        let (hidden, own): (Vec<&IndexEntry>, Vec<&IndexEntry>) =
            entries.iter().partition(|entry| brought.has(&entry.path));
        let unmerged: Vec<&IndexEntry> = own.into_iter().filter(|entry| entry.stage > 0).collect();
        let removed = unmerged.iter().chain(&hidden);
        let paths: BTreeSet<&RepoPath> = removed.map(|entry| &entry.path).collect();
        let removals = paths.iter().map(|path| removal(path, layout));
        let sides = unmerged.iter().map(|entry| {
            let folder = format!("{CONFLICTS}/{}/", entry.stage);
            entry.line(&[folder.as_bytes(), entry.path.as_bytes()].concat())
        });
        self.edit_index(&scratch, removals.chain(sides))?;
        self.write_tree(&scratch)
    }

    /// Returns the entries of the user's index with their flags.
    pub(crate) fn index_entries(&self, layout: &Layout) -> Result<Vec<IndexEntry>, Error> {
        let top = self.within(&layout.top_level);
        top.read()
            .args(["ls-files", "-z", "--stage", "-v"])
            .parsed(parse_entries)
    }

    /// Returns the paths that git does not ignore; `git add` fails on an excluded path that is
    /// ignored.
    fn not_ignored(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>, Error> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let args = ["check-ignore", "-z", "--stdin", "--no-index"];
        let ignored = self.read().args(args).input(names(paths)).answer()?;
        let ignored = ignored.unwrap_or_default();
        let is_ignored = |path: &&RepoPath| {
            let mut names = ignored.split(|byte| *byte == 0);
            names.any(|name| name == path.as_bytes())
        };
        Ok(paths
            .iter()
            .filter(|path| !is_ignored(path))
            .cloned()
            .collect())
    }

    /// Updates the index to the worktree. Run it at the top.
    fn stage_all(&self, scratch: &Scratch, leave_out: &[RepoPath]) -> Result<(), Error> {
        let mut pathspecs = b".\0".to_vec();
        for path in leave_out {
            pathspecs.extend(pathspec("top,exclude,literal", path));
            pathspecs.push(0);
        }
        let args = [
            "add",
            "--all",
            "--sparse",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        scratch
            .apply(self.write().args(args))
            .input(pathspecs)
            .done()
    }

    /// Resets the index to HEAD below the given paths.
    pub(crate) fn unstage(&self, scratch: &Scratch, paths: &[RepoPath]) -> Result<(), Error> {
        let head = match self.tree_of("HEAD")? {
            Some(tree) => tree,
            None => self.empty_tree()?,
        };
        let args = ["diff-index", "--cached", "--raw", "-z", "--no-renames"];
        let pathspecs = paths
            .iter()
            .map(|path| OsString::from_vec(pathspec("top,literal", path)));
        let call = self
            .read()
            .args(args)
            .args(["--ignore-submodules=none", head.as_str(), "--"]);
        let changes = scratch
            .apply(call.args(pathspecs))
            .parsed(raw_diff::parse)?;
        let lines = changes.iter().map(|change| {
            let (mode, id) = match &change.old {
                Some(old) => (old.mode.as_octal(), old.id.to_string()),
                None => ("0", "0".repeat(head.as_str().len())),
            };
            index_line(mode, &id, change.path.as_bytes())
        });
        self.edit_index(scratch, lines)
    }

    pub(crate) fn edit_index(
        &self,
        scratch: &Scratch,
        lines: impl Iterator<Item = Vec<u8>>,
    ) -> Result<(), Error> {
        let input = lines.collect::<Vec<_>>().concat();
        if input.is_empty() {
            return Ok(());
        }
        let args = ["update-index", "-z", "--index-info"];
        scratch.apply(self.write().args(args)).input(input).done()
    }

    pub(crate) fn write_tree(&self, scratch: &Scratch) -> Result<ObjectId, Error> {
        scratch.apply(self.write().args(["write-tree"])).object_id()
    }
}

/// One entry of the user's index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    tag: u8,
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
    pub(crate) stage: u8,
    pub(crate) path: RepoPath,
}

impl IndexEntry {
    /// Returns whether the file exists and is hidden from `git status` (`--assume-unchanged`,
    /// `--skip-worktree`).
    pub(crate) fn is_hidden(&self, layout: &Layout) -> bool {
        (self.tag.is_ascii_lowercase() || self.is_sparse()) && self.is_on_disk(layout)
    }

    /// Returns whether a sparse checkout omits the file.
    pub(crate) fn is_sparse(&self) -> bool {
        self.tag.eq_ignore_ascii_case(&b'S')
    }

    fn is_on_disk(&self, layout: &Layout) -> bool {
        layout
            .top_level
            .as_std_path()
            .join(self.path.as_path())
            .symlink_metadata()
            .is_ok()
    }

    pub(crate) fn line(&self, path: &[u8]) -> Vec<u8> {
        index_line(self.mode.as_octal(), self.id.as_str(), path)
    }
}

/// Reads `<tag> <mode> <id> <stage>\t<path>\0`.
pub(crate) fn parse_entries(output: &[u8]) -> Result<Vec<IndexEntry>, String> {
    records(output)
        .map(|record| {
            let bad = || format!("bad entry `{}`", String::from_utf8_lossy(record));
            parse_entry(record).ok_or_else(bad)
        })
        .collect()
}

fn parse_entry(record: &[u8]) -> Option<IndexEntry> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let words: Vec<&[u8]> = record[..tab].split(|byte| *byte == b' ').collect();
    let &[&[tag], mode, id, &[stage @ b'0'..=b'3']] = words.as_slice() else {
        return None;
    };
    Some(IndexEntry {
        tag,
        mode: Mode::parse(mode)?,
        id: ObjectId::from_output(id)?,
        stage: stage - b'0',
        path: RepoPath::new(&record[tab + 1..]),
    })
}

pub(crate) fn index_line(mode: &str, id: &str, path: &[u8]) -> Vec<u8> {
    [mode.as_bytes(), b" ", id.as_bytes(), b"\t", path, b"\0"].concat()
}

/// Returns paths as `-z --stdin` expects them.
pub(crate) fn names(paths: &[RepoPath]) -> Vec<u8> {
    paths
        .iter()
        .flat_map(|path| [path.as_bytes(), b"\0"].concat())
        .collect()
}

fn removal(path: &RepoPath, layout: &Layout) -> Vec<u8> {
    index_line("0", &"0".repeat(layout.id_length()), path.as_bytes())
}

fn pathspec(magic: &str, path: &RepoPath) -> Vec<u8> {
    [format!(":({magic})").as_bytes(), path.as_bytes()].concat()
}
