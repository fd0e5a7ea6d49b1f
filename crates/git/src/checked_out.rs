//! Whether a branch is checked out, read from git's files where they are unambiguous.
//!
//! A run asks before each landing, and starting git each time would be slow. With reftables, `HEAD`
//! is a dummy; where it is a link or names a symbolic ref, only git knows.

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Error;
use crate::head_name::{is_object_id, text};
use crate::repo::Repo;

impl Repo {
    /// Returns whether a branch, named without `refs/heads/`, is checked out in any worktree.
    pub fn is_checked_out(&self, common_dir: &Utf8Path, branch: &str) -> Result<bool, Error> {
        if let Some(is_checked_out) =
            heads(common_dir).and_then(|heads| says_one_of(common_dir, &heads, branch))
        {
            return Ok(is_checked_out);
        }
        let worktrees = self.worktrees()?;
        let mut branches = worktrees.iter().map(|worktree| worktree.branch.as_deref());
        Ok(branches.any(|name| name == Some(branch)))
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

fn says_one_of(common_dir: &Utf8Path, heads: &[Utf8PathBuf], branch: &str) -> Option<bool> {
    let mut said = Some(false);
    for head in heads {
        match says(common_dir, text(head).as_deref(), branch) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => said = None,
        }
    }
    said
}

/// Returns whether the text of a `HEAD` file names the branch; `None` where only git knows.
fn says(common_dir: &Utf8Path, head: Option<&str>, branch: &str) -> Option<bool> {
    let head = head?.trim_ascii_end();
    if is_object_id(head) {
        return Some(false);
    }
    match head.strip_prefix("ref: refs/heads/")? {
        // Every `HEAD` says this where refs are in reftables.
        ".invalid" => None,
        name if name == branch => Some(true),
        name => is_plain_ref(&common_dir.join("refs/heads").join(name)).then_some(false),
    }
}

/// Returns whether a ref is an object id; one without a file is packed or unborn, and not symbolic.
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
    fn a_head_file_is_used_only_where_it_is_unambiguous() {
        let folder = tempfile::tempdir().unwrap();
        let common_dir = Utf8Path::from_path(folder.path()).unwrap();
        let heads = common_dir.join("refs/heads");
        std::fs::create_dir_all(&heads).unwrap();
        let id = "a".repeat(40);
        std::fs::write(heads.join("plain"), format!("{id}\n")).unwrap();
        std::fs::write(heads.join("alias"), "ref: refs/heads/run\n").unwrap();
        for (head, expected) in [
            (Some("ref: refs/heads/run\n"), Some(true)),
            (Some("ref: refs/heads/plain\n"), Some(false)),
            (Some("ref: refs/heads/unborn\n"), Some(false)),
            (Some(id.as_str()), Some(false)),
            (Some("ref: refs/heads/alias\n"), None),
            (Some("ref: refs/heads/.invalid\n"), None),
            (Some("ref: refs/tags/run\n"), None),
            (Some(""), None),
            (None, None),
        ] {
            assert_eq!(says(common_dir, head, "run"), expected, "{head:?}");
        }
    }
}
