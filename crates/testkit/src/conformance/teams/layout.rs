//! Where the team's things are.

use std::fmt::Write;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use super::super::scene::Scene;

/// The name of the team whose wave it is.
pub(super) const TEAM: &str = "kiln-exec-phase-1";

/// Returns the folder of the scene's worktrees.
pub(super) fn worktree_root(scene: &Scene) -> Utf8PathBuf {
    root_below(scene.root(), scene.project())
}

/// Returns the folder of a project's worktrees: twelve hex digits of the hash of its path name it.
pub(super) fn root_below(scratch: &Utf8Path, project: &Utf8Path) -> Utf8PathBuf {
    let digest = Sha256::digest(project.as_str());
    let mut name = "kiln-".to_owned();
    for byte in &digest[..6] {
        // Writing to a string cannot fail.
        write!(name, "{byte:02x}").ok();
    }
    scratch.join("worktrees").join(name)
}
