//! The repository to copy, or the reason why a small one is created.

use std::ffi::OsStr;

use camino::Utf8Path;
use rekindle_git::{Program, Repo};
use rekindle_wire::torture::Tortured;

use crate::Error;
use crate::git::git;

/// Finds a repository to copy. One that git refuses is an error: torturing another one is not what
/// the user asked for.
pub(crate) fn find(search_path: &OsStr, folder: Option<&Utf8Path>) -> Result<Tortured, Error> {
    let made = |because: String| Ok(Tortured::Made { because });
    let Some(folder) = folder else {
        return made("no repository was named".to_owned());
    };
    let program = Program::find(search_path)?;
    match Repo::at(&program, folder).resolve("HEAD") {
        // Only here a bare repository is used: the user named this very folder to copy.
        Ok(Some(_)) | Err(rekindle_git::Error::Bare { .. }) => {}
        Ok(None) => return made(format!("the repository of `{folder}` has no commit yet")),
        Err(error) if error.is_no_repository() => return made(error.to_string()),
        Err(error) => return Err(error.into()),
    }
    let is_inside = git(folder, &["rev-parse", "--is-inside-work-tree"])?;
    let what = match is_inside.trim() {
        "true" => "--show-toplevel",
        _ => "--absolute-git-dir",
    };
    let from = git(folder, &["rev-parse", what])?;
    Ok(Tortured::Copied {
        from: from.trim_end_matches('\n').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn the_copied_repository_or_the_reason_for_a_new_one_is_reported() {
        let kept = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(kept.path().canonicalize().unwrap()).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let found = |folder: Option<&Utf8Path>| find(&path, folder).unwrap();
        let made = |because: &str| Tortured::Made {
            because: because.to_owned(),
        };
        assert_eq!(found(None), made("no repository was named"));
        let none = format!("`{folder}` is not in a git repository");
        assert_eq!(found(Some(&folder)), made(&none));
        git(&folder, &["init", "--quiet"]).unwrap();
        let empty = format!("the repository of `{folder}` has no commit yet");
        assert_eq!(found(Some(&folder)), made(&empty));
        let inside = folder.join("inside");
        std::fs::create_dir(&inside).unwrap();
        git(&folder, &["commit", "-q", "--allow-empty", "-m", "One"]).unwrap();
        let copied = |from: &Utf8Path| Tortured::Copied {
            from: from.to_string(),
        };
        assert_eq!(found(Some(&inside)), copied(&folder));
        let bare = folder.join(".git");
        assert_eq!(found(Some(&bare)), copied(&bare));
    }

    /// A score of another repository would mislead the user.
    #[test]
    fn a_repository_that_git_cannot_read_is_an_error() {
        let kept = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(kept.path()).unwrap();
        git(folder, &["init", "--quiet"]).unwrap();
        std::fs::write(folder.join(".git/config"), "[core\n").unwrap();
        let error = find(&std::env::var_os("PATH").unwrap(), Some(folder)).unwrap_err();
        assert!(matches!(error, Error::Repository(_)), "{error}");
        assert_eq!(error.trust_command(), None);
    }
}
