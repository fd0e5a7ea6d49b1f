//! Lands deliveries: one commit per task on the run's branch, with the proof in its trailers.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{
    ChangeKind, Expected, Merge, Message, ObjectId, OwnWorktree, Removal, RepoPath,
};
use rekindle_model::{Delivery, FailureKind, Happened};

use super::checks::Checked;
use super::evidence::{LIST_TRAILER, RUN_TRAILER, TASK_TRAILER, trailer_value};
use super::marking::Marker;
use super::{Change, LeftOut, Orchestrator, Progress, State};
use crate::Error;
use crate::port::Position;
use crate::worker::work_ref;

/// How often a moving branch is followed before a landing fails.
const MOST_MOVES: u32 = 20;

/// The result of an attempt to land.
enum Landing {
    /// It landed, or was handed back.
    Over,
    /// The branch has moved.
    Moved,
}

impl Orchestrator<'_> {
    /// Returns the full name of the run's branch.
    pub(super) fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.engine.work.settings.branch)
    }

    /// Lands a delivery, or hands it back.
    pub(super) async fn land(
        &mut self,
        task: usize,
        attempt: u32,
        delivery: &Delivery,
    ) -> Result<(), Error> {
        for _ in 0..MOST_MOVES {
            match self.try_to_land(task, attempt, delivery).await? {
                Landing::Over => return Ok(()),
                Landing::Moved => self.follow_branch()?,
            }
        }
        Err(Error::BranchMoves {
            branch: self.engine.work.settings.branch.clone(),
        })
    }

    async fn try_to_land(
        &mut self,
        task: usize,
        attempt: u32,
        delivery: &Delivery,
    ) -> Result<Landing, Error> {
        self.refuse_checked_out()?;
        let commit = ObjectId::parse(&delivery.commit)?;
        let base = ObjectId::parse(&delivery.base)?;
        if !self.repo.is_complete(&commit, Some(&base))? {
            self.lost(task, attempt, delivery)?;
            return Ok(Landing::Over);
        }
        let moved = self.tip.as_str() != delivery.base;
        let delivered = ObjectId::parse(&delivery.tree)?;
        let (plain, delivered) = self.without_marks(&base, commit.clone(), delivered)?;
        let tree = if moved {
            match self.repo.merge(&self.tip, &plain)? {
                Merge::Clean(tree) => tree,
                Merge::Conflicts(paths) => {
                    let shown: Vec<String> = paths
                        .iter()
                        .take(10)
                        .map(|path| format!("`{path}`"))
                        .collect();
                    let reason = format!(
                        "it conflicts with work that has landed in {}",
                        shown.join(", ")
                    );
                    self.hand_back(task, attempt, &reason, FailureKind::Conflict)?;
                    return Ok(Landing::Over);
                }
            }
        } else {
            delivered
        };
        let change = if self.tip_tree()? == Some(&tree) {
            Change::Nothing
        } else {
            Change::Something
        };
        let tree = self.marked(task, tree)?;
        let message = self.message(task, attempt);
        let landing = self.commit(&tree, &message)?;
        // The worker has checked this very tree, so its checks need not be repeated.
        if moved {
            match self.verify(task, &landing).await? {
                Checked::Passed => {}
                Checked::Failed(reason) => {
                    self.hand_back(task, attempt, &reason, FailureKind::Integration)?;
                    return Ok(Landing::Over);
                }
                // A person stops it: the delivery stays and lands with the next resume.
                Checked::Stopped => {
                    self.board.put_back(task);
                    return Ok(Landing::Over);
                }
            }
            // No ref has the merged files yet, so a `git gc --prune=now` may have removed some.
            if !self.repo.is_complete(&landing, Some(&self.tip))? {
                return Ok(Landing::Moved);
            }
        }
        crate::crash::point("before-land");
        let kept = work_ref(&self.engine.id.name, self.task(task), attempt);
        let moved = self
            .repo
            .move_and_delete((&self.branch_ref(), &landing, &self.tip), (&kept, &commit));
        match moved {
            Ok(()) => {}
            Err(rekindle_git::Error::RefMoved { .. }) => return Ok(Landing::Moved),
            // Somebody removed the ref of the commit; the commit itself could still land.
            Err(_) if self.repo.resolve(&kept)?.is_none() => {
                let expected = Expected::At(self.tip.clone());
                self.repo
                    .update_ref(&self.branch_ref(), &landing, &expected)?;
            }
            Err(error) => return Err(error.into()),
        }
        crate::crash::point("after-land");
        self.tip = landing;
        self.tip_tree = Some(tree);
        self.landed(task, attempt, change)?;
        Ok(Landing::Over)
    }

    /// Reopens a task whose delivery is no longer in the repository.
    fn lost(&mut self, task: usize, attempt: u32, delivery: &Delivery) -> Result<(), Error> {
        let reason = format!(
            "its commit {} is no longer in the repository",
            delivery.commit
        );
        self.say(task, attempt, &Happened::Reopened { reason })?;
        // The ref's commit is missing, and the next attempt has a ref of its own.
        let kept = work_ref(&self.engine.id.name, self.task(task), attempt);
        if let Ok(commit) = ObjectId::parse(&delivery.commit) {
            self.repo.delete_ref(&kept, &commit).ok();
        }
        self.board.reopened(task);
        let id = &self.engine.work.tasks[task].id;
        let lost = Progress::DeliveryLost(id, attempt, &delivery.commit);
        self.engine.watcher.progress(&lost);
        Ok(())
    }

    /// Somebody else committed to the branch: continue from there, if it descends from the known commit.
    fn follow_branch(&mut self) -> Result<(), Error> {
        let moved = || Error::BranchMoves {
            branch: self.engine.work.settings.branch.clone(),
        };
        let tip = self.repo.resolve(&self.branch_ref())?.ok_or_else(moved)?;
        if !self.repo.is_ancestor(&self.tip, &tip)? {
            return Err(moved());
        }
        self.tip = tip;
        self.tip_tree = None;
        Ok(())
    }

    /// Returns the files of the last commit; read once, then updated with each landing.
    fn tip_tree(&mut self) -> Result<Option<&ObjectId>, Error> {
        if self.tip_tree.is_none() {
            self.tip_tree = self.repo.tree_of(self.tip.as_str())?;
        }
        Ok(self.tip_tree.as_ref())
    }

    /// Refuses to move a branch that is checked out: its files would seem changed.
    pub(super) fn refuse_checked_out(&self) -> Result<(), Error> {
        let branch = &self.engine.work.settings.branch;
        if self.repo.is_checked_out(&self.common_dir, branch)? {
            return Err(Error::CheckedOut {
                branch: branch.clone(),
            });
        }
        Ok(())
    }

    /// Records that a task is on the branch.
    fn landed(&mut self, task: usize, attempt: u32, change: Change) -> Result<(), Error> {
        let commit = self.tip.as_str().to_owned();
        self.say(
            task,
            attempt,
            &Happened::Completed {
                commit: commit.clone(),
            },
        )?;
        crate::crash::point("after-completed");
        self.board.landed(task);
        if change == Change::Nothing {
            self.unchanged.insert(task);
        }
        let id = &self.engine.work.tasks[task].id;
        self.engine
            .watcher
            .progress(&Progress::Landed(id, attempt, &commit, change));
        self.tell_of_repositories(task);
        Ok(())
    }

    /// Reports repositories that an agent created in its worktree: no commit of another one can contain them.
    fn tell_of_repositories(&mut self, task: usize) {
        let worktree = self.worktree(task);
        // Usually the worker has removed it, and git need not be called.
        let Ok(here) = self.own(&worktree) else {
            return;
        };
        let found = here.repo().nested_repositories().unwrap_or_default();
        let names: Vec<String> = found.iter().map(RepoPath::to_string).collect();
        if !names.is_empty() {
            self.engine.watcher.left_out(&LeftOut {
                task: &self.engine.work.tasks[task].id,
                worktree: &worktree,
                repositories: &names,
            });
        }
    }

    fn message(&self, task: usize, attempt: u32) -> Message {
        let entry = &self.engine.work.tasks[task];
        let title = if entry.title.is_empty() {
            "done"
        } else {
            entry.title.as_str()
        };
        let plain = |text: &str| text.replace(char::is_control, " ");
        let list = self.engine.marker.map(Marker::list);
        Message {
            subject: format!("[{}] {}", plain(&entry.id), plain(title)),
            body: String::new(),
            trailers: vec![
                (RUN_TRAILER.to_owned(), trailer_value(&self.engine.id.name)),
                (TASK_TRAILER.to_owned(), trailer_value(&entry.id)),
                ("Rekindle-Attempt".to_owned(), attempt.to_string()),
            ]
            .into_iter()
            .chain(list.map(|list| (LIST_TRAILER.to_owned(), trailer_value(list))))
            .collect(),
        }
    }

    /// Hands a delivery back to its task, with the reason for the next attempt.
    fn hand_back(
        &mut self,
        task: usize,
        attempt: u32,
        reason: &str,
        kind: FailureKind,
    ) -> Result<(), Error> {
        let failed = Happened::Failed {
            reason: reason.to_owned(),
            kind,
        };
        self.say(task, attempt, &failed)?;
        self.failed(task, attempt, reason, kind)
    }

    /// Returns a worktree, if the repository has it at this path.
    pub(super) fn own(&self, path: &Utf8Path) -> Result<OwnWorktree, Error> {
        let program = self.repo.program();
        Ok(OwnWorktree::open(program, &self.common_dir, path)?)
    }

    /// Removes unneeded worktrees: that of checks, and those of
    /// landed tasks whose worker was killed while it removed them.
    pub(super) fn sweep(&mut self) {
        let root = self.engine.state.worktrees(self.engine.id);
        let registered = self.repo.worktrees().unwrap_or_default();
        let left: Vec<Utf8PathBuf> = registered
            .into_iter()
            .filter_map(|worktree| Utf8PathBuf::from_path_buf(worktree.path).ok())
            .filter(|path| path.starts_with(&root))
            .collect();
        if left.is_empty() {
            return;
        }
        // The contents that checks left are all on the branch. That of the pool is not below `root`.
        let integration = root.join(".integration");
        if left.contains(&integration)
            && let Ok(own) = self.own(&integration)
        {
            self.repo.remove_worktree(&own, Removal::WithChanges).ok();
        }
        for task in 0..self.engine.work.tasks.len() {
            let path = self.worktree(task);
            if *self.state(task) == State::Landed && left.contains(&path) {
                self.remove_if_delivered(task, &path);
            }
        }
        for path in &left {
            self.repo.forget_worktree(path).ok();
        }
    }

    /// Removes a landed task's worktree if all its contents were delivered; otherwise it is kept for `clean`.
    fn remove_if_delivered(&self, task: usize, path: &Utf8Path) {
        let newest = self.port.newest(self.task(task));
        let Some(order) = self.port.order(self.task(task), newest) else {
            return;
        };
        // If a worker was killed before it could report, an orchestrator did.
        let folder = self.engine.log.parent().map(Utf8Path::read_dir_utf8);
        let entries = folder.into_iter().flatten().flatten().flatten();
        let said = entries.map(|entry| entry.path().to_owned());
        let mut logs = std::iter::once(order.log).chain(said);
        if let Some(delivery) = logs.find_map(|log| self.delivery(task, newest, &log)) {
            self.remove_delivered(path, &delivery.tree);
        }
    }

    /// Returns what an attempt delivered, by its log.
    fn delivery(&self, task: usize, attempt: u32, log: &Utf8Path) -> Option<Delivery> {
        let (lines, _) = self.port.read(log, Position::default());
        lines.iter().rev().find_map(|line| {
            let (id, of, happened) = self.engine.scribe.heard(line)?;
            if let Happened::Implemented(delivery) = happened
                && id == self.task(task)
                && of == attempt
            {
                return Some(delivery);
            }
            None
        })
    }

    /// Removes a worktree with nothing but delivered contents; any other is kept.
    pub(super) fn remove_delivered(&self, path: &Utf8Path, tree: &str) {
        // `.git` is removed first if git is killed during the removal. Only git knows what was in it.
        self.repo.rejoin_worktree(path).ok();
        if let Ok(own) = self.own(path)
            && matches!(self.holds_more(&own, tree), Ok(false))
        {
            self.repo.remove_worktree(&own, Removal::WithChanges).ok();
        }
    }

    /// Returns whether a worktree has files that a tree lacks. Missing files are not
    /// lost: a git that was killed during the removal leaves only some.
    fn holds_more(&self, worktree: &OwnWorktree, tree: &str) -> Result<bool, Error> {
        let here = worktree.repo();
        let own = self.own_paths();
        let now = here.snapshot_tree(&own)?;
        if now.as_str() == tree {
            return Ok(false);
        }
        let changes = here.between(&ObjectId::parse(tree)?, &now)?;
        Ok(changes
            .iter()
            .any(|change| change.kind != ChangeKind::Deleted))
    }
}
