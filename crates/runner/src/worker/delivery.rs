//! The delivery: an attempt's worktree as a commit that can land.

use rekindle_agents::Stream;
use rekindle_git::{Change, Expected, Message, ObjectId, Removal, RepoPath};
use rekindle_model::{Delivery, Happened};

use tokio::signal::unix::Signal;

use super::done::Done;
use super::{Worker, copied, failed, own_files, submodule, work_ref};
use crate::Error;
use crate::output_log::OutputLog;

impl Worker<'_> {
    /// Returns the failure of an attempt that changed nothing although it has to, before checks that
    /// say nothing about it, or that leave files of their own.
    pub(super) fn idle(&self, base: &ObjectId, done: &Done) -> Result<Option<Happened>, Error> {
        if self.order.place.is_some() || self.order.checks.is_empty() {
            return Ok(None);
        }
        let own = self.own()?;
        let content = own.content(base, &self.own_files())?;
        let changes = own.repo().between(base, &content.tree)?;
        Ok(self.unchanged(&changes, done))
    }

    /// Returns the failure of an attempt without changes, unless that is allowed.
    fn unchanged(&self, changes: &[Change], done: &Done) -> Option<Happened> {
        let denied = done.denied.as_ref();
        let about = self.order.unless_empty.as_ref();
        if (denied.is_none() && about.is_none()) || !changes.is_empty() {
            return None;
        }
        // An agent that is not allowed to write may still report success.
        if let Some(tool) = denied {
            let reason = format!("it changed nothing; `{tool}` was not allowed");
            return Some(failed(reason));
        }
        let mut reason = "it changed nothing".to_owned();
        let said = self.last_said();
        if !said.is_empty() {
            reason.push_str(&format!("; its last words: {said}"));
        }
        if let Some(about) = about {
            reason.push_str(&format!("; {about}"));
        }
        Some(failed(reason))
    }

    /// Returns the last line of the agent's output.
    fn last_said(&self) -> String {
        let order = self.order;
        let folder = self.port.attempt_folder(&order.task, order.attempt);
        let stream = Stream::of(&order.stream).unwrap_or(Stream::Plain);
        crate::output_log::last_line(&folder.join("output.log"), stream)
    }

    /// Returns the run's own files in the worktree. They are the orchestrator's: they land as they are in
    /// the base, whatever the agent did or committed. If there are none, nothing needs to be restored.
    fn own_files(&self) -> Vec<RepoPath> {
        let order = self.order;
        let is_about =
            |name: &String| order.worktree.join(name).exists() || order.tracked.contains(name);
        own_files(&order.folder, self.scribe.own_folders())
            .into_iter()
            .filter(is_about)
            .map(|name| RepoPath::from(name.as_str()))
            .collect()
    }

    /// Removes the worktree of a delivery, if it is not of the pool. What could not be removed is kept.
    pub(super) async fn remove_delivered(
        &self,
        delivered: &Happened,
        stop: &mut Signal,
        output: &mut OutputLog,
    ) -> Result<(), Error> {
        let is_delivered = matches!(delivered, Happened::Implemented(_));
        if self.slot().is_none() && is_delivered && self.tear_down(stop, output).await? {
            let own = self.own()?;
            self.main.remove_worktree(&own, Removal::WithChanges).ok();
        }
        Ok(())
    }

    /// Turns the worktree into a commit that can land.
    pub(super) fn deliver(&self, base: &ObjectId, done: Done) -> Result<Happened, Error> {
        let order = self.order;
        let own = self.own()?;
        let here = own.repo();
        let exclude = self.own_files();
        // The agent may have committed what must not land.
        if !exclude.is_empty() || !own.brought()?.is_empty() {
            own.detach(base)?;
        }
        let content = own.content(base, &exclude)?;
        let tree = &content.tree;
        let changes = here.between(base, tree)?;
        if let Some(failed) = self.unchanged(&changes, &done) {
            return Ok(failed);
        }
        if let Some(reason) = copied::refusal(&own, &changes)? {
            return Ok(failed(reason));
        }
        if let Some(reason) = submodule::refusal(&self.main, &order.worktree, &changes)? {
            return Ok(failed(reason));
        }
        let message = Message {
            subject: format!("{} attempt {}", order.task, order.attempt),
            body: String::new(),
            trailers: Vec::new(),
        };
        let commit = here.commit_tree(tree, std::slice::from_ref(base), &message, None)?;
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
        let tree = tree.as_str().to_owned();
        // All of it is in the commit now. What could not be freed is kept.
        if let Some(slot) = self.slot() {
            self.leave_slot(&slot, own, &content, &changes).ok();
        }
        Ok(Happened::Implemented(Delivery {
            commit: commit.as_str().to_owned(),
            tree,
            base: order.base.clone(),
            session: done.session,
            cost: done.cost,
        }))
    }
}
