//! The project of a command, and the ways to read it.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_runner::StateFolder;
use rekindle_world::{Clock, RealWorld, World as _, Zone};

use crate::last_session::Own;

/// The project's folder, with its environment.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder, absolute.
    pub folder: Utf8PathBuf,
    /// The folder that paths were typed in, absolute; below the project's where the command was given there.
    pub typed_in: Utf8PathBuf,
    /// The clock.
    pub clock: Clock,
    /// The user's time zone.
    pub zone: Zone,
    /// The environment variables that protocols may read.
    pub variables: BTreeMap<String, String>,
    /// The path of this program, which is also the engine's worker.
    pub program: Utf8PathBuf,
    /// The search path for programs.
    pub search_path: std::ffi::OsString,
    /// The path of the user's key; none if the environment names no folder for it.
    pub key: Option<Utf8PathBuf>,
}

impl Project {
    /// Returns the project that the folder belongs to, as git finds its repository.
    ///
    /// It is the nearest folder, up to the top of the repository, that has something of a protocol or of
    /// rekindle; otherwise the top. Outside of a repository nothing says how far up a project reaches.
    #[must_use]
    pub fn enclosing(self) -> Self {
        let has_something = |project: &Self| project.has_protocol() || project.is_set_up();
        let folders = self.folders();
        let nearest = self.nearest(has_something);
        match (nearest, folders.last()) {
            (Some(nearest), _) => nearest,
            (None, Some(top)) => Self {
                folder: top.clone(),
                ..self
            },
            (None, None) => self,
        }
    }

    /// Returns the nearest folder, up to the top of the repository, with a property.
    pub(crate) fn nearest(&self, is_so: impl Fn(&Self) -> bool) -> Option<Self> {
        let above = self.folders().into_iter().map(|folder| Self {
            folder,
            ..self.clone()
        });
        above.into_iter().find(is_so)
    }

    /// Returns the folder and those above it, up to the top of its repository.
    fn folders(&self) -> Vec<Utf8PathBuf> {
        let world = self.world();
        let is_top = |folder: &Utf8Path| world.stat(&folder.join(".git")).is_ok();
        let top = self.folder.ancestors().position(is_top).unwrap_or(0);
        let folders = self.folder.ancestors().take(top + 1);
        folders.map(ToOwned::to_owned).collect()
    }

    /// Returns whether a protocol has something here.
    pub(crate) fn has_protocol(&self) -> bool {
        let world = self.world();
        let mut protocols = rekindle_registry::ALL.iter();
        // Sessions are everywhere, so they say nothing about a folder.
        protocols.any(|protocol| !protocol.gives_way() && protocol.is_here(&world))
    }

    /// Returns whether rekindle has something here.
    fn is_set_up(&self) -> bool {
        let world = self.world();
        let mut names = [".rekindle", crate::config::TEAM_FILE].into_iter();
        names.any(|name| world.stat(&self.folder.join(name)).is_ok())
    }

    /// Returns the absolute path of one that was typed.
    pub fn typed_path(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.typed_in.join(path)
    }

    /// Returns the current project; each call reads the clock again.
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

    /// Returns where effects may write: the project, and these folders of a protocol.
    pub(crate) fn reach(&self, roots: Vec<Utf8PathBuf>) -> rekindle_runner::Reach {
        rekindle_runner::Reach {
            roots,
            search_path: self.search_path.clone(),
        }
    }

    /// Returns the session of the coding agent that started rekindle, if it is known.
    pub(crate) fn own_session(&self) -> Own<'_> {
        // A Claude Code around, or inside, a Codex is identified by its process as well.
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
