//! Short commands that are run very often: each under a lock, each completely or not at all.
//!
//! A workflow's journal keeps records forever, which is right for the few plans that a person
//! agrees to. A drop-in command is called for every step, writes the whole state each time, and
//! needs no record after it has ended. So a single effect is applied directly, since a
//! file is old or new in any case, and several effects are written to one small file, durably, before the
//! first one starts. That file is removed at the end, also after an error, when the effects are
//! undone; so if it exists, a command died, or could not undo its effects on a full disk, and the
//! next command finishes them.
//!
//! The lock is not the workflow's: a resume holds that while its agent works, and the agent calls
//! these very commands.

use std::ffi::OsStr;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::{Content, ForeignLock, Lock};
use rekindle_model::Action;
use rekindle_wire::journal::Pending;

use crate::effects::{self, Repeated};
use crate::reach::{Reach, Site};
use crate::state_folder::put_aside;
use crate::{Error, StateFolder, crash};

/// What one command writes: the state and some documents of a branch.
const LARGEST_REDO: u64 = 64 * 1024 * 1024;

/// The right to change the files of one name, until it is dropped.
#[derive(Debug)]
pub struct Transaction {
    site: Site,
    lock: Lock,
    redo: Utf8PathBuf,
    notes: Vec<String>,
    _foreign: Option<ForeignLock>,
}

impl Transaction {
    /// Takes the lock, waiting for other commands, and finishes the steps of one that died.
    ///
    /// `foreign` is the lock of another program on the same files; it is taken if its file exists.
    ///
    /// # Errors
    /// [`Error::Lock`] after some seconds, with the holder; [`Error::Tracked`] if a record exists
    /// and git tracks files of ours.
    pub fn open(
        folder: &StateFolder,
        search_path: &OsStr,
        name: &str,
        purpose: &str,
        now: Timestamp,
        foreign: &Utf8Path,
    ) -> Result<Self, Error> {
        let reach = Reach {
            search_path: search_path.to_owned(),
            ..Reach::default()
        };
        let site = Site::new(folder, reach);
        let redo = folder.redo(name);
        // Calling git costs more than most commands: only if there is something to finish.
        if redo.symlink_metadata().is_ok() {
            site.refuse_tracked()?;
        }
        folder.ensure()?;
        let stamp = rekindle_text::format_seconds(now);
        let lock = Lock::acquire_patiently(&folder.transaction_lock(name), purpose, stamp)?;
        let foreign = ForeignLock::acquire(&rekindle_fs::confine(folder.project(), foreign)?)?;
        let mut transaction = Self {
            site,
            lock,
            redo,
            notes: Vec::new(),
            _foreign: foreign,
        };
        crash::point("transaction-after-lock");
        transaction.recover()?;
        Ok(transaction)
    }

    /// Returns what was finished or moved aside when it was opened, one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Applies effects on files, in order: all or, with an error, none.
    ///
    /// Only after a crash, or if the error says so, the next transaction finishes the rest:
    /// a command that was reported as failed must not be applied later. Effects of other kinds are
    /// ignored.
    ///
    /// # Errors
    /// [`Error::HalfDone`] if effects before the failure cannot be undone; the next
    /// transaction then finishes it.
    pub fn commit(&self, actions: &[Action]) -> Result<(), Error> {
        self.lock.verify()?;
        for action in actions {
            effects::check(&self.site, action)?;
        }
        let [first, rest @ ..] = actions else {
            return Ok(());
        };
        if rest.is_empty() {
            return self.perform(first);
        }
        let pending = Pending {
            v: Pending::VERSION,
            seal: String::new(),
            effects: actions.iter().map(effects::written).collect(),
        };
        let text = serde_json::to_string(&pending).map_err(|source| {
            let path = self.redo.clone();
            rekindle_fs::Error::Encode { path, source }
        })?;
        let text = self.site.state.sealing(&self.redo)?.stamp(&text);
        let text = text.into_bytes();
        if let Err(error) = self.write_redo(&text) {
            // It can have its final name although the disk reported an error.
            self.end(&text).ok();
            return Err(error);
        }
        crash::point("transaction-after-record");
        for (at, action) in actions.iter().enumerate() {
            if let Err(error) = self.perform(action) {
                return Err(self.give_up(&actions[..=at], error, &text));
            }
            crash::point("transaction-after-effect");
        }
        self.end(&text)?;
        crash::point("transaction-after-end");
        Ok(())
    }

