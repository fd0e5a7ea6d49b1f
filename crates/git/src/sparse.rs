//! Worktrees with only some folders of a large repository.
//!
//! The folders are in the worktree's own `info/sparse-checkout`, which begins with a line of ours. git
//! is told to heed it by each call that checks out files and not by a setting, since that would have to
//! be in the configuration of the whole repository.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::Content;

use crate::bring::read;
use crate::error::Error;
use crate::own::OwnWorktree;

/// The file, below the worktree's own git folder.
pub(crate) const FILE: &str = "info/sparse-checkout";
/// Begins a file of ours.
const MARK: &str = "# folders of rekindle's configuration\n";
/// Brings back all files.
const ALL: &str = "/*\n";
/// The largest file.
const LARGEST: u64 = 16 << 20;

/// What a checkout has to heed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sparse {
    /// Nothing of ours.
    Not,
    /// The folders in the file.
    Folders,
    /// All files come back; the file goes afterwards.
    Ending,
}

impl Sparse {
    /// Returns the settings of the checkout.
    pub(crate) fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Not => &[],
            Self::Folders => &["core.sparseCheckout=true", "core.sparseCheckoutCone=true"],
            Self::Ending => &["core.sparseCheckout=true", "core.sparseCheckoutCone=false"],
        }
    }
}

impl OwnWorktree {
    /// Writes the folders down; none for all files.
    pub(crate) fn write_sparse(&self, folders: &[String]) -> Result<Sparse, Error> {
        let file = self.git_dir().join(FILE);
        let now = read(&file, LARGEST)?.unwrap_or_default();
        let is_ours = now.starts_with(MARK.as_bytes());
        let (text, sparse) = match (folders.is_empty(), is_ours) {
            (true, false) => return Ok(Sparse::Not),
            (true, true) => (format!("{MARK}{ALL}"), Sparse::Ending),
            (false, _) => (patterns(folders), Sparse::Folders),
        };
        if now != text.as_bytes() {
            write(&file, &text)?;
        }
        Ok(sparse)
    }
}

/// Returns the patterns of a cone: the files of each folder above, and all of each folder.
fn patterns(folders: &[String]) -> String {
    let above = |folder: &String| -> Vec<Utf8PathBuf> {
        let above = Utf8Path::new(folder).ancestors().skip(1);
        above.map(Utf8Path::to_path_buf).collect()
    };
    let mut parents: BTreeSet<Utf8PathBuf> = folders.iter().flat_map(above).collect();
    parents.remove(Utf8Path::new(""));
    let is_whole = |folder: &Utf8Path| {
        let mut folders = folders.iter();
        folders.any(|whole| folder.starts_with(whole))
    };
    let mut text = format!("{MARK}/*\n!/*/\n");
    for parent in parents.iter().filter(|parent| !is_whole(parent)) {
        let parent = escaped(parent.as_str());
        text.push_str(&format!("/{parent}/\n!/{parent}/*/\n"));
    }
    let whole: BTreeSet<&String> = folders.iter().collect();
    for folder in whole {
        text.push_str(&format!("/{}/\n", escaped(folder)));
    }
    text
}

fn escaped(folder: &str) -> String {
    let mut escaped = String::new();
    for char in folder.chars() {
        if matches!(char, '\\' | '*' | '?' | '[') {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

/// Writes a file of the worktree's git folder, in the place of another one.
pub(crate) fn write(path: &Utf8Path, text: &str) -> Result<(), Error> {
    let known = Content::read(path).map_err(prepare(path))?;
    let written = match known {
        Content::Absent => rekindle_fs::create(path, text.as_bytes()),
        Content::Present(_) => rekindle_fs::replace(path, &known, text.as_bytes()),
    };
    written.map_err(prepare(path))
}

pub(crate) fn prepare(path: &Utf8Path) -> impl FnOnce(rekindle_fs::Error) -> Error {
    let path = path.as_std_path().to_owned();
    move |source| Error::Prepare {
        path,
        source: std::io::Error::other(source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_a_cone_with_the_files_of_those_above() {
        let folders = ["apps/web", "lib*", "apps/web/deep"].map(str::to_owned);
        assert_eq!(
            patterns(&folders),
            format!("{MARK}/*\n!/*/\n/apps/\n!/apps/*/\n/apps/web/\n/apps/web/deep/\n/lib\\*/\n")
        );
    }
}
