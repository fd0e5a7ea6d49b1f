//! Files of a worktree that are too large for git.
//!
//! An agent can leave a file of any size, and git would read and store all of it. So sizes are
//! checked before anything is added to an index; the caller then leaves the worktree as it is.

use crate::error::Error;
use crate::path::RepoPath;
use crate::repo::Repo;

/// The largest accepted file.
const LARGEST: u64 = 2 << 30;
/// The largest total of untracked files.
const MOST: u64 = 8 << 30;

impl Repo {
    /// Returns the repositories inside the worktree, as [`Repo::nested_repositories`] does, unless
    /// files are too large. Run it at the top; one git answers both.
    pub(crate) fn nested_in_a_small_worktree(&self) -> Result<Vec<RepoPath>, Error> {
        let args = ["ls-files", "-z", "-t", "--cached", "--others"];
        let call = self.read().args(args).args(["--exclude-standard"]);
        let output = call.output()?;
        let (mut nested, mut tracked, mut untracked) = (Vec::new(), Vec::new(), Vec::new());
        for record in output.split(|byte| *byte == 0) {
            // Each name follows a letter, or `?` for an untracked file, and a space.
            let Some((tag, name)) = record.split_at_checked(2) else {
                continue;
            };
            if let Some(name) = name.strip_suffix(b"/") {
                nested.push(RepoPath::new(name));
                continue;
            }
            let path = RepoPath::new(name);
            let found = self.dir().as_std_path().join(path.as_path());
            let found = found.symlink_metadata().ok();
            if let Some(found) = found.filter(std::fs::Metadata::is_file) {
                let files = if tag == b"? " {
                    &mut untracked
                } else {
                    &mut tracked
                };
                files.push((path, found.len()));
            }
        }
        let mut paths = too_large(&untracked, MOST);
        paths.extend(too_large(&tracked, u64::MAX));
        self.refuse(paths).map(|()| nested)
    }

    /// Refuses changed or new files that are too large, alone or together.
    pub(crate) fn refuse_large(&self, paths: &[RepoPath]) -> Result<(), Error> {
        let sizes = paths.iter().filter_map(|path| {
            let found = self.dir().as_std_path().join(path.as_path());
            let found = found
                .symlink_metadata()
                .ok()
                .filter(std::fs::Metadata::is_file)?;
            Some((path.clone(), found.len()))
        });
        let sizes: Vec<(RepoPath, u64)> = sizes.collect();
        self.refuse(too_large(&sizes, MOST))
    }

    fn refuse(&self, mut paths: Vec<RepoPath>) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        paths.sort();
        paths.dedup();
        Err(Error::TooLarge {
            dir: self.dir().to_owned(),
            paths,
        })
    }
}

/// Returns the files that are too large alone, or the largest if the total is too large.
fn too_large(files: &[(RepoPath, u64)], most: u64) -> Vec<RepoPath> {
    let alone = files.iter().filter(|(_, size)| *size > LARGEST);
    let alone: Vec<RepoPath> = alone.map(|(path, _)| path.clone()).collect();
    let total = files
        .iter()
        .fold(0, |sum: u64, (_, size)| sum.saturating_add(*size));
    if alone.is_empty() && total > most {
        let largest = files.iter().max_by_key(|(_, size)| *size);
        return largest.map(|(path, _)| path.clone()).into_iter().collect();
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_too_large_alone_or_together() {
        let check = |sizes: &[u64], most: u64, expected: &[usize]| {
            let name = |at: usize| RepoPath::from(at.to_string().as_str());
            let files: Vec<(RepoPath, u64)> = (0..).map(name).zip(sizes.iter().copied()).collect();
            let expected: Vec<RepoPath> = expected.iter().copied().map(name).collect();
            assert_eq!(too_large(&files, most), expected, "{sizes:?}");
        };
        check(&[], MOST, &[]);
        check(&[LARGEST, 1], MOST, &[]);
        check(&[LARGEST + 1, 1, 60 << 30], MOST, &[0, 2]);
        check(&[1, LARGEST, LARGEST, LARGEST, LARGEST - 1], MOST, &[]);
        check(
            &[
                1,
                LARGEST - 1,
                LARGEST - 1,
                LARGEST,
                LARGEST - 1,
                LARGEST - 1,
            ],
            MOST,
            &[3],
        );
        check(&[LARGEST; 9], u64::MAX, &[]);
        check(&[u64::MAX; 2], u64::MAX, &[0, 1]);
    }
}
