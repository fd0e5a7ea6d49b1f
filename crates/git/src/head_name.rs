//! The name of what is checked out, read from git's files where they are unambiguous.
//!
//! A hook asks for it at every step of a workflow, and `git rev-parse --abbrev-ref HEAD` costs a
//! process. So `HEAD` is read directly in a plain repository of our own with a branch name that no
//! other ref has. Everything else (links, extensions, includes, equal tags) is left to git.

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Error;
use crate::repo::{Layout, Repo};

/// A worktree and the name of what is checked out in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadName {
    /// The top of the worktree.
    pub top_level: Utf8PathBuf,
    /// The worktree's own git folder.
    pub git_dir: Utf8PathBuf,
    /// The branch as git shortens it, or `HEAD` when detached; none without a commit or for a name
    /// that is not UTF-8.
    pub name: Option<String>,
}

impl Repo {
    /// Returns what `git rev-parse --abbrev-ref HEAD` prints, and where the top of the worktree is.
    pub fn head_name(&self) -> Result<HeadName, Error> {
        let Layout {
            top_level, git_dir, ..
        } = self.layout()?;
        let printed = self
            .read()
            .args(["rev-parse", "--abbrev-ref", "HEAD"])
            .line();
        let name = match printed {
            Ok(line) => String::from_utf8(line).ok(),
            // An unborn branch.
            Err(Error::Failed { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(HeadName {
            top_level,
            git_dir,
            name,
        })
    }
}

/// Returns the same as [`Repo::head_name`] without starting git, or `None` where only git knows.
pub fn head_name_on_disk(folder: &Utf8Path) -> Option<HeadName> {
    let repository = Repository::at(folder)?;
    let head = repository.own("HEAD")?;
    let name = match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => match repository.branch(branch.trim_ascii_end()) {
            Branch::Born => Some(branch.trim_ascii_end().to_owned()),
            Branch::Unborn => None,
            Branch::Unclear => return None,
        },
        None if is_object_id(head.trim_ascii_end()) => Some("HEAD".to_owned()),
        None => return None,
    };
    Some(HeadName {
        git_dir: repository.git_dir.canonicalize_utf8().ok()?,
        top_level: repository.top_level,
        name,
    })
}

enum Branch {
    /// It has a commit, and no other ref has its name.
    Born,
    /// It has none yet.
    Unborn,
    /// Only git knows.
    Unclear,
}

/// A repository whose settings are all of the plain kind.
struct Repository {
    top_level: Utf8PathBuf,
    git_dir: Utf8PathBuf,
    common_dir: Utf8PathBuf,
}

impl Repository {
    fn at(folder: &Utf8Path) -> Option<Self> {
        let top_level = folder.canonicalize_utf8().ok()?;
        let dot_git = top_level.join(".git");
        let kind = dot_git.symlink_metadata().ok()?;
        let (git_dir, common_dir) = if kind.is_dir() {
            (dot_git.clone(), dot_git)
        } else if kind.is_file() {
            let link = text(&dot_git)?;
            let git_dir = top_level.join(link.strip_prefix("gitdir: ")?.trim_end_matches('\n'));
            let common_dir = text(&git_dir.join("commondir"))?;
            let common_dir = git_dir.join(common_dir.trim_end_matches('\n'));
            (git_dir, common_dir)
        } else {
            return None;
        };
        let repository = Self {
            top_level,
            git_dir,
            common_dir,
        };
        repository.is_plain().then_some(repository)
    }

    /// Returns whether git accepts the repository, and no setting changes what we read.
    fn is_plain(&self) -> bool {
        let folders = ["objects", "refs"].map(|name| self.common_dir.join(name));
        let is_ours = [&self.top_level, &self.git_dir, &self.common_dir]
            .into_iter()
            .all(|path| is_ours(path));
        is_ours
            && folders.iter().all(|folder| folder.is_dir())
            && text(&self.common_dir.join("config")).is_some_and(|config| is_plain(&config))
    }

    fn own(&self, name: &str) -> Option<String> {
        text(&self.git_dir.join(name))
    }

    fn branch(&self, name: &str) -> Branch {
        let packed_refs = self.common_dir.join("packed-refs");
        let Ok(packed) = rekindle_fs::read_within(&self.common_dir, &packed_refs, LARGEST_LIST)
        else {
            return Branch::Unclear;
        };
        let packed = packed.unwrap_or_default();
        let is_packed = |full: String| {
            let line = format!(" {full}\n").into_bytes();
            packed.windows(line.len()).any(|window| window == line)
        };
        let others = ["refs/", "refs/tags/", "refs/remotes/"].map(|kind| format!("{kind}{name}"));
        let is_taken = |full: &str| {
            self.common_dir.join(full).symlink_metadata().is_ok() || is_packed(full.to_owned())
        };
        if self.git_dir.join(name).symlink_metadata().is_ok()
            || is_taken(name)
            || others.iter().any(|full| is_taken(full))
            || is_taken(&format!("refs/remotes/{name}/HEAD"))
        {
            return Branch::Unclear;
        }
        let full = format!("refs/heads/{name}");
        let loose = self.common_dir.join(&full);
        if loose.symlink_metadata().is_ok() {
            let is_plain = text(&loose).is_some_and(|id| is_object_id(id.trim_ascii_end()));
            return if is_plain {
                Branch::Born
            } else {
                Branch::Unclear
            };
        }
        if is_packed(full) {
            Branch::Born
        } else {
            Branch::Unborn
        }
    }
}

/// The largest settings file; a larger one is left to git.
const LARGEST: u64 = 1024 * 1024;
/// The largest list of refs; large repositories have hundreds of thousands.
const LARGEST_LIST: u64 = 256 * 1024 * 1024;

/// Reads a regular file of text, not through a link.
pub(crate) fn text(path: &Utf8Path) -> Option<String> {
    let file = rekindle_fs::GuardedFile::open(path).ok()??;
    String::from_utf8(file.bytes(LARGEST).ok()?).ok()
}

pub(crate) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte != b'0')
}

/// Returns whether no setting makes git look elsewhere or change names.
fn is_plain(config: &str) -> bool {
    config.lines().all(|line| {
        let line = line.trim_ascii().to_ascii_lowercase();
        let value = |key: &str| {
            let rest = line.strip_prefix(key)?.trim_ascii_start();
            rest.strip_prefix('=')
                .map(|value| value.trim_ascii().to_owned())
        };
        let odd = ["[include", "[extensions", "worktree", "warnambiguousrefs"];
        !odd.iter().any(|word| line.contains(word))
            && value("bare").is_none_or(|bare| bare == "false")
            && value("repositoryformatversion").is_none_or(|version| version == "0")
    })
}

/// git refuses repositories of other users by default.
fn is_ours(path: &Utf8Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = path.metadata().map(|metadata| metadata.uid());
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}
