//! The project that a command is about, and the ways to look at it.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_runner::StateFolder;
use rekindle_world::{Clock, RealWorld, Zone};

use crate::last_session::Own;

/// The folder being resumed, with the environment it lives in.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder, absolute.
    pub folder: Utf8PathBuf,
    /// Where the time comes from.
    pub clock: Clock,
    /// The user's time zone.
    pub zone: Zone,
    /// The environment variables that protocols may ask for.
    pub variables: BTreeMap<String, String>,
    /// This program itself, which is also the worker of the engine.
    pub program: Utf8PathBuf,
    /// Where programs are looked for.
    pub search_path: std::ffi::OsString,
    /// Where the user's key is, or is to be made; none where the environment names no such place.
    pub key: Option<Utf8PathBuf>,
}

impl Project {
    /// Returns the project as it is now; each call reads the clock anew.
    pub(crate) fn world(&self) -> RealWorld {
        RealWorld::new(
            self.folder.clone(),
            self.clock,
            self.variables.clone(),
            self.search_path.clone(),
        )
        .in_zone(self.zone.clone())
    }

    /// Returns the folder of rekindle's own files.
    pub(crate) fn state(&self) -> StateFolder {
        StateFolder::of(
            &self.folder,
            self.key.as_deref(),
            rekindle_registry::names(),
        )
    }

    /// Returns how far effects may go: into the project, and into these folders of a protocol.
    pub(crate) fn reach(&self, roots: Vec<Utf8PathBuf>) -> rekindle_runner::Reach {
        rekindle_runner::Reach {
            roots,
            search_path: self.search_path.clone(),
        }
    }

    /// Returns the session of the coding agent that has started us, where it says so.
    pub(crate) fn own_session(&self) -> Own<'_> {
        // A Claude Code that is around, or in, a Codex is told by its process as well.
        let names = ["CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID"];
        let session = names.iter().find_map(|name| self.variables.get(*name));
        session.map_or(Own::None, |id| Own::Begins(id))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn folder(&self) -> &Utf8Path {
        &self.folder
    }
}
