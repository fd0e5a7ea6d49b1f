//! Files that were brought into a worktree from elsewhere, such as copies of ignored files of the
//! main checkout. No tree, rescue or commit of ours ever has them, whatever an agent did to them.
//!
//! Their names are in a file of the worktree's own git folder, so that everybody who saves the
//! worktree finds them: names that end with NUL, relative to the top. The list is written before a
//! file is brought.

use std::collections::BTreeSet;

use camino::Utf8Path;
use rekindle_fs::Content;

use crate::bring::read;
use crate::error::Error;
use crate::head::Head;
use crate::own::OwnWorktree;
use crate::path::{RepoPath, records};
use crate::repo::Repo;
use crate::snapshot::names;
use crate::status::StatusEntry;

/// The file with the names.
pub(crate) const BROUGHT: &str = "rekindle-brought";
/// The largest list; a hundred thousand files have about 10 MB.
const LARGEST_LIST: u64 = 256 << 20;

impl OwnWorktree {
    /// Returns the files that were brought, or were about to be.
    pub fn brought(&self) -> Result<Vec<RepoPath>, Error> {
        self.verify()?;
        Ok(Brought::of(self.git_dir())?.paths())
    }

    /// Records which files are brought; call it before the first of them is.
    pub fn record_brought(&self, paths: &[RepoPath]) -> Result<(), Error> {
        self.verify()?;
        let file = self.git_dir().join(BROUGHT);
        let now = read(&file, LARGEST_LIST)?;
        let known = now.as_deref().map_or(Content::Absent, Content::of);
        let text = names(paths);
        if now.unwrap_or_default() == text {
            return Ok(());
        }
        rekindle_fs::replace(&file, &known, &text).map_err(|source| Error::Prepare {
            path: file.into_std_path_buf(),
            source: std::io::Error::other(source),
        })
    }

    /// Returns which of these paths the index has.
    pub fn indexed(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>, Error> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // The paths may be too many for a command line, and `ls-files` reads none from its input.
        let output = self
            .repo()
            .read()
            .args(["ls-files", "-z", "--cached"])
            .output()?;
        let indexed: BTreeSet<RepoPath> = records(&output).map(RepoPath::new).collect();
        Ok(paths
            .iter()
            .filter(|path| indexed.contains(path))
            .cloned()
            .collect())
    }
}

impl Repo {
    /// Returns the ignored files that match a pattern as in `.gitignore`, or one of a file with such
    /// patterns, and of `also` those that are ignored. All are relative to this folder.
    pub fn ignored_like(
        &self,
        patterns: &[String],
        file: Option<&Utf8Path>,
        also: &[RepoPath],
    ) -> Result<Vec<RepoPath>, Error> {
        let mut found = Vec::new();
        if !patterns.is_empty() || file.is_some() {
            let options = patterns
                .iter()
                .map(|pattern| format!("--exclude={pattern}"));
            let options = options.chain(file.map(|file| format!("--exclude-from={file}")));
            let form = ["ls-files", "-z", "--others", "--ignored"];
            let output = self.read().args(form).args(options).output()?;
            // A name with a slash at its end is a repository.
            let is_file = |name: &&[u8]| !name.ends_with(b"/");
            found.extend(records(&output).filter(is_file).map(RepoPath::new));
        }
        found.extend_from_slice(also);
        if found.is_empty() {
            return Ok(found);
        }
        let args = ["check-ignore", "-z", "--stdin"];
        let ignored = self.read().args(args).input(names(&found)).answer()?;
        let ignored = ignored.unwrap_or_default();
        let mut ignored: Vec<RepoPath> = records(&ignored).map(RepoPath::new).collect();
        ignored.sort_unstable();
        ignored.dedup();
        Ok(ignored)
    }

    /// Returns HEAD, or the commit before those in which somebody committed a brought file.
    ///
    /// Commits that a ref reaches stay: they are not ours to hide.
    pub(crate) fn head_without(&self, head: &Head, brought: &Brought) -> Result<Head, Error> {
        if brought.0.is_empty() || head.commit().is_none() {
            return Ok(head.clone());
        }
        let unheld = ["HEAD", "--not", "--glob=refs/*"];
        let call = self.read().args(["rev-list", "--first-parent"]);
        let all = call.args(unheld).output()?;
        let all = String::from_utf8_lossy(&all).into_owned();
        let Some(first) = all.lines().last() else {
            return Ok(head.clone());
        };
        let form = [
            "log",
            "-z",
            "--format=",
            "--name-only",
            "--no-renames",
            "-m",
        ];
        let named = self.read().args(form).args(unheld).output()?;
        let mut named =
            records(&named).map(|name| RepoPath::new(name.strip_prefix(b"\n").unwrap_or(name)));
        if !named.any(|name| brought.has(&name)) {
            return Ok(head.clone());
        }
        Ok(match self.resolve(&format!("{first}^"))? {
            Some(commit) => Head::Detached { commit },
            None => Head::Branch {
                name: head.branch().unwrap_or("HEAD").to_owned(),
                commit: None,
            },
        })
    }
}

/// The files that were brought into a worktree.
#[derive(Debug, Default)]
pub(crate) struct Brought(BTreeSet<RepoPath>);

impl Brought {
    /// Reads the list of a worktree's git folder; without one, nothing was brought.
    pub(crate) fn of(git_dir: &Utf8Path) -> Result<Self, Error> {
        let text = read(&git_dir.join(BROUGHT), LARGEST_LIST)?.unwrap_or_default();
        Ok(Self(records(&text).map(RepoPath::new).collect()))
    }

    pub(crate) fn paths(&self) -> Vec<RepoPath> {
        self.0.iter().cloned().collect()
    }

    /// Returns whether a path was brought, or is below one that was.
    pub(crate) fn has(&self, path: &RepoPath) -> bool {
        let bytes = path.as_bytes();
        let above = (0..bytes.len()).filter(|at| bytes[*at] == b'/');
        let mut names = above.chain([bytes.len()]).map(|end| &bytes[..end]);
        !self.0.is_empty() && names.any(|name| self.0.contains(&RepoPath::new(name)))
    }

    /// Returns whether an entry of `git status` is about anything else.
    pub(crate) fn is_not_all_of(&self, entry: &StatusEntry) -> bool {
        let (path, from) = match entry {
            StatusEntry::Untracked { path } | StatusEntry::Unmerged { path } => (path, None),
            StatusEntry::Tracked { path, from, .. } => (path, from.as_ref()),
        };
        !self.has(path) || from.is_some_and(|from| !self.has(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_brought_path_was_brought_too() {
        let paths = [".env", "node_modules", "a/.env"];
        let brought = Brought(paths.into_iter().map(RepoPath::from).collect());
        for (path, is_brought) in [
            (".env", true),
            (".env.local", false),
            ("node_modules", true),
            ("node_modules/x/y", true),
            ("a/node_modules", false),
            ("a", false),
            ("a/.env", true),
            ("", false),
        ] {
            assert_eq!(brought.has(&path.into()), is_brought, "{path}");
        }
        assert!(!Brought::default().has(&"a".into()));
    }
}
