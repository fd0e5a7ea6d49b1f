//! The lock of a branch: one run lands on it at a time, from any project of the repository.

use jiff::Timestamp;
use rekindle_fs::Lock;
use rekindle_git::Repo;

use crate::Error;

/// Locks a branch of a repository for as long as the returned lock lives.
///
/// The lock is the kernel's, so a dead holder's branch is free. It is kept in the folder that all
/// worktrees of the repository share, since projects in different folders can land on one branch.
///
/// # Errors
/// [`Error::Lock`] names the other rekindle that holds it.
pub fn hold_branch(
    repo: &Repo,
    branch: &str,
    purpose: &str,
    now: Timestamp,
) -> Result<Lock, Error> {
    let name = format!("{}.lock", crate::state_folder::encoded(branch));
    let path = repo.common_dir()?.join("rekindle/branches").join(name);
    let stamp = rekindle_text::format_seconds(now);
    Ok(Lock::acquire(&path, purpose, stamp)?)
}
