//! The delivery: an attempt's worktree as a commit that can land.

use rekindle_agents::Summary;
use rekindle_git::{Expected, Message, ObjectId, Removal, RepoPath};
use rekindle_model::{Delivery, Happened};

use super::{Worker, failed, microdollars, own_files, submodule, work_ref};
use crate::Error;

impl Worker<'_> {
    /// Turns the worktree into a commit that can land.
    pub(super) fn deliver(&self, base: &ObjectId, summary: &Summary) -> Result<Happened, Error> {
        let order = self.order;
        let own = self.own()?;
        let here = own.repo();
        // The run's own files are the orchestrator's: they land as they are in the base, whatever the
        // agent did or committed. If there are none, nothing needs to be restored.
        let is_about =
            |name: &String| order.worktree.join(name).exists() || order.tracked.contains(name);
        let exclude: Vec<RepoPath> = own_files(&order.folder, self.scribe.own_folders())
            .into_iter()
            .filter(is_about)
            .map(|name| RepoPath::from(name.as_str()))
            .collect();
        if !exclude.is_empty() {
            own.detach(base)?;
        }
        let tree = here.snapshot_tree(&exclude)?;
        // An agent that is not allowed to write may still report success.
        if let Some(tool) = summary.denied.last()
            && here.tree_of(base.as_str())?.as_ref() == Some(&tree)
        {
            let reason = format!("it changed nothing; `{tool}` was not allowed");
            return Ok(failed(reason));
        }
        let changes = here.between(base, &tree)?;
        if let Some(reason) = submodule::refusal(&self.main, &order.worktree, &changes)? {
            return Ok(failed(reason));
        }
        let message = Message {
            subject: format!("{} attempt {}", order.task, order.attempt),
            body: String::new(),
            trailers: Vec::new(),
        };
        let commit = here.commit_tree(&tree, std::slice::from_ref(base), &message, None)?;
        let name = work_ref(&order.workflow, &order.task, order.attempt);
        match self.main.update_ref(&name, &commit, &Expected::Missing) {
            Ok(()) | Err(rekindle_git::Error::RefMoved { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        // Before the ref existed, a `git gc --prune=now` of the user could remove parts of it. The
        // worktree still has everything, and stays.
        if !self.main.is_complete(&commit, Some(base))? {
            self.main.delete_ref(&name, &commit).ok();
            return Err(rekindle_git::Error::Lost { what: name }.into());
        }
        // All of it is in the commit now. What git could not remove is kept.
        self.main.remove_worktree(&own, Removal::WithChanges).ok();
        Ok(Happened::Implemented(Delivery {
            commit: commit.as_str().to_owned(),
            tree: tree.as_str().to_owned(),
            base: order.base.clone(),
            session: summary.session.clone(),
            cost: summary.cost_usd.map(microdollars),
        }))
    }
}
