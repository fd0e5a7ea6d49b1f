//! Compares the project with the files of a worktree that is about to land. Writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rekindle_fs::{Node, Tree};
use rekindle_git::{Change, Entry, Indexed, Mode, ObjectId, Repo, RepoPath};

use super::{Work, hidden};
use crate::Error;

/// The results, by the index of a path in the work.
pub(super) struct Found {
    /// The contents in the project.
    pub(super) nodes: Vec<Node>,
    /// Whether they are the final contents.
    pub(super) is_after: Vec<bool>,
    /// Whether the index has the final contents.
    pub(super) is_staged: bool,
    /// Whether executable bits are supported here.
    pub(super) trusts_modes: bool,
}

/// Checks every path; contents that are neither the worktree's base nor its result
/// belong to somebody else, and are an error.
pub(super) fn check(
    repo: &Repo,
    base: &ObjectId,
    tip: &ObjectId,
    tree: &Tree,
    work: &Work,
) -> Result<Found, Error> {
    let index = repo.index()?;
    let since: BTreeMap<RepoPath, Option<Entry>> = repo
        .between(base, tip)?
        .into_iter()
        .map(|change| (change.path, change.new))
        .collect();
    let nodes: Vec<Node> = work
        .changes
        .iter()
        .map(|change| tree.look(change.path.as_path()))
        .collect::<Result<_, _>>()?;
    let files: Vec<RepoPath> = work
        .changes
        .iter()
        .zip(&nodes)
        .filter(|(_, node)| matches!(node, Node::File { .. } | Node::Link(_)))
        .map(|(change, _)| change.path.clone())
        .collect();
    let mut checked = Checked {
        work,
        tree,
        entries: repo.as_committed(&files)?,
        trusts_modes: repo.trusts_modes()?,
        index: &index,
    };
    let mut is_after = Vec::new();
    let mut is_staged = true;
    for (place, (change, node)) in work.changes.iter().zip(&nodes).enumerate() {
        let head = since.get(&change.path).unwrap_or(&change.old);
        if *head != change.old && *head != change.new {
            return Err(work.in_the_way(&change.path, "the last commit"));
        }
        is_staged &= checked.is_staged(change)?;
        is_after.push(checked.is_after(change, node, &work.sources[place])?);
    }
    let replaced = work.changes.iter().zip(&nodes).zip(&is_after);
    let replaced = replaced.filter(|(_, is_after)| !**is_after);
    let replaced = replaced.map(|(pair, _)| pair);
    if let Some(path) = hidden::find(repo, tree, replaced)? {
        return Err(work.in_the_way(path, "the project"));
    }
    checked.refuse_neighbors(&since)?;
    Ok(Found {
        nodes,
        is_after,
        is_staged,
        trusts_modes: checked.trusts_modes,
    })
}

struct Checked<'a> {
    work: &'a Work,
    tree: &'a Tree,
    /// The project's files as a commit would have them.
    entries: BTreeMap<RepoPath, Entry>,
    trusts_modes: bool,
    index: &'a BTreeMap<RepoPath, Indexed>,
}

