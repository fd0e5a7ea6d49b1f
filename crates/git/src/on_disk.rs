//! The repository of a folder, by the paths in `.git` and `commondir` alone.
//!
//! Starting git costs a process, and in a copied folder git follows the files into the original
//! repository.

use camino::{Utf8Path, Utf8PathBuf};

use crate::head_name;

/// Returns the real path of the folder that all worktrees of a folder's repository share.
pub fn common_dir_on_disk(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let folder = folder.canonicalize_utf8().ok()?;
    let holds_git = |above: &&Utf8Path| above.join(".git").symlink_metadata().is_ok();
    let top = folder.ancestors().find(holds_git)?;
    let dot_git = top.join(".git");
    let git_dir = if dot_git.is_dir() {
        dot_git
    } else {
        linked_git_dir(top)?
    };
    let common = line(&git_dir.join("commondir"));
    let common = common.map_or_else(|| git_dir.clone(), |common| git_dir.join(common));
    common.canonicalize_utf8().ok()
}

/// Returns the folder that the `.git` file of a worktree names; `None` where it is not such a file.
fn linked_git_dir(worktree: &Utf8Path) -> Option<Utf8PathBuf> {
    let text = line(&worktree.join(".git"))?;
    Some(worktree.join(text.strip_prefix("gitdir: ")?))
}

fn line(path: &Utf8Path) -> Option<String> {
    let text = head_name::text(path)?;
    Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shared_folder_is_found_from_below_and_from_a_worktree() {
        let scratch = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(scratch.path().canonicalize().unwrap()).unwrap();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            rekindle_fs::create(&path, text.as_bytes()).unwrap();
        };
        put("main/.git/worktrees/w/commondir", "../..\n");
        put("main/sub/file", "");
        let linked = format!("gitdir: {root}/main/.git/worktrees/w\n");
        put("linked/.git", &linked);
        put("submodule/.git", "gitdir: ../main/.git/modules/s\n");
        put("main/.git/modules/s/HEAD", "");
        put("broken/.git", "gitdir: ../nowhere\n");
        put("none/file", "");
        let found = |name: &str| common_dir_on_disk(&root.join(name));
        assert_eq!(found("main/sub"), Some(root.join("main/.git")));
        assert_eq!(found("linked"), Some(root.join("main/.git")));
        assert_eq!(found("submodule"), Some(root.join("main/.git/modules/s")));
        assert_eq!(found("broken"), None);
        assert_eq!(found("none"), None);
        assert_eq!(found("missing"), None);
    }
}
