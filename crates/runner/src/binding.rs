//! Which records are ours: those that this user wrote on this machine, for this folder and its repository.
//!
//! Files in `.rekindle/` may come from a clone, from `cp -a`, or from a folder that was
//! moved. A record is used only if it has our seal; see `rekindle_fs::Seal`.

use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::{Error, Key, Seal};

/// Makes the seals of one project.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    project: Utf8PathBuf,
    /// The path of the user's key, which may not exist yet.
    key: Option<Utf8PathBuf>,
    /// Cached results.
    known: Arc<OnceLock<Seal>>,
}

/// A record that was not written here, and so is never used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The file.
    pub path: Utf8PathBuf,
    /// Why it does not count.
    pub why: String,
}

impl Binding {
    pub(crate) fn new(project: &Utf8Path, key: Option<&Utf8Path>) -> Self {
        Self {
            project: project.to_owned(),
            key: key.map(ToOwned::to_owned),
            known: Arc::default(),
        }
    }

    /// Returns the seal of a file, to check it; `None` if there is no key, so that no record is ours.
    pub(crate) fn seal(&self, file: &Utf8Path) -> Option<Seal> {
        let key = || Key::read(self.key.as_deref()?).ok().flatten();
        let seal = match self.known.get() {
            Some(seal) => seal.clone(),
            None => self.remember(&key()?),
        };
        Some(seal.at(self.place(file)))
    }

    /// Returns the seal of a file, to write it; creates the key if there is none.
    pub(crate) fn sealing(&self, file: &Utf8Path) -> Result<Seal, Error> {
        let seal = if let Some(seal) = self.known.get() {
            seal.clone()
        } else {
            let key = self.key.as_deref().ok_or(Error::NoKeyPlace)?;
            self.remember(&Key::read_or_make(key)?)
        };
        Ok(seal.at(self.place(file)))
    }

    /// Returns why a file of this project does not have our seal.
    pub(crate) fn foreign(&self, file: &Utf8Path) -> Foreign {
        let why = match self.key.as_deref().map(Key::read) {
            Some(Err(error)) => error.to_string(),
            None => Error::NoKeyPlace.to_string(),
            Some(Ok(None)) => "you have no key yet, so it cannot be yours".to_owned(),
            Some(Ok(Some(_))) => {
                "it was not written by this version of rekindle, by you, on this machine, in this folder and repository"
                    .to_owned()
            }
        };
        Foreign {
            path: file.to_owned(),
            why,
        }
    }

    fn remember(&self, key: &Key) -> Seal {
        let real = self.project.canonicalize_utf8();
        let project = real.unwrap_or_else(|_| self.project.clone());
        let repository = rekindle_git::common_dir_on_disk(&project);
        let repository = repository.map_or_else(String::new, Utf8PathBuf::into_string);
        let seal = key.seal(&[project.as_str(), &repository]);
        self.known.get_or_init(|| seal).clone()
    }

    /// Returns a file's path in the project, which is part of its seal.
    fn place<'a>(&self, file: &'a Utf8Path) -> &'a str {
        file.strip_prefix(&self.project).unwrap_or(file).as_str()
    }
}
