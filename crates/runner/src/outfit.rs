//! What a worktree has besides its commit: ignored files of the project, and what its setup makes.
//!
//! Workers and the worktree of checks use the same functions, so that a check of merged work finds
//! what the check of an attempt found.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Redactor;
use rekindle_fs::Fingerprint;
use rekindle_git::{OwnWorktree, Repo, RepoPath, StatusEntry};
use rekindle_wire::order::{Command, Outfit};

use crate::Error;

/// Patterns of files to copy, one a line, as Claude Code has them.
const INCLUDE_FILE: &str = ".worktreeinclude";
/// The largest file that the setup may depend on.
const LARGEST_INPUT: u64 = 256 * 1024 * 1024;
/// The largest copied file whose values are masked in output.
const LARGEST_SECRETS: u64 = 64 * 1024;
/// So many changed files are named.
const MOST_NAMED: usize = 5;

/// An outfit, and where it comes from and goes to.
pub(crate) struct Furnishing<'a> {
    pub(crate) outfit: &'a Outfit,
    /// The main checkout of the project.
    pub(crate) project: &'a Utf8Path,
    /// The project's folder in the repository.
    pub(crate) folder: &'a Utf8Path,
    /// The run's own files, relative to the top; they are never brought.
    pub(crate) own: &'a [RepoPath],
}

impl Furnishing<'_> {
    /// Brings submodules and ignored files of the main checkout.
    pub(crate) fn bring(&self, main: &Repo, worktree: &OwnWorktree) -> Result<(), Error> {
        if worktree.path().join(".gitmodules").is_file() {
            worktree.bring_submodules(&main.top_level()?)?;
        }
        self.bring_ignored(main, worktree)
    }

    /// Brings the ignored files, and takes away those that were brought before and are not wanted
    /// any more. `main` is the repository at the project's folder.
    fn bring_ignored(&self, main: &Repo, worktree: &OwnWorktree) -> Result<(), Error> {
        let before = worktree.brought()?;
        let include = self.project.join(INCLUDE_FILE);
        let is_file = include
            .symlink_metadata()
            .is_ok_and(|found| found.is_file());
        let include = is_file.then_some(&*include);
        let wanted = !self.outfit.copy.is_empty() || !self.outfit.link.is_empty();
        if before.is_empty() && include.is_none() && !wanted {
            return Ok(());
        }
        let links: Vec<RepoPath> = self
            .outfit
            .link
            .iter()
            .map(|path| (&**path).into())
            .collect();
        let found = main.ignored_like(&self.outfit.copy, include, &links)?;
        let is_within = |path: &RepoPath, folders: &[RepoPath]| {
            folders.iter().any(|folder| path.is_within(folder))
        };
        let mut wanted: BTreeSet<RepoPath> = BTreeSet::new();
        for path in found.iter().filter_map(RepoPath::as_str) {
            let at: RepoPath = self.folder.join(path).as_str().into();
            let is_link = links.contains(&path.into());
            let is_below_link = !is_link && is_within(&path.into(), &links);
            if !is_within(&at, self.own) && !is_below_link {
                wanted.insert(at);
            }
        }
        let all: Vec<RepoPath> = before
            .iter()
            .cloned()
            .chain(wanted.iter().cloned())
            .collect();
        let tracked: BTreeSet<RepoPath> = worktree.indexed(&all)?.into_iter().collect();
        wanted.retain(|path| !tracked.contains(path));
        let gone = before.iter().filter(|path| !wanted.contains(path));
        let gone: Vec<&RepoPath> = gone.filter(|path| !tracked.contains(path)).collect();
        let mut known = wanted.clone();
        known.extend(gone.iter().copied().cloned());
        worktree.record_brought(&Vec::from_iter(known))?;
        let top = worktree.path();
        for path in gone.into_iter().filter_map(RepoPath::as_str) {
            rekindle_fs::remove_copy(top, &top.join(path))?;
        }
        for path in wanted.iter().filter_map(RepoPath::as_str) {
            let inside = Utf8Path::new(path).strip_prefix(self.folder);
            let inside = inside.unwrap_or(path.into());
            let (from, to) = (self.project.join(inside), top.join(path));
            if links.contains(&inside.as_str().into()) {
                rekindle_fs::link_into(&from, top, &to)?;
            } else {
                rekindle_fs::copy_into(&from, top, &to)?;
            }
        }
        worktree
            .record_brought(&Vec::from_iter(wanted))
            .map_err(Error::from)
    }

    /// Returns what the setup is and depends on; `None` if there is none to do.
    pub(crate) fn setup(&self, worktree: &Utf8Path) -> Result<Option<String>, Error> {
        if self.outfit.setup.is_empty() {
            return Ok(None);
        }
        let mut text = String::new();
        for command in &self.outfit.setup {
            text.push_str(&format!("{:?}\n", shown(command)));
        }
        for path in &self.outfit.setup_when {
            let file = worktree.join(self.folder).join(path);
            let bytes = rekindle_fs::read_within(worktree, &file, LARGEST_INPUT)?;
            let state = bytes.map(|bytes| Fingerprint::of(&bytes).to_hex());
            text.push_str(&format!("{path:?} {}\n", state.unwrap_or_default()));
        }
        Ok(Some(Fingerprint::of(text.as_bytes()).to_hex()))
    }

    /// Returns why a worktree cannot be worked in after its setup: files that it changed would land
    /// with the work of a task, and would be gone for the next.
    pub(crate) fn after_setup(&self, worktree: &OwnWorktree) -> Result<Option<String>, Error> {
        let brought = worktree.brought()?;
        let mut names = Vec::new();
        for entry in worktree.repo().status()? {
            let path = match entry {
                StatusEntry::Untracked { path }
                | StatusEntry::Unmerged { path }
                | StatusEntry::Tracked { path, .. } => path,
            };
            if !brought.contains(&path) && !self.own.iter().any(|own| path.is_within(own)) {
                names.push(format!("`{path}`"));
            }
        }
        if names.is_empty() {
            return Ok(None);
        }
        let more = match names.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        names.truncate(MOST_NAMED);
        Ok(Some(format!(
            "the setup of its worktree changed {}{more}: add to `.gitignore` what it makes, and let it change nothing else",
            names.join(", ")
        )))
    }
}

/// Returns a redactor that masks what the brought files of a worktree say.
pub(crate) fn redactor(worktree: &OwnWorktree) -> Redactor {
    let brought = worktree.brought().unwrap_or_default();
    let top = worktree.path();
    let read = |path: &RepoPath| {
        let path: Utf8PathBuf = top.join(path.as_str()?);
        let is_small = |found: std::fs::Metadata| found.is_file() && found.len() <= LARGEST_SECRETS;
        path.symlink_metadata().is_ok_and(is_small).then_some(())?;
        let bytes = rekindle_fs::read_within(top, &path, LARGEST_SECRETS).ok()??;
        String::from_utf8(bytes).ok()
    };
    let files: Vec<String> = brought.iter().filter_map(read).collect();
    Redactor::knowing(files.iter().map(String::as_str))
}

/// Returns a command as a person wrote it.
pub(crate) fn shown(command: &Command) -> &str {
    command.arguments.last().map_or("", String::as_str)
}
