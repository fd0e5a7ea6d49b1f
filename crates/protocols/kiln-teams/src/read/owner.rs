//! The project of a task: two projects can have the same team name, and so share a task list.
//!
//! A task names its worktree, and the worktree names its repository. If there is no worktree yet, its
//! folder's name has the project's hash. A task without a worktree belongs to the same project as the
//! others of its list; in a shared list its project is unknown.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_world::{GitRepository, GitWorktree};

use super::super::layout;
use super::super::task_list::TaskFile;
use super::{Reader, shown};

/// The largest `.git` file of a worktree, which has one path.
const LONGEST_LINK: u64 = 64 * 1024;
/// How many tasks of another project are named.
const MOST_NAMED: usize = 5;

impl Reader<'_> {
    /// Returns the tasks of this project; the others are reported and ignored.
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

    /// Returns the other project of a worktree, or its folder of worktrees if the project is unknown;
    /// `None` if it belongs to this project.
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
            // The project was moved: only its own repository has the worktree.
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
        "give this project its own team: change `Team Name` in `.kiln/STATE.md`, then run the command again",
    );
    match list {
        Some(list) => finding.at(Place::path(list)),
        None => finding,
    }
}
