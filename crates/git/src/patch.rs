//! What a commit changed, for people who read it.

use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

/// Larger files are shown as binary ones: nobody reads them, and git would hold them in memory.
const LARGEST_FILE: &str = "core.bigFileThreshold=512k";

impl Repo {
    /// Returns what a commit changed compared with its first parent, in unified form.
    ///
    /// No program of the repository is started for it, and no color is in it.
    pub fn patch(&self, commit: &ObjectId) -> Result<Vec<u8>, Error> {
        self.read()
            .setting(LARGEST_FILE)
            .setting("diff.noprefix=false")
            .setting("diff.mnemonicPrefix=false")
            .args(["diff-tree", "--patch", "--root", "-r", "--no-commit-id"])
            .args([
                "--diff-merges=first-parent",
                "--no-ext-diff",
                "--no-textconv",
            ])
            .args(["--no-color", "--no-renames", "--submodule=short"])
            .args(["--end-of-options", commit.as_str(), "--"])
            .output()
    }
}
