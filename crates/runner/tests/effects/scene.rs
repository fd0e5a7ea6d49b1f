//! A project, a worker's worktree of it, and a runner that lands one in the other.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_git::{Entry, ObjectId, Program, Repo};
use rekindle_model::{Action, LandedFile, Landing, ProtocolName, Step, WorkflowId};
use rekindle_runner::{Error, Reach, Recovered, Runner, StateFolder};
use tempfile::TempDir;

pub(crate) const SUBJECT: &str = "phase-1/P1-T01: do the work";

/// What every worker leaves next to its work, and what must never land.
const LEFT_OUT: [&str; 2] = [".kiln-artifacts", ".kiln-snapshot"];

/// The user's own work in the project, which no landing may touch.
const USERS: &str = "
    printf 'staged\\n' > user-new.txt; git add user-new.txt
    printf 'staged\\n' > user-both.txt; git add user-both.txt; printf 'and more\\n' >> user-both.txt
    printf 'unstaged\\n' >> user-changed.txt
    git rm -q user-gone.txt
    printf 'notes\\n' > user-untracked.txt";

pub(crate) struct Scene {
    _folders: Vec<TempDir>,
    pub(crate) root: Utf8PathBuf,
    pub(crate) project: Utf8PathBuf,
    pub(crate) worktree: Utf8PathBuf,
}

/// Everything below a folder but git's and rekindle's own, by path.
pub(crate) type Files = BTreeMap<PathBuf, String>;

impl Scene {
    /// Makes a project with a commit that a script lays out, a worktree with a worker's changes, and
    /// the user's own changes in the project.
    pub(crate) fn new(base: &str, work: &str) -> Self {
        Self::below("", base, work)
    }

    /// As [`Scene::new`], with the project in a folder below the top of its repository.
    pub(crate) fn below(sub: &str, base: &str, work: &str) -> Self {
        let near = in_memory();
        // On another file system, where there is one.
        let far = TempDir::new().unwrap();
        let real = |folder: &TempDir| {
            Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap()
        };
        let (root, far_root) = (real(&near), real(&far));
        let scene = Self {
            project: root.join("project").join(sub),
            worktree: far_root.join("worktree"),
            root,
            _folders: vec![near, far],
        };
        fs::create_dir_all(&scene.project).unwrap();
        let start = "git init -q -b main .
            for name in user-both user-changed user-gone; do echo $name > $name.txt; done";
        scene.shell(&scene.top(), start);
        scene.shell(&scene.top(), base);
        let commit = "git add -A && git commit -qm base";
        scene.shell(&scene.top(), commit);
        let add = format!("git worktree add -q --detach {}", scene.worktree);
        scene.shell(&scene.top(), &add);
        let artifacts = "mkdir -p .kiln-artifacts/P1-T01/verify .kiln-snapshot
            echo [] > .kiln-artifacts/P1-T01/changed_ops.json
            echo log > .kiln-artifacts/P1-T01/verify/log; echo s > .kiln-snapshot/STATE.md";
        scene.shell(&scene.worktree, artifacts);
        scene.shell(&scene.worktree, work);
        scene.shell(&scene.top(), USERS);
        scene
    }

    /// Returns the top of the project's repository.
    pub(crate) fn top(&self) -> Utf8PathBuf {
        self.root.join("project")
    }