impl Checked<'_> {
    /// Returns whether the index has the final contents, rather than the old ones.
    fn is_staged(&self, change: &Change) -> Result<bool, Error> {
        let staged = match self.index.get(&change.path) {
            None => None,
            Some(Indexed::Entry { entry, .. }) => Some(entry),
            Some(Indexed::Conflict) => {
                return Err(self
                    .work
                    .in_the_way(&change.path, "a conflict in the index"));
            }
        };
        let is_after = staged == change.new.as_ref();
        if is_after || staged == change.old.as_ref() {
            Ok(is_after)
        } else {
            Err(self.work.in_the_way(&change.path, "the index"))
        }
    }

    /// Returns whether the project has the final contents, rather than the old ones.
    fn is_after(&mut self, change: &Change, node: &Node, source: &Node) -> Result<bool, Error> {
        // The exact bytes of the worktree, whatever line endings the project's attributes ask for:
        // attributes may be part of the work.
        if change.new.is_some() && self.is_same(node, source) {
            return Ok(true);
        }
        let stands = match node {
            Node::Absent => self.sparse(&change.path),
            Node::File { .. } | Node::Link(_) => self.entries.remove(&change.path),
            Node::Folder if change.new.is_none() => None,
            Node::Folder => {
                self.refuse_files_below(&change.path)?;
                None
            }
            Node::Other => return Err(self.work.in_the_way(&change.path, "the project")),
        };
        let is = |side: &Option<Entry>| self.is_entry(stands.as_ref(), side.as_ref());
        if is(&change.new) {
            Ok(true)
        } else if is(&change.old) {
            Ok(false)
        } else {
            Err(self.work.in_the_way(&change.path, "the project"))
        }
    }

    /// A file that a sparse checkout leaves out is missing, but not deleted.
    fn sparse(&self, path: &RepoPath) -> Option<Entry> {
        match self.index.get(path) {
            Some(Indexed::Entry { entry, is_sparse }) if *is_sparse => Some(entry.clone()),
            Some(Indexed::Entry { .. } | Indexed::Conflict) | None => None,
        }
    }

    fn is_same(&self, node: &Node, source: &Node) -> bool {
        match (node, source) {
            (
                Node::File {
                    content,
                    is_executable,
                },
                Node::File {
                    content: wanted,
                    is_executable: also,
                },
            ) => content == wanted && (is_executable == also || !self.trusts_modes),
            (Node::Link(target), Node::Link(wanted)) => target == wanted,
            _ => false,
        }
    }

    fn is_entry(&self, stands: Option<&Entry>, wanted: Option<&Entry>) -> bool {
        let plain = |mode: Mode| match mode {
            Mode::Executable if !self.trusts_modes => Mode::File,
            Mode::File | Mode::Executable | Mode::Symlink | Mode::Submodule => mode,
        };
        match (stands, wanted) {
            (None, None) => true,
            (Some(stands), Some(wanted)) => {
                stands.id == wanted.id && plain(stands.mode) == plain(wanted.mode)
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    /// A folder that becomes a file may contain only files that are deleted with it.
    fn refuse_files_below(&self, path: &RepoPath) -> Result<(), Error> {
        let goes = self.work.paths(|change| change.new.is_none());
        for file in self.tree.files_below(path.as_path())? {
            let file = RepoPath::new(file.as_os_str().as_bytes());
            if !goes.contains(&file) {
                return Err(self.work.in_the_way(&file, "the project"));
            }
        }
        Ok(())
    }

    /// Refuses files of others where the landing needs folders, and in folders that it replaces by files.
    fn refuse_neighbors(&self, since: &BTreeMap<RepoPath, Option<Entry>>) -> Result<(), Error> {
        let all = self.work.paths(|_| true);
        let added = self.work.paths(|change| change.new.is_some());
        let folders: BTreeSet<RepoPath> = added.iter().flat_map(above).collect();
        let is_in_the_way = |path: &RepoPath| {
            !all.contains(path)
                && (folders.contains(path) || above(path).any(|folder| added.contains(&folder)))
        };
        let committed = since.iter().filter(|(_, entry)| entry.is_some());
        if let Some((path, _)) = committed.into_iter().find(|(path, _)| is_in_the_way(path)) {
            return Err(self.work.in_the_way(path, "the last commit"));
        }
        if let Some(path) = self.index.keys().find(|path| is_in_the_way(path)) {
            return Err(self.work.in_the_way(path, "the index"));
        }
        let goes = self.work.paths(|change| change.new.is_none());
        for folder in folders.difference(&goes) {
            match self.tree.look(folder.as_path())? {
                Node::Absent | Node::Folder => {}
                Node::File { .. } | Node::Link(_) | Node::Other => {
                    return Err(self.work.in_the_way(folder, "the project"));
                }
            }
        }
        Ok(())
    }
}

impl Work {
    /// Returns the paths of some of its changes.
    fn paths(&self, is_wanted: impl Fn(&Change) -> bool) -> BTreeSet<RepoPath> {
        let wanted = self.changes.iter().filter(|change| is_wanted(change));
        wanted.map(|change| change.path.clone()).collect()
    }

    fn in_the_way(&self, path: &RepoPath, holder: &'static str) -> Error {
        Error::InTheWay {
            task: self.task.clone(),
            path: path.to_string(),
            holder,
        }
    }
}

/// Returns the folders that a path lies in, without the top.
fn above(path: &RepoPath) -> impl Iterator<Item = RepoPath> {
    let folders: Vec<PathBuf> = Path::new(OsStr::from_bytes(path.as_bytes()))
        .ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty())
        .map(Path::to_owned)
        .collect();
    folders
        .into_iter()
        .map(|folder| RepoPath::new(folder.as_os_str().as_bytes()))
}
