//! `git status`, from porcelain v2.

use crate::error::Error;
use crate::path::{RepoPath, records};
use crate::repo::Repo;

/// One line of `git status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusEntry {
    /// A path that HEAD or the index knows.
    Tracked {
        /// The path now.
        path: RepoPath,
        /// The path before, for a rename or copy.
        from: Option<RepoPath>,
        /// What is staged: the index compared with HEAD.
        staged: State,
        /// What is not staged: the worktree compared with the index.
        unstaged: State,
        /// Whether this is a submodule; the change may be inside it.
        is_submodule: bool,
    },
    /// An unresolved conflict.
    #[expect(missing_docs, reason = "the name says it")]
    Unmerged { path: RepoPath },
    /// An untracked path that is not ignored. A trailing `/` marks a repository.
    #[expect(missing_docs, reason = "the name says it")]
    Untracked { path: RepoPath },
}

/// How one side differs from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It does not.
    Unchanged,
    /// Other content or mode.
    Modified,
    /// A file became a symbolic link, or the like.
    TypeChanged,
    /// New.
    Added,
    /// Gone.
    Deleted,
    /// Moved.
    Renamed,
    /// Copied.
    Copied,
}

impl StatusEntry {
    /// Returns the path as it is now.
    pub fn path(&self) -> &RepoPath {
        match self {
            Self::Tracked { path, .. } | Self::Unmerged { path } | Self::Untracked { path } => path,
        }
    }
}

impl Repo {
    /// Returns every path of the worktree that is not as in HEAD, with each untracked file.
    ///
    /// Empty means clean. The whole worktree is checked, also from a folder inside it. Changes inside
    /// submodules are seen only by [`crate::Program::for_work`]; a submodule at another commit always is.
    pub fn status(&self) -> Result<Vec<StatusEntry>, Error> {
        let form = ["status", "--porcelain=v2", "-z", "--untracked-files=all"];
        let fixed = ["--ignored=no", "--find-renames=50%", self.submodules()];
        self.read().args(form).args(fixed).parsed(parse)
    }

    /// Returns what git ignores in this worktree, from its top: files, and with a trailing `/` folders
    /// that are ignored as a whole. No snapshot or rescue has any of it.
    pub fn ignored(&self) -> Result<Vec<RepoPath>, Error> {
        // Not `ls-files --others --ignored --directory`, which lists a folder and its contents, and
        // with `--no-empty-directory` git 2.47 omits ignored files next to untracked ones.
        let form = ["status", "--porcelain=v2", "-z", "--untracked-files=all"];
        let fixed = [
            "--ignored=matching",
            // A renamed file would be two records, and the second could look like anything.
            "--no-renames",
            "--ignore-submodules=all",
        ];
        let output = self.read().args(form).args(fixed).output()?;
        let records = output.split(|byte| *byte == 0);
        let ignored = records.filter_map(|record| record.strip_prefix(b"! "));
        Ok(ignored.map(RepoPath::new).collect())
    }

    /// Returns how many files the index has.
    pub fn n_tracked(&self) -> Result<usize, Error> {
        let output = self.read().args(["ls-files", "-z"]).output()?;
        Ok(records(&output).count())
    }

    /// Returns what the index or HEAD has at or below a path, which is relative to this folder.
    pub fn tracked(&self, path: &str) -> Result<Vec<RepoPath>, Error> {
        let list = |extra: &[&str]| {
            let form = ["--literal-pathspecs", "ls-files", "-z", "--cached"];
            let call = self.read().args(form).args(extra.iter().copied());
            call.args(["--", path]).output()
        };
        // One process for both; without a first commit there is no HEAD.
        let output = match list(&["--with-tree=HEAD"]) {
            Err(Error::Failed { .. }) => list(&[])?,
            other => other?,
        };
        Ok(records(&output).map(RepoPath::new).collect())
    }

    /// Returns the untracked repositories inside this worktree, including other worktrees.
    /// Snapshots and rescues omit them.
    pub fn nested_repositories(&self) -> Result<Vec<RepoPath>, Error> {
        let top_level = self.top_level()?;
        self.within(top_level).nested_below()
    }