    /// Runs a script, which must succeed, and returns what it printed.
    pub(crate) fn shell(&self, folder: &Utf8Path, script: &str) -> String {
        let output = Command::new("sh")
            .args(["-euc", script])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {}", text(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns what git prints in the project.
    pub(crate) fn git(&self, arguments: &str) -> String {
        self.shell(&self.top(), &format!("git {arguments}"))
    }

    /// Returns the landing of what the worktree holds now.
    pub(crate) fn landing(&self) -> Landing {
        landing(&self.root, &self.worktree)
    }

    /// Opens a runner and carries out actions.
    pub(crate) fn apply(&self, actions: Vec<Action>) -> Result<Recovered, Error> {
        self.apply_with(actions, search_path())
    }

    pub(crate) fn apply_with(
        &self,
        actions: Vec<Action>,
        search_path: OsString,
    ) -> Result<Recovered, Error> {
        apply(&self.project, &self.worktree, actions, search_path)
    }

    /// Lands what the worktree holds now.
    pub(crate) fn land(&self) -> Result<Recovered, Error> {
        self.apply(vec![Action::Land(self.landing())])
    }

    /// Returns all files of the project.
    pub(crate) fn files(&self) -> Files {
        files(&self.top())
    }

    /// Returns what git has to say about the user's own work.
    pub(crate) fn users(&self) -> String {
        let kept = "status --porcelain=v2 --untracked-files=all -- 'user-*'";
        let staged = "diff --cached --raw --no-renames -- 'user-*'";
        self.git(kept) + &self.git(staged) + &self.git("diff -- 'user-*'")
    }

    /// Returns history, index and status, without times.
    pub(crate) fn history(&self) -> String {
        [
            "log --format='%s %T'",
            "ls-files --stage",
            "status --porcelain --untracked-files=all",
        ]
        .map(|arguments| self.git(arguments))
        .join("--\n")
    }

    #[cfg(feature = "crash-points")]
    /// Runs this test's own program as a runner of its own, which may be told to die.
    pub(crate) fn child(&self, what: &str, crash_at: Option<&str>) -> Output {
        self.child_command(what, crash_at).output().unwrap()
    }

    #[cfg(feature = "crash-points")]
    pub(crate) fn child_command(&self, what: &str, crash_at: Option<&str>) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -c 0 && exec \"$@\"", "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["child", what, self.root.as_str()])
            .args([self.project.as_str(), self.worktree.as_str()]);
        if let Some(place) = crash_at {
            command.env("REKINDLE_CRASH_AT", place);
        }
        command
    }
}

