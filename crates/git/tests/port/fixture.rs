//! A repository in a temporary folder, plain git to compare with, and programs that play git.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{ObjectId, OwnWorktree, Program, Repo, RepoPath};
use rekindle_testkit::process::write_script;
use tempfile::TempDir;

pub(crate) struct Fixture {
    /// Removed when the test is over.
    _folder: TempDir,
    pub(crate) root: Utf8PathBuf,
    /// The worktree of the repository, `<root>/repo`.
    pub(crate) dir: Utf8PathBuf,
    pub(crate) program: Program,
}

/// All that git could take from the machine, replaced.
fn variables(root: &Utf8Path) -> Vec<(&'static str, OsString)> {
    vec![
        ("HOME", root.into()),
        ("XDG_CONFIG_HOME", root.into()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
        ("GIT_CONFIG_SYSTEM", "/dev/null".into()),
        ("TZ", "UTC".into()),
        ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z".into()),
        ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z".into()),
    ]
}

impl Fixture {
    /// An empty repository on the unborn branch `main`.
    pub(crate) fn empty() -> Self {
        Self::with_init(&[])
    }

    /// A repository with one commit of one file, `base.txt`.
    pub(crate) fn new() -> Self {
        let fixture = Self::empty();
        fixture.write("base.txt", "base\n");
        fixture.commit_all("base");
        fixture
    }

    pub(crate) fn with_init(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let dir = root.join("repo");
        fs::create_dir(&dir).unwrap();
        let program = hermetic(Program::find(&path_variable()).unwrap().for_work(), &root);
        let fixture = Self {
            _folder: folder,
            root,
            dir,
            program,
        };
        fixture.git([&["init", "--quiet", "--initial-branch=main"], args].concat());
        fixture
    }

    pub(crate) fn repo(&self) -> Repo {
        Repo::at(&self.program, &self.dir)
    }

    /// Returns a worktree that can be changed.
    pub(crate) fn own(&self, path: &Utf8Path) -> OwnWorktree {
        OwnWorktree::open(&self.program, &self.dir.join(".git"), path).unwrap()
    }

    pub(crate) fn repo_at(&self, path: &str) -> Repo {
        Repo::at(&self.program, self.root.join(path))
    }

    /// Runs plain git in the repository and returns what it printed.
    pub(crate) fn git<T: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = T>) -> String {
        self.git_in(&self.dir, args)
    }

    pub(crate) fn git_in<T: AsRef<OsStr>>(
        &self,
        dir: &Utf8Path,
        args: impl IntoIterator<Item = T>,
    ) -> String {
        let output = self.try_git(dir, args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "git ended with {}: {stderr}",
            output.status
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub(crate) fn try_git<T: AsRef<OsStr>>(
        &self,
        dir: &Utf8Path,
        args: impl IntoIterator<Item = T>,
    ) -> Output {
        Command::new("git")
            .env_clear()
            .env("PATH", path_variable())
            .envs(variables(&self.root))
            .env("GIT_AUTHOR_NAME", "Ann")
            .env("GIT_AUTHOR_EMAIL", "ann@example.org")
            .env("GIT_COMMITTER_NAME", "Ann")
            .env("GIT_COMMITTER_EMAIL", "ann@example.org")
            .current_dir(dir)
            .args(args)
            .output()
            .unwrap()
    }

    pub(crate) fn git_id<T: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = T>) -> ObjectId {
        ObjectId::parse(&self.git(args)).unwrap()
    }

    /// Commits everything and returns the commit.
    pub(crate) fn commit_all(&self, message: &str) -> ObjectId {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git_id(["rev-parse", "HEAD"])
    }

    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> std::path::PathBuf {
        self.dir.as_std_path().join(Path::new(name.as_ref()))
    }

    pub(crate) fn write(&self, name: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn make_executable(&self, name: &str) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn link(&self, target: &str, name: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    /// What must not change while we look: the index, the refs and what `git status` says.
    pub(crate) fn state(&self) -> (Vec<u8>, String, String, Vec<u8>) {
        let git_dir = self.git(["rev-parse", "--absolute-git-dir"]);
        let index = fs::read(Path::new(&git_dir).join("index")).unwrap_or_default();
        let refs = self.git(["for-each-ref", "refs/heads", "refs/tags", "refs/stash"]);
        let head = fs::read_to_string(Path::new(&git_dir).join("HEAD")).unwrap();
        // Without locks, or it would refresh the index itself.
        let args = [
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "-z",
            "-uall",
        ];
        (index, refs, head, self.try_git(&self.dir, args).stdout)
    }

    /// Writes an executable script and returns the folder it is in.
    pub(crate) fn script(&self, name: &str, script: &str) -> Utf8PathBuf {
        let folder = self.root.join("fake-bin");
        fs::create_dir_all(&folder).unwrap();
        let text = format!("#!/bin/sh\n{script}\n");
        write_script(folder.join(name).as_std_path(), &text).unwrap();
        folder
    }

    /// Puts a script that plays git on a PATH of its own and returns that PATH.
    pub(crate) fn fake_git(&self, script: &str) -> OsString {
        self.script("git", script).into_os_string()
    }

    /// The same, with a current version; `script` is for all other calls, in `$root`.
    pub(crate) fn fake_program(&self, script: &str) -> Program {
        let version =
            "for last; do :; done; [ \"$last\" = version ] && echo git version 2.47.0 && exit";
        let path = self.fake_git(&format!("{version}\nroot='{}'\n{script}", self.root));
        Program::find(&path).unwrap()
    }
}

pub(crate) fn hermetic(program: Program, root: &Utf8Path) -> Program {
    variables(root)
        .into_iter()
        .fold(program, |program, (name, value)| {
            program.with_variable(name, value)
        })
}

pub(crate) fn path_variable() -> OsString {
    std::env::var_os("PATH").unwrap()
}

pub(crate) fn paths(names: &[&str]) -> Vec<RepoPath> {
    names.iter().map(|name| RepoPath::from(*name)).collect()
}

/// A file as it is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OnDisk {
    File { bytes: Vec<u8>, is_executable: bool },
    Link(OsString),
}

/// Every file below `dir` except `.git`, by its path.
pub(crate) fn files(dir: &Utf8Path) -> BTreeMap<Vec<u8>, OnDisk> {
    let mut found = BTreeMap::new();
    collect(dir.as_std_path(), dir.as_std_path(), &mut found);
    found
}

fn collect(top: &Path, dir: &Path, found: &mut BTreeMap<Vec<u8>, OnDisk>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let name = path
            .strip_prefix(top)
            .unwrap()
            .as_os_str()
            .as_bytes()
            .to_vec();
        if name == b".git" {
            continue;
        }
        if metadata.is_dir() {
            collect(top, &path, found);
        } else if metadata.is_symlink() {
            found.insert(
                name,
                OnDisk::Link(fs::read_link(&path).unwrap().into_os_string()),
            );
        } else if metadata.is_file() {
            let is_executable = metadata.permissions().mode() & 0o100 != 0;
            let bytes = fs::read(&path).unwrap();
            found.insert(
                name,
                OnDisk::File {
                    bytes,
                    is_executable,
                },
            );
        }
    }
}

/// Those of [`files`] that git tracks or would offer to add, by plain git's own word.
pub(crate) fn files_not_ignored(fixture: &Fixture) -> BTreeMap<Vec<u8>, OnDisk> {
    let args = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let listed = fixture.try_git(&fixture.dir, args).stdout;
    let listed: Vec<&[u8]> = listed.split(|byte| *byte == 0).collect();
    let mut all = files(&fixture.dir);
    all.retain(|name, _| listed.contains(&name.as_slice()));
    all
}
