//! Temporary indexes, so that the user's own is never written.
//!
//! A [`Scratch`] is a temporary folder and the variables that make git use it. One kind sees files
//! as a commit would have them, the other as they are on the disk.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use camino::Utf8Path;
use rekindle_fs::GuardedFile;
use tempfile::TempDir;

use crate::call::Call;
use crate::error::Error;
use crate::repo::Layout;

/// Where new objects go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    /// Into the repository.
    Repository,
    /// Next to the index, so that a question leaves nothing behind.
    Apart,
}

/// A temporary index and the settings it is used with.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    settings: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
}

/// Settings of the user that would change the index or make `git add` omit something.
const SETTINGS: &[&str] = &[
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.safecrlf=false",
    "add.ignoreErrors=false",
];

/// No conversion. `info/attributes` overrides every `.gitattributes`; an encoding can only be unset
/// (`!`).
const NO_CONVERSION: &str = "* -text !eol -crlf -ident -filter !working-tree-encoding\n";

impl Scratch {
    /// Copies the worktree's index, with its cache of unchanged files.
    pub(crate) fn with_copied_index(layout: &Layout, objects: Objects) -> Result<Self, Error> {
        let mut scratch = Self::empty()?;
        let copy = scratch.folder.path().join("index");
        copy_index(&layout.git_dir.join("index"), &copy)?;
        if objects == Objects::Apart {
            scratch.keep_objects_apart(layout)?;
        }
        Ok(scratch)
    }

    /// Creates an empty index for a question that leaves no objects behind.
    pub(crate) fn empty_apart(layout: &Layout) -> Result<Self, Error> {
        let mut scratch = Self::empty()?;
        scratch.keep_objects_apart(layout)?;
        Ok(scratch)
    }

    fn keep_objects_apart(&mut self, layout: &Layout) -> Result<(), Error> {
        let apart = self.folder.path().join("objects");
        make_folder(&apart)?;
        let real = layout.common_dir.join("objects");
        self.settings.push("core.fsync=none".into());
        self.variables.push(("GIT_OBJECT_DIRECTORY", apart.into()));
        self.variables
            .push(("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&real).into()));
        Ok(())
    }

    /// Creates an empty index for `work_tree` that stores and writes files byte by byte, without
    /// conversion.
    ///
    /// git has no option for that (`--attr-source` came with 2.41 and leaves some attributes in
    /// force), so it gets a repository folder of its own that shares only the object store.
    pub(crate) fn byte_by_byte(layout: &Layout, work_tree: &Utf8Path) -> Result<Self, Error> {
        let mut scratch = Self::empty()?;
        let git_dir = scratch.folder.path().join("git");
        make_folder(&git_dir.join("refs"))?;
        make_folder(&git_dir.join("info"))?;
        write(&git_dir.join("HEAD"), "ref: refs/heads/scratch\n")?;
        write(&git_dir.join("config"), &config(&layout.object_format))?;
        write(&git_dir.join("info/attributes"), NO_CONVERSION)?;
        let exclude = layout.common_dir.join("info/exclude");
        copy_if_there(&exclude, &git_dir.join("info/exclude"))?;
        scratch.variables.extend([
            ("GIT_DIR", git_dir.into()),
            ("GIT_WORK_TREE", work_tree.as_os_str().to_owned()),
            (
                "GIT_OBJECT_DIRECTORY",
                layout.common_dir.join("objects").into_os_string(),
            ),
        ]);
        // The repository's own settings still hold, except those that would convert or omit files.
        let configs = [
            layout.common_dir.join("config"),
            layout.git_dir.join("config.worktree"),
        ];
        let includes = configs.iter().map(|path| format!("include.path={path}"));
        let against = ["core.bare=false", "core.sparseCheckout=false"];
        scratch.settings.extend(includes.map(OsString::from));
        scratch.settings.extend(against.map(OsString::from));
        Ok(scratch)
    }

    /// Makes `call` use this index.
    pub(crate) fn apply<'a>(&self, call: Call<'a>) -> Call<'a> {
        let call = self.settings.iter().fold(call, Call::setting);
        let call = SETTINGS.iter().fold(call, Call::setting);
        self.variables
            .iter()
            .fold(call, |call, (name, value)| call.variable(name, value))
    }

    /// Creates an empty index.
    pub(crate) fn empty() -> Result<Self, Error> {
        let folder = rekindle_fault::growth("git-scratch")
            .and_then(|()| rekindle_fs::temporary_folder(&std::env::temp_dir()));
        let folder = folder.map_err(Error::prepare(std::env::temp_dir()))?;
        let index = folder.path().join("index").into_os_string();
        Ok(Self {
            folder,
            settings: Vec::new(),
            variables: vec![("GIT_INDEX_FILE", index)],
        })
    }
}

/// Copies the index with its modification time.
///
/// git takes a file as unchanged if it is older than the index. A newer copy would hide a file of
/// the same size that changed in the same tick as the index.
fn copy_index(from: &Utf8Path, to: &Path) -> Result<(), Error> {
    let Some(source) = open_if_there(from)? else {
        // A new repository has no index yet.
        return Ok(());
    };
    let copy = || {
        let written_at = source.metadata()?.modified()?;
        let mut target = File::create(to)?;
        io::copy(&mut &source, &mut target)?;
        target.set_modified(written_at)
    };
    copy().map_err(Error::prepare(to))
}

fn copy_if_there(from: &Utf8Path, to: &Path) -> Result<(), Error> {
    let Some(mut source) = open_if_there(from)? else {
        return Ok(());
    };
    let copied = File::create(to).and_then(|mut target| io::copy(&mut source, &mut target));
    copied.map(drop).map_err(Error::prepare(to))
}

/// Opens a file of git, which may be a link.
fn open_if_there(path: &Utf8Path) -> Result<Option<File>, Error> {
    let file = GuardedFile::open_followed(path).map_err(|source| Error::Prepare {
        path: path.as_std_path().to_owned(),
        source: io::Error::other(source),
    })?;
    Ok(file.map(GuardedFile::into_file))
}

pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::prepare(path))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::prepare(path))
}

/// The object format cannot be included from the repository's own file.
fn config(object_format: &str) -> String {
    if object_format == "sha1" {
        return "[core]\n\trepositoryformatversion = 0\n".to_owned();
    }
    format!(
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = {object_format}\n"
    )
}

/// Quotes a path for `GIT_ALTERNATE_OBJECT_DIRECTORIES`, where a colon would end it.
fn quoted(path: &Utf8Path) -> String {
    format!(
        "\"{}\"",
        path.as_str().replace('\\', "\\\\").replace('"', "\\\"")
    )
}