/// What the child does: `apply` all actions of a story, `end` a worker, or `recover` only.
pub(crate) fn child(arguments: &[String]) -> ExitCode {
    let [what, rest @ ..] = arguments else {
        return ExitCode::FAILURE;
    };
    if what == "hold" {
        return crate::workers::hold(rest);
    }
    let [root, project, worktree] = rest else {
        return ExitCode::FAILURE;
    };
    let (root, project, worktree): (&Utf8Path, &Utf8Path, &Utf8Path) = (
        root.as_str().into(),
        project.as_str().into(),
        worktree.as_str().into(),
    );
    let actions = match what.as_str() {
        "apply" => story(root, worktree),
        "end" => vec![Action::EndWorker {
            task: "P1-T01".to_owned(),
        }],
        _ => Vec::new(),
    };
    match apply(project, worktree, actions, search_path()) {
        Ok(recovered) => {
            eprintln!("{recovered:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns what is due after a worker has ended: its work lands, its artifacts move, the record is kept.
pub(crate) fn story(root: &Utf8Path, worktree: &Utf8Path) -> Vec<Action> {
    vec![
        Action::Land(landing(root, worktree)),
        Action::MoveFolder {
            from: worktree.join(".kiln-artifacts/P1-T01"),
            to: ".kiln/tracks/phase-1/artifacts/P1-T01".into(),
        },
        Action::MoveFolder {
            from: ".kiln/near".into(),
            to: ".kiln/there/near".into(),
        },
        Action::Edit {
            path: ".kiln/STATE.md".into(),
            before: b"before\r\n".to_vec(),
            after: b"after\r\n".to_vec(),
        },
        Action::Create {
            path: ".kiln/made/new.md".into(),
            contents: b"new\xff\n".to_vec(),
        },
        Action::MoveFile {
            from: ".kiln/old.md".into(),
            to: ".kiln/kept/old.md".into(),
            contents: b"old\n".to_vec(),
        },
    ]
}

fn landing(root: &Utf8Path, worktree: &Utf8Path) -> Landing {
    let program = Program::find(&search_path()).unwrap();
    let repo = Repo::at(&program, worktree);
    let exclude = LEFT_OUT.map(Into::into);
    let head = repo.head().unwrap();
    let base = head.commit().unwrap();
    let tree = repo.snapshot_tree(&exclude).unwrap();
    let top = Repo::at(&program, root.join("project"));
    let entry = |entry: Entry| (entry.mode.as_octal().to_owned(), entry.id.to_string());
    let files = top.between(base, &tree).unwrap().into_iter();
    Landing {
        task: "P1-T01".to_owned(),
        worktree: worktree.to_owned(),
        base: ObjectId::to_string(base),
        subject: SUBJECT.to_owned(),
        leave_out: LEFT_OUT.map(str::to_owned).to_vec(),
        files: files
            .map(|change| LandedFile {
                path: change.path.as_bytes().to_vec(),
                before: change.old.map(entry),
                after: change.new.map(entry),
            })
            .collect(),
    }
}

fn apply(
    project: &Utf8Path,
    worktree: &Utf8Path,
    actions: Vec<Action>,
    search_path: OsString,
) -> Result<Recovered, Error> {
    let steps = actions.into_iter().map(|action| Step {
        action,
        why: String::new(),
    });
    let steps: Vec<Step> = steps.collect();
    let reach = Reach {
        roots: vec![worktree.to_owned()],
        search_path,
    };
    let now = Timestamp::UNIX_EPOCH;
    let state = StateFolder::of(project, Some(&key(project)), &[]);
    let (mut runner, recovered) = Runner::open(&state, &id(), "test", now, reach)?;
    runner.apply(&steps, now, &mut Silent)?;
    Ok(recovered)
}

/// Returns the path of the key for a project.
fn key(project: &Utf8Path) -> Utf8PathBuf {
    let is_project = |folder: &&Utf8Path| folder.file_name() == Some("project");
    let project = project.ancestors().find(is_project).unwrap();
    project.with_file_name("key-of-the-user").join("key")
}

pub(crate) fn id() -> WorkflowId {
    WorkflowId::new(ProtocolName::new("kiln-teams"), "phase-1")
}

struct Silent;

impl rekindle_runner::Output for Silent {
    fn print(&mut self, _: &str) {}
}

/// Reads all files below a folder, with what distinguishes them; also empty folders.
pub(crate) fn files(folder: &Utf8Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![folder.as_std_path().to_owned()];
    while let Some(path) = open.pop() {
        let inside: Vec<_> = fs::read_dir(&path).unwrap().map(Result::unwrap).collect();
        if inside.is_empty() {
            found.insert(short(&path, folder), "empty folder".to_owned());
        }
        for entry in inside {
            let path = entry.path();
            let metadata = path.symlink_metadata().unwrap();
            if [".git", ".rekindle"]
                .iter()
                .any(|own| entry.file_name() == *own)
            {
                continue;
            }
            let what = if metadata.is_dir() {
                open.push(path);
                continue;
            } else if metadata.is_symlink() {
                format!("link {}", fs::read_link(&path).unwrap().display())
            } else if !metadata.is_file() {
                "neither file nor folder".to_owned()
            } else {
                let mode = metadata.permissions().mode() & 0o100;
                format!("{mode:o} {}", fs::read(&path).unwrap().escape_ascii())
            };
            found.insert(short(&path, folder), what);
        }
    }
    found
}

fn short(path: &Path, folder: &Utf8Path) -> PathBuf {
    path.strip_prefix(folder).unwrap().to_owned()
}

/// Returns a folder in memory, where the system offers that: each landing syncs its files.
fn in_memory() -> TempDir {
    TempDir::new_in("/dev/shm")
        .or_else(|_| TempDir::new())
        .unwrap()
}

pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap()
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
