//! Lists of files exactly as git prints them.
//!
//! Other tools store lists in this form, quoted names included; comparing with them needs the same
//! lines.

use crate::error::Error;
use crate::repo::Repo;

/// Quotes names as git does by default.
const QUOTED: &str = "core.quotepath=true";

/// How untracked files are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untracked {
    /// A folder of such files as one line.
    Folders,
    /// Each file.
    Files,
}

impl Repo {
    /// Returns what `git status --porcelain` prints.
    pub fn printed_status(&self, untracked: Untracked) -> Result<Vec<u8>, Error> {
        let which = match untracked {
            Untracked::Folders => "--untracked-files=normal",
            Untracked::Files => "--untracked-files=all",
        };
        self.read()
            .setting(QUOTED)
            .args(["status", "--porcelain", which, self.submodules()])
            .output()
    }

    /// Returns what `git diff --name-only BASE` prints: the files that differ from a commit.
    pub fn printed_names_since(&self, base: &str) -> Result<Vec<u8>, Error> {
        let form = ["diff", "--name-only", "--no-ext-diff", "--no-textconv"];
        self.read()
            .setting(QUOTED)
            .args(form)
            .args([self.submodules(), "--end-of-options", base, "--"])
            .output()
    }

    /// Returns what `git diff-tree --name-only` prints: the files that a commit changed.
    pub fn printed_names_in(&self, commit: &str) -> Result<Vec<u8>, Error> {
        let form = ["diff-tree", "--no-commit-id", "--name-only", "-r"];
        self.read()
            .setting(QUOTED)
            .args(form)
            .args(["--end-of-options", commit, "--"])
            .output()
    }

    /// Returns those of some paths that `.gitignore` excludes, one per line.
    pub fn printed_ignored(&self, paths: &[String]) -> Result<Vec<u8>, Error> {
        let answer = self
            .read()
            .setting(QUOTED)
            .args(["check-ignore", "--"])
            .args(paths)
            .answer()?;
        Ok(answer.unwrap_or_default())
    }
}
