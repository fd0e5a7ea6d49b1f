//! Commands that are typed again and again: each under a lock, each as a whole.
//!
//! A workflow's journal keeps what was done for ever, which is right for the few plans that a person
//! agrees to. A drop-in command is called for every step, writes the whole state each time, and
//! needs nothing remembered once it has ended. So one effect alone is carried out as it is, since a
//! file is old or new in any case, and of several all stand in one small file, durably, before the
//! first begins. That file is removed at the end, also after an error, when what was done is taken
//! back; so whoever finds it knows that a command died, or could not take back what it did on a disk
//! that was full, and finishes what it says.
//!
//! The lock is not the workflow's: a resume holds that while its agent works, and the agent calls
//! these very commands.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::{Content, ForeignLock, Lock};
use rekindle_model::Action;
use rekindle_wire::journal::Pending;

use crate::effects::{self, Repeated};
use crate::reach::{Reach, Site};
use crate::{Error, StateFolder, crash};

/// The right to change the files of one name, until it is dropped.
#[derive(Debug)]
pub struct Transaction {
    site: Site,
    lock: Lock,
    redo: Utf8PathBuf,
    _foreign: Option<ForeignLock>,
}

impl Transaction {
    /// Takes the lock, waiting for other commands, and finishes what one that died had begun.
    ///
    /// `foreign` is the lock of another program on the same files; it is taken if its file is there.
    ///
    /// # Errors
    /// [`Error::Lock`] after some seconds, with who holds it.
    pub fn open(
        project: &Utf8Path,
        name: &str,
        purpose: &str,
        now: Timestamp,
        foreign: &Utf8Path,
    ) -> Result<Self, Error> {
        let folder = StateFolder::of(project);
        folder.ensure()?;
        let stamp = rekindle_text::format_seconds(now);
        let lock = Lock::acquire_patiently(&folder.transaction_lock(name), purpose, stamp)?;
        let foreign = ForeignLock::acquire(&rekindle_fs::confine(project, foreign)?)?;
        let transaction = Self {
            site: Site::new(project, Reach::default()),
            lock,
            redo: folder.redo(name),
            _foreign: foreign,
        };
        crash::point("transaction-after-lock");
        transaction.recover()?;
        Ok(transaction)
    }

    /// Carries out effects on files, in order: all or, with an error, none.
    ///
    /// Only after a death, or where the error says so, is the rest done with the next transaction:
    /// who was told that a command failed must not find it carried out later. Effects of other kinds are no part of commands,
    /// and are passed over.
    ///
    /// # Errors
    /// [`Error::HalfDone`] if what was written before the failure can not be taken back; the next
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
            effects: actions.iter().map(effects::written).collect(),
        };
        let text = serde_json::to_vec(&pending).map_err(|source| {
            let path = self.redo.clone();
            rekindle_fs::Error::Encode { path, source }
        })?;
        if let Err(error) = self.write_redo(&text) {
            // It can have its name although the disk did not say so.
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

    /// Takes back what was done until the last of these failed, and forgets the rest.
    fn give_up(&self, tried: &[Action], error: Error, redo: &[u8]) -> Error {
        let done = match tried {
            // A refusal has touched nothing: what stands there is somebody else's.
            [done @ .., _] if error.is_refusal() => done,
            all => all,
        };
        let mut taken_back = Ok(());
        for action in done.iter().rev() {
            let result = effects::take_back(&self.site, action);
            taken_back = taken_back.and(result);
            crash::point("transaction-after-take-back");
        }
        // What can not be taken back now is finished by the next command, so its record stays. What
        // never can be is somebody else's by now, or a path that nothing can stand at.
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
        // No crash lies between the look and this: whoever made the file meanwhile is somebody else.
        effects::perform_creation(&self.site, path, contents)
    }

    /// Finishes what a command that died had begun; where the world has moved on, the rest is left.
    fn recover(&self) -> Result<(), Error> {
        let text = match fs_err::read(&self.redo) {
            Ok(text) if text.is_empty() => return Ok(()),
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) => {
                return Err(Error::Files(rekindle_fs::Error::Io {
                    action: "read",
                    path: self.redo.clone(),
                    source,
                }));
            }
        };
        let pending: Option<Pending> = serde_json::from_slice(&text).ok();
        let Some(pending) = pending.filter(|pending| pending.v == Pending::VERSION) else {
            let path = self.redo.clone();
            return Err(Error::Unfinished { path });
        };
        for effect in &pending.effects {
            match effects::repeat_on_files(&self.site, effect) {
                Ok(Some(Repeated::Superseded)) => break,
                Ok(_) => crash::point("transaction-after-repeat"),
                Err(error) if error.is_lasting() => return Err(self.put_aside(error)?),
                Err(error) => return Err(error),
            }
        }
        self.end(&text)
    }

    /// Gives the record another name, so that it is kept and stands in nobody's way.
    fn put_aside(&self, error: Error) -> Result<Error, Error> {
        let mut n = 1;
        loop {
            let aside = Utf8PathBuf::from(format!("{}.aside-{n}", self.redo));
            match rekindle_fs::rename(&self.redo, &aside) {
                Err(rekindle_fs::Error::Exists { .. }) => n += 1,
                Err(error) => return Err(error.into()),
                Ok(()) => {
                    return Ok(Error::PutAside {
                        aside,
                        source: Box::new(error),
                    });
                }
            }
        }
    }

    /// Removes the record: unlike emptying it, that needs no room on the disk.
    fn end(&self, text: &[u8]) -> Result<(), Error> {
        Ok(rekindle_fs::remove(&self.redo, &Content::of(text))?)
    }

    fn write_redo(&self, text: &[u8]) -> Result<(), Error> {
        let Some(folder) = self.redo.parent() else {
            return Ok(());
        };
        rekindle_fs::ensure_dir(folder)?;
        let found = Content::read(&self.redo)?;
        Ok(rekindle_fs::replace(&self.redo, &found, text)?)
    }
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
