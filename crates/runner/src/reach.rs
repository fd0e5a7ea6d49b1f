//! Where effects may write: in the project, and in the folders that belong to the protocol.

use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::Program;

use crate::{Error, StateFolder};

/// The reach of a runner, besides the project.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Folders outside of the project that the protocol owns, absolute.
    pub roots: Vec<Utf8PathBuf>,
    /// The search path for programs.
    pub search_path: OsString,
}

/// The project and the folders within reach.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) project: Utf8PathBuf,
    pub(crate) state: StateFolder,
    reach: Reach,
}

impl Site {
    pub(crate) fn new(state: &StateFolder, reach: Reach) -> Self {
        Self {
            project: state.project().to_owned(),
            state: state.clone(),
            reach,
        }
    }

    /// Returns the git program, for effects that a person agreed to.
    pub(crate) fn git(&self) -> Result<Program, Error> {
        Ok(Program::find(&self.reach.search_path)?.for_work())
    }

    /// Refuses a project in which git tracks files of ours: they come and go with commits of others.
    ///
    /// The configuration may be tracked, since a person writes it. Without a repository, or without
    /// git, nothing is tracked.
    pub(crate) fn refuse_tracked(&self) -> Result<(), Error> {
        let paths = self.state.tracked(&self.reach.search_path)?;
        if paths.is_empty() {
            Ok(())
        } else {
            Err(Error::Tracked { paths })
        }
    }

    /// Returns the real path of an effect's target, if effects may write there.
    ///
    /// Folders on the way may be links that stay inside; the target itself may not be a link,
    /// since its target is not the file that was meant.
    ///
    /// Also checked for effects from a journal: in a cloned project it may come from
    /// anybody, and must not reach further than a plan.
    pub(crate) fn place(&self, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
        let inside = self.inside(&self.project, path);
        if path.is_relative() || inside.is_ok() {
            return inside;
        }
        let mut refused = inside;
        for root in self.reach.roots.iter().filter(|root| is_ours(root)) {
            match self.inside(root, path) {
                Ok(place) => return Ok(place),
                // A person must know the root.
                Err(error) if path.starts_with(root) => refused = Err(error),
                Err(_) => {}
            }
        }
        refused
    }

    fn inside(&self, root: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
        let place = rekindle_fs::confine_unlinked(root, path)?;
        let root = root.canonicalize_utf8().unwrap_or_else(|_| root.to_owned());
        let below = place.strip_prefix(&root).unwrap_or(&place);
        // A line in git's own files can make git run a command.
        if below
            .components()
            .any(|part| part.as_str().eq_ignore_ascii_case(".git"))
        {
            let path = path.to_owned();
            return Err(Error::GitsOwn { path });
        }
        Ok(place)
    }
}

/// A root that is a link counts only if we created the link: in a shared temporary folder it may be a trap.
fn is_ours(root: &Utf8Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    root.is_absolute()
        && root.symlink_metadata().is_ok_and(|found| {
            !found.is_symlink() || found.uid() == rustix::process::geteuid().as_raw()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_project_or_in_a_root() {
        let folder = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        for name in ["project/.git", "root/in", "other"] {
            rekindle_fs::ensure_dir(&base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(base.join("other"), base.join("root/out")).unwrap();
        std::os::unix::fs::symlink(".git", base.join("project/link")).unwrap();
        let reach = Reach {
            roots: vec![base.join("missing"), base.join("root")],
            search_path: OsString::new(),
        };
        let site = Site::new(&StateFolder::of(&base.join("project"), None, &[]), reach);
        let good = |path: &str| site.place(path.into()).is_ok();
        let inside = |path: &str| good(base.join(path).as_str());
        assert!(good("a/b") && good("a..b") && inside("project/a"));
        assert!(inside("root/in/x") && inside("root/new/x"));
        assert!(!good("../other/x") && !inside("other/x") && !inside("root/out/x"));
        assert!(!inside("missing/x") && !inside("root-2/x") && !good("/etc/passwd"));
        for own in [
            ".git/config",
            ".GIT/config",
            "sub/.git/hooks/x",
            "link/config",
        ] {
            assert!(
                matches!(site.place(own.into()), Err(Error::GitsOwn { .. })),
                "{own}"
            );
        }
        assert!(!inside("root/in/.git"));
        for (path, wanted) in [("root/out/x", "root"), ("other/x", "project")] {
            let refused = site.place(&base.join(path)).unwrap_err().to_string();
            let wanted = format!("leads outside `{}`", base.join(wanted));
            assert!(refused.ends_with(&wanted), "{refused}");
        }
    }
}
