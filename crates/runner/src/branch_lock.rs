//! Who may land on a branch: one run at a time, whatever project of the repository it belongs to.

use jiff::Timestamp;
use rekindle_fs::Lock;
use rekindle_git::Repo;

use crate::Error;

/// Takes a branch of a repository for as long as the returned lock lives.
///
/// The lock is the kernel's, so a dead holder's branch is free. It is kept in the folder that all
/// worktrees of the repository share: projects in different folders may well land on one branch.
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
