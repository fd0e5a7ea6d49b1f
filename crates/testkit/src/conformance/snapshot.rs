//! Every file of a scene as it stands, to see that a read changed nothing.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

/// Folders of git and of rekindle itself: what happens there is no change of the user's files.
const SKIPPED: [&str; 2] = [".git", ".rekindle"];

/// The bytes of every file, and the target of every link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<Utf8PathBuf, Vec<u8>>);

impl Snapshot {
    /// Takes what stands below the given folders; one that does not exist holds nothing.
    pub(crate) fn take(tops: &[&Utf8Path]) -> io::Result<Self> {
        let mut seen = BTreeMap::new();
        for top in tops {
            files_below(top, &SKIPPED, &mut |path, is_link| {
                let bytes = if is_link {
                    path.read_link_utf8()?.into_string().into_bytes()
                } else {
                    fs_err::read(path)?
                };
                seen.insert(path.to_owned(), bytes);
                Ok(())
            })?;
        }
        Ok(Self(seen))
    }

    /// Returns the first path whose content is not the same in both, if any.
    pub(crate) fn first_change(&self, after: &Self) -> Option<Utf8PathBuf> {
        let gone_or_other = self
            .0
            .iter()
            .find(|(path, bytes)| after.0.get(*path) != Some(*bytes));
        let new = || after.0.iter().find(|(path, _)| !self.0.contains_key(*path));
        gone_or_other.or_else(new).map(|(path, _)| path.clone())
    }
}

/// Calls `visit` with each file and link below a folder, and whether it is a link; follows none.
pub(crate) fn files_below(
    top: &Utf8Path,
    skipped: &[&str],
    visit: &mut dyn FnMut(&Utf8Path, bool) -> io::Result<()>,
) -> io::Result<()> {
    if !top.is_dir() {
        return Ok(());
    }
    for entry in top.read_dir_utf8()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if !kind.is_dir() {
            visit(entry.path(), kind.is_symlink())?;
        } else if !skipped.contains(&entry.file_name()) {
            files_below(entry.path(), skipped, visit)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_an_addition_and_a_removal_are_each_seen() {
        let folder = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(folder.path()).unwrap();
        fs_err::create_dir_all(top.join(".git")).unwrap();
        fs_err::write(top.join("a"), "1").unwrap();
        let before = Snapshot::take(&[top, &top.join("absent")]).unwrap();
        let now = || before.first_change(&Snapshot::take(&[top]).unwrap());

        fs_err::write(top.join(".git/HEAD"), "x").unwrap();
        assert_eq!(now(), None);
        fs_err::write(top.join("b"), "2").unwrap();
        assert_eq!(now(), Some(top.join("b")));
        fs_err::remove_file(top.join("b")).unwrap();
        fs_err::write(top.join("a"), "3").unwrap();
        assert_eq!(now(), Some(top.join("a")));
        fs_err::remove_file(top.join("a")).unwrap();
        assert_eq!(now(), Some(top.join("a")));
    }
}
