//! The workflows that were resumed in this conversation, each with the step that was handed out.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rekindle_app::Handed;

/// The workflows that were resumed in this conversation, by id.
#[derive(Debug, Default)]
pub(crate) struct Taken(Mutex<BTreeMap<String, Handed>>);

/// Which of them a call means.
#[derive(Debug)]
pub(crate) enum Meant {
    One(Box<Handed>),
    None,
    Several(Vec<String>),
}

impl Taken {
    /// Keeps what comes next in a workflow, or forgets one of which nothing is left to do.
    pub(crate) fn keep(&self, id: &str, handed: Option<Handed>) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match handed {
            Some(handed) => taken.insert(id.to_owned(), handed),
            None => taken.remove(id),
        };
    }

    /// Finds the workflow of an id, of a beginning of its name, or the only one.
    pub(crate) fn find(&self, id: Option<&str>) -> Meant {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |known: &str| match id {
            None => true,
            Some(id) => {
                let name = known.split_once(':').map_or(known, |(_, name)| name);
                known == id || name.starts_with(id) || known.starts_with(id)
            }
        };
        let exact = id.and_then(|id| taken.get(id));
        let mut found = taken.iter().filter(|(known, _)| is_meant(known));
        match (exact, found.next(), found.next()) {
            (Some(handed), _, _) | (None, Some((_, handed)), None) => {
                Meant::One(Box::new(handed.clone()))
            }
            (None, None, _) => Meant::None,
            (None, Some(_), Some(_)) => Meant::Several(taken.keys().cloned().collect()),
        }
    }

    /// Returns whether there are several.
    pub(crate) fn are_several(&self) -> bool {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.len() > 1
    }
}