    /// As [`Repo::nested_repositories`], run at the top.
    pub(crate) fn nested_below(&self) -> Result<Vec<RepoPath>, Error> {
        // `ls-files -o` lists a repository as a folder with a `/`, even one without a commit, on
        // which `git add` fails.
        let args = ["ls-files", "-z", "--others", "--exclude-standard"];
        let output = self.read().args(args).output()?;
        let folders = records(&output).filter_map(|name| name.strip_suffix(b"/"));
        Ok(folders.map(RepoPath::new).collect())
    }
}

pub(crate) fn parse(output: &[u8]) -> Result<Vec<StatusEntry>, String> {
    let mut records = output.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    while let Some(record) = records.next() {
        let bad = || format!("bad record `{}`", String::from_utf8_lossy(record));
        let entry = match record.first() {
            // The end, or a header from a setting.
            None | Some(b'#') => continue,
            Some(b'?') => StatusEntry::Untracked {
                path: field(record, 1).ok_or_else(bad)?,
            },
            Some(b'u') => StatusEntry::Unmerged {
                path: field(record, 10).ok_or_else(bad)?,
            },
            Some(b'1') => tracked(record, field(record, 8), None).ok_or_else(bad)?,
            Some(b'2') => {
                let from = records
                    .next()
                    .filter(|from| !from.is_empty())
                    .ok_or_else(bad)?;
                let from = Some(RepoPath::new(from));
                tracked(record, field(record, 9), from).ok_or_else(bad)?
            }
            Some(_) => return Err(bad()),
        };
        entries.push(entry);
    }
    Ok(entries)
}

/// Reads `1 XY sub …`: two states, then `N...` or `S` with what is wrong in the submodule.
fn tracked(record: &[u8], path: Option<RepoPath>, from: Option<RepoPath>) -> Option<StatusEntry> {
    let &[_, b' ', staged, unstaged, b' ', submodule, ..] = record else {
        return None;
    };
    Some(StatusEntry::Tracked {
        path: path?,
        from,
        staged: State::parse(staged)?,
        unstaged: State::parse(unstaged)?,
        is_submodule: submodule == b'S',
    })
}

impl State {
    fn parse(letter: u8) -> Option<Self> {
        match letter {
            b'.' => Some(Self::Unchanged),
            b'M' => Some(Self::Modified),
            b'T' => Some(Self::TypeChanged),
            b'A' => Some(Self::Added),
            b'D' => Some(Self::Deleted),
            b'R' => Some(Self::Renamed),
            b'C' => Some(Self::Copied),
            _ => None,
        }
    }
}

/// Returns the path after the first `n_words` words; it may contain spaces.
fn field(record: &[u8], n_words: usize) -> Option<RepoPath> {
    let path = record
        .splitn(n_words + 1, |byte| *byte == b' ')
        .nth(n_words)?;
    (!path.is_empty()).then(|| RepoPath::new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_four_kinds_of_records_are_read() {
        let text = "1 .M N... 100644 100644 100644 aa bb -a b\0\
                    2 R. N... 100644 100644 100644 aa bb R100 new\nname\0? old\0\
                    u UU N... 100644 100644 100644 100644 aa bb cc both\0\
                    ? nested/\0";
        let entries = parse(text.as_bytes()).unwrap();
        let paths: Vec<String> = entries
            .iter()
            .map(|entry| entry.path().to_string())
            .collect();
        assert_eq!(paths, ["-a b", "new\\nname", "both", "nested/"]);
        assert_eq!(
            entries[1],
            StatusEntry::Tracked {
                path: "new\nname".into(),
                from: Some("? old".into()),
                staged: State::Renamed,
                unstaged: State::Unchanged,
                is_submodule: false,
            }
        );
    }

    #[test]
    fn broken_output_is_refused() {
        for text in [
            "1 .M\0",
            "2 R. N... 1 1 1 a b R100 new\0",
            "x y\0",
            "? \0",
            "1 .Q N... ",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
