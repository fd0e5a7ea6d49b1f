//! One folder in which git runs, and the paths of its worktree and repository.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::call::Call;
use crate::environment::Purpose;
use crate::error::Error;
use crate::program::Program;

/// A folder in a worktree or repository, and the git that runs there. Creating one checks nothing.
#[derive(Clone, Debug)]
pub struct Repo {
    program: Program,
    dir: Utf8PathBuf,
    /// The worktree's own git folder, if its `.git` is not trusted.
    git_dir: Option<Utf8PathBuf>,
}

impl Repo {
    /// Returns the repository of a folder.
    pub fn at(program: &Program, dir: impl Into<Utf8PathBuf>) -> Self {
        Self {
            program: program.clone(),
            dir: dir.into(),
            git_dir: None,
        }
    }

    /// Returns a worktree with its own git folder, which is passed to git explicitly.
    pub(crate) fn pinned(program: &Program, dir: &Utf8Path, git_dir: &Utf8Path) -> Self {
        Self {
            git_dir: Some(git_dir.to_owned()),
            ..Self::at(program, dir)
        }
    }

    /// Returns another folder of the same worktree.
    pub(crate) fn within(&self, dir: impl Into<Utf8PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            ..self.clone()
        }
    }

    /// Returns the same folder with another time limit for each run of git.
    pub(crate) fn with_limit(&self, limit: Duration) -> Self {
        Self {
            program: self.program.clone().with_limit(limit),
            ..self.clone()
        }
    }

    /// Returns the same folder for questions only, so that git starts no program of the repository.
    #[must_use]
    pub fn for_looking(&self) -> Self {
        Self {
            program: self.program.for_looking(),
            ..self.clone()
        }
    }

    /// Returns the folder as it was given.
    pub fn dir(&self) -> &Utf8Path {
        &self.dir
    }

    /// Returns the program that is run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the top of this worktree. Fails in a bare repository and inside a `.git` folder.
    pub fn top_level(&self) -> Result<Utf8PathBuf, Error> {
        let top_level = self.location("--show-toplevel")?;
        self.refuse_elsewhere(&top_level)?;
        Ok(top_level)
    }

    /// Refuses a worktree that does not contain this folder: `core.worktree` can name any.
    fn refuse_elsewhere(&self, top_level: &Utf8Path) -> Result<(), Error> {
        match self.dir.canonicalize_utf8() {
            Ok(dir) if !dir.starts_with(top_level) => Err(Error::Elsewhere {
                dir: self.dir.clone(),
                top_level: top_level.to_owned(),
            }),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns this folder relative to the top of its worktree; empty where it is the top.
    pub fn prefix(&self) -> Result<Utf8PathBuf, Error> {
        let line = self.read().args(["rev-parse", "--show-prefix"]).line()?;
        let text = String::from_utf8(line).map_err(|error| not_utf8(error.into_bytes()))?;
        Ok(Utf8PathBuf::from(text.strip_suffix('/').unwrap_or(&text)))
    }

    /// Returns the repository folder that all worktrees share.
    pub fn common_dir(&self) -> Result<Utf8PathBuf, Error> {
        self.location("--git-common-dir")
    }

    pub(crate) fn read(&self) -> Call<'_> {
        self.pin(Call::read(&self.program, &self.dir))
    }

    pub(crate) fn write(&self) -> Call<'_> {
        self.pin(Call::write(&self.program, &self.dir))
    }

    fn pin<'a>(&'a self, call: Call<'a>) -> Call<'a> {
        match &self.git_dir {
            Some(git_dir) => call
                .variable("GIT_DIR", git_dir.as_os_str())
                .variable("GIT_WORK_TREE", self.dir.as_os_str()),
            None => call,
        }
    }

    /// Returns how `git status` and its like treat submodules.
    ///
    /// To find changes inside one, git starts another git with the submodule's own settings. A git
    /// that looks compares only the commits.
    pub(crate) fn submodules(&self) -> &'static str {
        match self.program.purpose() {
            Purpose::Look => "--ignore-submodules=dirty",
            Purpose::Work => "--ignore-submodules=none",
        }
    }

    /// Returns all paths, with one run of git where possible.
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        let flags = [
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-common-dir",
            "--show-object-format",
        ];
        let output = self
            .read()
            .args(["rev-parse", "--path-format=absolute"])
            .args(flags)
            .output()?;
        let text = String::from_utf8(output).map_err(|error| not_utf8(error.into_bytes()))?;
        // Not `lines()`, which would remove a carriage return from a name.
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        if let [top_level, git_dir, common_dir, object_format] = lines.as_slice() {
            self.refuse_elsewhere(Utf8Path::new(top_level))?;
            return Ok(Layout {
                top_level: (*top_level).into(),
                git_dir: (*git_dir).into(),
                common_dir: (*common_dir).into(),
                object_format: (*object_format).to_owned(),
            });
        }
        // A path contains a newline, and `rev-parse` has no `-z`, so each is asked for separately.
        Ok(Layout {
            top_level: self.top_level()?,
            git_dir: self.location("--absolute-git-dir")?,
            common_dir: self.common_dir()?,
            object_format: self.location("--show-object-format")?.into_string(),
        })
    }

    /// Returns the layout if this folder is the top of its worktree.
    pub(crate) fn layout_at_top(&self) -> Result<Layout, Error> {
        let layout = self.layout()?;
        // git has resolved links in its answer.
        let dir = self.dir.canonicalize_utf8();
        if dir.is_ok_and(|dir| dir == layout.top_level) {
            return Ok(layout);
        }
        Err(Error::NotTopLevel {
            dir: self.dir.clone(),
            top_level: layout.top_level,
        })
    }

    fn location(&self, flag: &str) -> Result<Utf8PathBuf, Error> {
        let line = self
            .read()
            .args(["rev-parse", "--path-format=absolute", flag])
            .line()?;
        String::from_utf8(line)
            .map(Utf8PathBuf::from)
            .map_err(|error| not_utf8(error.into_bytes()))
    }
}

/// Where a worktree and its repository are.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) top_level: Utf8PathBuf,
    /// The worktree's own folder with HEAD and index.
    pub(crate) git_dir: Utf8PathBuf,
    /// The shared folder with objects and refs.
    pub(crate) common_dir: Utf8PathBuf,
    /// `sha1` or `sha256`.
    pub(crate) object_format: String,
}

impl Layout {
    /// Returns the number of hex digits of an id here.
    pub(crate) fn id_length(&self) -> usize {
        if self.object_format == "sha1" { 40 } else { 64 }
    }
}

fn not_utf8(bytes: Vec<u8>) -> Error {
    Error::NotUtf8(PathBuf::from(OsString::from_vec(bytes)))
}
