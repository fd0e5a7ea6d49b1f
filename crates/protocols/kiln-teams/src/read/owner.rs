//! Whose a task is: two projects may share the name of a team, and with it one task list.
//!
//! A task names its worktree, and the worktree names its repository. Where there is no worktree yet,
//! the folder that it is to be in has the project's hash. A task without a worktree belongs to whom
//! the others of its list belong to; of a list that two projects share, nobody can tell.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_world::{GitRepository, GitWorktree};

use super::super::layout;
use super::super::task_list::TaskFile;
use super::{Reader, shown};

/// A file that names a repository is one path long.
const LONGEST_LINK: u64 = 64 * 1024;
/// So many tasks of another project are named.
const MOST_NAMED: usize = 5;

impl Reader<'_> {
    /// Returns the tasks of this project; the others are reported and take no part in anything.
    pub(super) fn of_this_project(
        &mut self,
        files: Vec<TaskFile>,
        list: Option<&Utf8Path>,
        repository: Option<&GitRepository>,
        trees: &BTreeMap<Utf8PathBuf, GitWorktree>,
    ) -> Vec<TaskFile> {
        let owner = |file: &TaskFile| {
            let worktree = file.worktree.as_deref()?;
            self.other_owner(worktree, repository, trees)
        };
        let owners: Vec<Option<Utf8PathBuf>> = files.iter().map(owner).collect();
        let mut foreign: BTreeMap<&Utf8Path, Vec<String>> = BTreeMap::new();
        for (file, owner) in files.iter().zip(&owners) {
            if let Some(owner) = owner {
                foreign.entry(owner).or_default().push(shown(&file.subject));
            }
        }
        if foreign.is_empty() {
            return files;
        }
        let findings: Vec<Finding> = foreign
            .iter()
            .map(|(owner, tasks)| finding(owner, tasks, list))
            .collect();
        self.findings.extend(findings);
        let is_ours = |file: &TaskFile, owner: &Option<Utf8PathBuf>| {
            owner.is_none() && file.worktree.is_some()
        };
        let pairs = files.into_iter().zip(owners);
        pairs
            .filter(|(file, owner)| is_ours(file, owner))
            .map(|(file, _)| file)
            .collect()
    }

    /// Returns the other project that a worktree belongs to, or its folder of worktrees where no more
    /// is known; `None` if it is this project's.
    fn other_owner(
        &self,
        worktree: &Utf8Path,
        repository: Option<&GitRepository>,
        trees: &BTreeMap<Utf8PathBuf, GitWorktree>,
    ) -> Option<Utf8PathBuf> {
        if let Some(git_dir) = self.git_dir_named_in(worktree) {
            let common_dir = &repository?.common_dir;
            if git_dir.starts_with(common_dir) {
                return None;
            }
            // The project was moved: its own repository still has the worktree, and nobody else does.
            if trees.contains_key(worktree) && self.world.stat(&git_dir).is_err() {
                return None;
            }
            let project = git_dir.ancestors().find(|path| path.ends_with(".git"));
            let project = project.and_then(Utf8Path::parent);
            return Some(project.unwrap_or(&git_dir).to_owned());
        }
        let root = worktree.parent()?;
        let own = layout::worktree_root(self.world);
        let is_other = layout::is_hashed(root) && root.file_name() != own.file_name();
        (is_other && !trees.contains_key(worktree)).then(|| root.to_owned())
    }

    fn git_dir_named_in(&self, worktree: &Utf8Path) -> Option<Utf8PathBuf> {
        let bytes = self.world.read(&worktree.join(".git"), LONGEST_LINK).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let named = text.strip_prefix("gitdir:")?.trim();
        Some(worktree.join(named))
    }
}

fn finding(owner: &Utf8Path, tasks: &[String], list: Option<&Utf8Path>) -> Finding {
    let named = tasks.iter().take(MOST_NAMED).map(String::as_str);
    let named: Vec<&str> = named.collect();
    let more = match tasks.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "the task list has tasks of another project, `{}`: {}{more}",
        shown(owner.as_str()),
        named.join(", ")
    );
    let finding = Finding::new(Code::OtherProjectTask, message).hint(
        "give this project a team of its own: change `Team Name` in `.kiln/STATE.md`, then run it again",
    );
    match list {
        Some(list) => finding.at(Place::path(list)),
        None => finding,
    }
}
