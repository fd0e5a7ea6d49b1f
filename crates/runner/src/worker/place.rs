//! A worktree that belongs to the protocol: made ready, and its work left in it with evidence.
//!
//! Nothing is committed here. What a former attempt did is rescued before it is reset, and what it
//! left as evidence is moved aside, because the protocol lands work from the worktree itself.

use rekindle_agents::Summary;
use rekindle_fs::{Company, Content};
use rekindle_git::{Change, ChangeKind, Checkout, ObjectId, RepoPath};
use rekindle_model::{Delivery, Happened};
use rekindle_wire::order::OrderPlace;
use serde_json::{Value, json};

use super::worktree::{is_ready, make_room};
use super::{Worker, microdollars};
use crate::Error;

/// Names that the protocol's evidence has.
const CHANGED: &str = "changed_ops.json";
const VERIFIED: &str = "verify_summary.json";
const TROUBLE: &str = "error_context.json";

/// The documents of a protocol and the rules of git are pages.
const LARGEST_DOCUMENT: u64 = 64 * 1024 * 1024;

impl Worker<'_> {
    /// Brings the worktree to the commit that the attempt begins with, with fresh copies of the documents.
    pub(super) fn prepare_place(&self, place: &OrderPlace, base: &ObjectId) -> Result<(), Error> {
        let worktree = &self.order.worktree;
        self.ignore(place)?;
        let is_there = worktree.symlink_metadata().is_ok();
        if !(is_there && is_ready(self.reuse_place(place, base))?) {
            self.fresh_place(base)?;
        }
        self.copy_documents(place)?;
        rekindle_fs::ensure_dir(&rekindle_fs::confine(worktree, &place.artifacts)?)?;
        Ok(())
    }

    /// Tells git to leave the protocol's own names alone, in every worktree of the repository.
    fn ignore(&self, place: &OrderPlace) -> Result<(), Error> {
        let file = self.order.common_dir.join("info/exclude");
        let common_dir = &self.order.common_dir;
        let found = rekindle_fs::read_within(common_dir, &file, LARGEST_DOCUMENT)?;
        let before = found.as_deref().map_or(Content::Absent, Content::of);
        let text = found.unwrap_or_default();
        let has = |name: &str| {
            let lines = text.split(|byte| *byte == b'\n');
            let known = [name.to_owned(), format!("{name}/"), format!("/{name}/")];
            lines
                .map(<[u8]>::trim_ascii)
                .any(|line| known.iter().any(|name| name.as_bytes() == line))
        };
        let missing: Vec<&String> = place.keep.iter().filter(|name| !has(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut text = text.clone();
        if text.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        for name in missing {
            text.extend_from_slice(format!("{name}/\n").as_bytes());
        }
        rekindle_fs::ensure_dir(&self.order.common_dir.join("info"))?;
        match rekindle_fs::replace(&file, &before, &text) {
            // A peer has just done the same; what is missing then is seen by the next attempt.
            Ok(()) | Err(rekindle_fs::Error::Changed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Resets the worktree of a former attempt after saving what is in it.
    fn reuse_place(&self, place: &OrderPlace, base: &ObjectId) -> Result<(), Error> {
        let own = self.own()?;
        own.break_locks()?;
        own.repo().rescue(&self.order.workflow, &self.order.task)?;
        self.set_evidence_aside(place)?;
        own.detach(base)?;
        own.reset_hard(base)?;
        let keep: Vec<RepoPath> = place
            .keep
            .iter()
            .map(|name| RepoPath::from(name.as_str()))
            .collect();
        Ok(own.clean(&keep)?)
    }

    /// Moves what the former attempt left as evidence into a folder of its own.
    fn set_evidence_aside(&self, place: &OrderPlace) -> Result<(), Error> {
        let folder = rekindle_fs::confine(&self.order.worktree, &place.artifacts)?;
        let Ok(entries) = fs_err::read_dir(&folder) else {
            return Ok(());
        };
        let is_former = |name: &str| name.starts_with("attempt-");
        let names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !is_former(name))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut number = place.earlier.max(1);
        let aside = loop {
            let aside = folder.join(format!("attempt-{number}"));
            if !aside.exists() {
                break aside;
            }
            number += 1;
        };
        rekindle_fs::ensure_dir(&aside)?;
        for name in names {
            rekindle_fs::rename(&folder.join(&name), &aside.join(&name))?;
        }
        Ok(())
    }

    /// Makes the worktree anew; what was in its place stays beside it.
    fn fresh_place(&self, base: &ObjectId) -> Result<(), Error> {
        let worktree = &self.order.worktree;
        let main = &self.main;
        make_room(main, &self.order.common_dir, worktree)?;
        // The place is the protocol's own: a lock on what is no longer there would fail every attempt.
        main.unlock_lost(worktree)?;
        if let Some(root) = worktree.parent() {
            // Nobody else may put anything into it.
            rekindle_fs::ensure_private_dir(root, Company::Nobody)?;
        }
        main.forget_worktree(worktree)?;
        Ok(main.add_worktree(worktree, base, Checkout::Detached)?)
    }

    /// Copies the project's documents in, whatever a former attempt did to its copies.
    fn copy_documents(&self, place: &OrderPlace) -> Result<(), Error> {
        let worktree = &self.order.worktree;
        let folder = rekindle_fs::confine(worktree, &place.copies_folder)?;
        rekindle_fs::remove_copies(&folder)?;
        for (from, to) in &place.copies {
            let from = rekindle_fs::confine(&self.order.project, from)?;
            let to = rekindle_fs::confine(worktree, to)?;
            if let Some(bytes) = rekindle_fs::read_followed(&from, LARGEST_DOCUMENT)? {
                rekindle_fs::create(&to, &bytes)?;
            }
        }
        Ok(())
    }

    /// Leaves the work where it is, and the evidence that the agent did not write itself.
    pub(super) fn deliver_place(
        &self,
        place: &OrderPlace,
        base: &ObjectId,
        summary: &Summary,
    ) -> Result<Happened, Error> {
        let order = self.order;
        let changes = self.own()?.repo().changes(base)?;
        let own = |path: &RepoPath| {
            let kept = place.keep.iter().map(|name| RepoPath::from(name.as_str()));
            kept.chain([RepoPath::from(".kiln"), RepoPath::from(".rekindle")])
                .any(|name| path.is_within(&name))
        };
        let operations: Vec<Value> = changes
            .iter()
            .filter(|change| !own(&change.path))
            .map(operation)
            .collect();
        self.leave(place, CHANGED, &json!(operations))?;
        self.leave(place, VERIFIED, &self.verification("pass"))?;
        Ok(Happened::Implemented(Delivery {
            commit: String::new(),
            tree: String::new(),
            base: order.base.clone(),
            session: summary.session.clone(),
            cost: summary.cost_usd.map(microdollars),
        }))
    }

    /// Leaves word of a failure beside whatever the agent wrote.
    pub(super) fn leave_trouble(&self, place: &OrderPlace, reason: &str) -> Result<(), Error> {
        self.leave(place, VERIFIED, &self.verification("fail"))?;
        let trouble = json!({"stage": "implementing", "message": reason, "details_path": null});
        self.leave(place, TROUBLE, &trouble)
    }

    fn verification(&self, result: &str) -> Value {
        let checks: Vec<Value> = self
            .order
            .checks
            .iter()
            .map(|check| {
                let command = check.arguments.last().map_or("", String::as_str);
                json!({"name": command, "outcome": result, "command": command})
            })
            .collect();
        json!({"result": result, "checks": checks})
    }

    /// Writes a piece of evidence unless the agent has: its own word comes first.
    fn leave(&self, place: &OrderPlace, name: &str, value: &Value) -> Result<(), Error> {
        let path = rekindle_fs::confine(&self.order.worktree, &place.artifacts.join(name))?;
        match rekindle_fs::create(&path, format!("{value:#}\n").as_bytes()) {
            Ok(()) | Err(rekindle_fs::Error::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn operation(change: &Change) -> Value {
    // JSON has no bytes: a name that is not UTF-8 is told with replacement characters.
    let text = |path: &RepoPath| String::from_utf8_lossy(path.as_bytes()).into_owned();
    let path = text(&change.path);
    match &change.kind {
        ChangeKind::Added => json!({"op": "add", "path": path}),
        ChangeKind::Modified | ChangeKind::TypeChanged => json!({"op": "modify", "path": path}),
        ChangeKind::Deleted => json!({"op": "delete", "path": path}),
        ChangeKind::Renamed { from } => {
            json!({"op": "rename", "path": path, "from_path": text(from)})
        }
    }
}