    /// Undoes all effects before the failed one, and forgets the rest.
    fn give_up(&self, tried: &[Action], error: Error, redo: &[u8]) -> Error {
        let done = match tried {
            // A refusal has changed nothing: the file belongs to somebody else.
            [done @ .., _] if error.is_refusal() => done,
            all => all,
        };
        let mut taken_back = Ok(());
        for action in done.iter().rev() {
            let result = effects::take_back(&self.site, action);
            taken_back = taken_back.and(result);
            crash::point("transaction-after-take-back");
        }
        // What cannot be undone now is finished by the next command, so its record stays. What
        // can never be undone was changed by somebody else, or its path is invalid.
        let ended = match taken_back {
            Err(why) if why.is_lasting() => self.end(redo).and(Err(why)),
            other => other.and_then(|()| self.end(redo)),
        };
        match ended {
            Ok(()) => error,
            Err(why) => Error::HalfDone {
                why: Box::new(why),
                source: Box::new(error),
            },
        }
    }

    fn perform(&self, action: &Action) -> Result<(), Error> {
        let Action::Create { path, contents } = action else {
            return effects::perform_on_files(&self.site, action).map(drop);
        };
        // No crash can happen between the check and this: the file was created by somebody else.
        effects::perform_creation(&self.site, path, contents)
    }

    /// Finishes the steps of a command that died; if the files have changed, the rest is skipped.
    fn recover(&mut self) -> Result<(), Error> {
        let text = match self.read_redo()? {
            Some(text) if !text.is_empty() => text,
            Some(_) | None => return Ok(()),
        };
        if !is_ours(&self.site.state, &self.redo, &text) {
            let foreign = self.site.state.binding().foreign(&self.redo);
            let aside = put_aside(&self.redo)?;
            self.notes.push(format!(
                "`{}` was not applied and was moved to `{aside}`: {}",
                foreign.path, foreign.why
            ));
            return Ok(());
        }
        let pending: Option<Pending> = serde_json::from_slice(&text).ok();
        let Some(pending) = pending.filter(|pending| pending.v == Pending::VERSION) else {
            let path = self.redo.clone();
            return Err(Error::Unfinished { path });
        };
        for effect in &pending.effects {
            match effects::repeat_on_files(&self.site, effect) {
                Ok(Some(Repeated::Superseded)) => break,
                Ok(repeated) => {
                    if repeated == Some(Repeated::Done) {
                        let lines = effects::lines(effect).into_iter();
                        let finished =
                            lines.map(|line| format!("finished an interrupted command: {line}"));
                        self.notes.extend(finished);
                    }
                    crash::point("transaction-after-repeat");
                }
                Err(error) if error.is_lasting() => {
                    return Err(Error::PutAside {
                        aside: put_aside(&self.redo)?,
                        source: Box::new(error),
                    });
                }
                Err(error) => return Err(error),
            }
        }
        self.end(&text)
    }

    /// Removes the record: unlike emptying it, that needs no free disk space.
    fn end(&self, text: &[u8]) -> Result<(), Error> {
        Ok(rekindle_fs::remove(&self.redo, &Content::of(text))?)
    }

    fn write_redo(&self, text: &[u8]) -> Result<(), Error> {
        let Some(folder) = self.redo.parent() else {
            return Ok(());
        };
        rekindle_fs::ensure_dir(folder)?;
        let found = self.read_redo()?;
        let found = found.map_or(Content::Absent, |bytes| Content::of(&bytes));
        Ok(rekindle_fs::replace(&self.redo, &found, text)?)
    }

    fn read_redo(&self) -> Result<Option<Vec<u8>>, Error> {
        let (project, redo) = (&self.site.project, &self.redo);
        Ok(rekindle_fs::read_within(project, redo, LARGEST_REDO)?)
    }
}

/// Returns whether there is a record that was not written here.
pub(crate) fn is_foreign(folder: &StateFolder, redo: &Utf8Path) -> bool {
    let text = rekindle_fs::read_within(folder.project(), redo, LARGEST_REDO);
    let text = text.ok().flatten().unwrap_or_default();
    !text.is_empty() && !is_ours(folder, redo, &text)
}

fn is_ours(folder: &StateFolder, redo: &Utf8Path, text: &[u8]) -> bool {
    let seal = folder.binding().seal(redo);
    seal.is_some_and(|seal| seal.is_on(text))
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
