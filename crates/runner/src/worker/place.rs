//! A worktree that belongs to the protocol: it is prepared, and the work is left in it with evidence.
//!
//! Nothing is committed here. The files of an earlier attempt are rescued before the reset, and its
//! evidence is moved aside, because the protocol lands work from the worktree itself.

use camino::Utf8Path;
use rekindle_fs::{Company, Content};
use rekindle_git::{Change, ChangeKind, Checkout, ObjectId, RepoPath};
use rekindle_model::{Attempted, Delivery, FileChange, FileChangeKind, Happened};
use rekindle_wire::order::{Command as OrderCommand, OrderPlace};

use super::done::Done;
use super::worktree::{is_ready, make_room};
use super::{Worker, own_files, paths};
use crate::Error;

/// The largest document and the largest file of git rules.
const LARGEST_DOCUMENT: u64 = 64 * 1024 * 1024;

impl Worker<'_> {
    /// Resets the worktree to the attempt's base commit, with fresh copies of the documents.
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

    /// Makes git ignore the protocol's own names, in every worktree of the repository.
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
            // A peer has just done the same; the next attempt sees what is missing then.
            Ok(()) | Err(rekindle_fs::Error::Changed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Resets the worktree of an earlier attempt after saving its files.
    fn reuse_place(&self, place: &OrderPlace, base: &ObjectId) -> Result<(), Error> {
        let own = self.own()?;
        own.break_locks()?;
        own.repo().rescue(&self.order.workflow, &self.order.task)?;
        self.set_evidence_aside(place)?;
        own.detach(base)?;
        own.reset_hard(base)?;
        Ok(own.clean(&paths(&place.keep))?)
    }

    /// Moves the evidence of the earlier attempt into a folder of its own.
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

    /// Creates the worktree again; a folder in its place is renamed.
    fn fresh_place(&self, base: &ObjectId) -> Result<(), Error> {
        let worktree = &self.order.worktree;
        let main = &self.main;
        make_room(main, &self.order.common_dir, worktree, worktree)?;
        // The path belongs to the protocol: a lock on a missing worktree would fail every attempt.
        main.unlock_lost(worktree)?;
        if let Some(root) = worktree.parent() {
            // Nobody else may put anything into it.
            rekindle_fs::ensure_private_dir(root, Company::Nobody)?;
        }
        main.forget_worktree(worktree)?;
        Ok(main.add_worktree(worktree, base, Checkout::Detached)?)
    }

    /// Copies the project's documents in, whatever an earlier attempt did to its copies.
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

    /// Leaves the work where it is, with the evidence that the agent did not write itself.
    pub(super) fn deliver_place(
        &self,
        place: &OrderPlace,
        base: &ObjectId,
        done: Done,
    ) -> Result<Happened, Error> {
        let changes = self.own()?.repo().changes(base)?;
        let mut own = own_files(Utf8Path::new(""), self.scribe.own_folders());
        own.extend(place.keep.iter().cloned());
        let own = paths(&own);
        let is_work = |change: &&Change| !own.iter().any(|name| change.path.is_within(name));
        let changed = changes.iter().filter(is_work).map(file_change).collect();
        self.leave_evidence(place, Ok(changed))?;
        Ok(Happened::Implemented(Delivery {
            commit: String::new(),
            tree: String::new(),
            base: self.order.base.clone(),
            session: done.session,
            cost: done.cost,
        }))
    }

    /// Writes evidence of an attempt, unless the agent has written that file itself.
    pub(super) fn leave_evidence(
        &self,
        place: &OrderPlace,
        result: Result<Vec<FileChange>, String>,
    ) -> Result<(), Error> {
        let checks = self.order.checks.iter();
        let command = |check: &OrderCommand| check.arguments.last().cloned().unwrap_or_default();
        let checks = checks.map(command).collect();
        for (name, text) in self.scribe.evidence(&Attempted { result, checks }) {
            let path = rekindle_fs::confine(&self.order.worktree, &place.artifacts.join(name))?;
            match rekindle_fs::create(&path, text.as_bytes()) {
                Ok(()) | Err(rekindle_fs::Error::Exists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// A name that is not UTF-8 is reported with replacement characters.
fn file_change(change: &Change) -> FileChange {
    let text = |path: &RepoPath| String::from_utf8_lossy(path.as_bytes()).into_owned();
    let kind = match &change.kind {
        ChangeKind::Added => FileChangeKind::Added,
        ChangeKind::Modified | ChangeKind::TypeChanged => FileChangeKind::Modified,
        ChangeKind::Deleted => FileChangeKind::Deleted,
        ChangeKind::Renamed { from } => FileChangeKind::Renamed { from: text(from) },
    };
    FileChange {
        path: text(&change.path),
        kind,
    }
}
