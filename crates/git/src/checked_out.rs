//! Whether a branch is checked out, read from git's files where they leave no doubt.
//!
//! A run asks before each landing, and a process each time would be felt. The files are enough in a
//! plain repository. In one with reftables, `HEAD` is a dummy; where it is a link, or names a branch
//! that is a name for another one, only git knows.

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Error;
use crate::head_name::{is_object_id, text};
use crate::repo::Repo;

/// What a `HEAD` file says about a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    CheckedOut,
    SomethingElse,
    /// Only git knows.
    Unclear,
}

impl Repo {
    /// Returns whether a branch, named without `refs/heads/`, is checked out in any worktree of the
    /// repository with this common folder.
    pub fn is_checked_out(&self, common_dir: &Utf8Path, branch: &str) -> Result<bool, Error> {
        let says = match heads(common_dir) {
            Some(heads) => says_one_of(common_dir, &heads, branch),
            None => Says::Unclear,
        };
        match says {
            Says::CheckedOut => Ok(true),
            Says::SomethingElse => Ok(false),
            Says::Unclear => {
                let worktrees = self.worktrees()?;
                let mut branches = worktrees.iter().map(|worktree| worktree.branch.as_deref());
                Ok(branches.any(|name| name == Some(branch)))
            }
        }
    }
}

/// Returns the `HEAD` files of all worktrees, or `None` where they cannot be listed.
fn heads(common_dir: &Utf8Path) -> Option<Vec<Utf8PathBuf>> {
    let mut heads = vec![common_dir.join("HEAD")];
    match common_dir.join("worktrees").read_dir_utf8() {
        Ok(linked) => {
            for entry in linked {
                heads.push(entry.ok()?.path().join("HEAD"));
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(_) => return None,
    }
    Some(heads)
}

fn says_one_of(common_dir: &Utf8Path, heads: &[Utf8PathBuf], branch: &str) -> Says {
    let mut said = Says::SomethingElse;
    for head in heads {
        match says(common_dir, text(head).as_deref(), branch) {
            Says::CheckedOut => return Says::CheckedOut,
            Says::SomethingElse => {}
            Says::Unclear => said = Says::Unclear,
        }
    }
    said
}

/// Reads the text of one `HEAD`; none is a file that is missing, a link or not text.
fn says(common_dir: &Utf8Path, head: Option<&str>, branch: &str) -> Says {
    let Some(head) = head.map(str::trim_ascii_end) else {
        return Says::Unclear;
    };
    if is_object_id(head) {
        return Says::SomethingElse;
    }
    match head.strip_prefix("ref: refs/heads/") {
        // What every `HEAD` says where refs are kept in reftables.
        Some(".invalid") | None => Says::Unclear,
        Some(name) if name == branch => Says::CheckedOut,
        Some(name) if is_plain_ref(&common_dir.join("refs/heads").join(name)) => {
            Says::SomethingElse
        }
        Some(_) => Says::Unclear,
    }
}

/// Whether a ref is an object id; one that is not there as a file is packed or unborn, and neither can
/// be a name for another ref.
fn is_plain_ref(path: &Utf8Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => text(path).is_some_and(|id| is_object_id(id.trim_ascii_end())),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_file_is_believed_only_where_it_leaves_no_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let common_dir = Utf8Path::from_path(folder.path()).unwrap();
        let heads = common_dir.join("refs/heads");
        std::fs::create_dir_all(&heads).unwrap();
        let id = "a".repeat(40);
        std::fs::write(heads.join("plain"), format!("{id}\n")).unwrap();
        std::fs::write(heads.join("alias"), "ref: refs/heads/run\n").unwrap();
        for (head, expected) in [
            (Some("ref: refs/heads/run\n"), Says::CheckedOut),
            (Some("ref: refs/heads/plain\n"), Says::SomethingElse),
            (Some("ref: refs/heads/unborn\n"), Says::SomethingElse),
            (Some(id.as_str()), Says::SomethingElse),
            (Some("ref: refs/heads/alias\n"), Says::Unclear),
            (Some("ref: refs/heads/.invalid\n"), Says::Unclear),
            (Some("ref: refs/tags/run\n"), Says::Unclear),
            (Some(""), Says::Unclear),
            (None, Says::Unclear),
        ] {
            assert_eq!(says(common_dir, head, "run"), expected, "{head:?}");
        }
    }
}
