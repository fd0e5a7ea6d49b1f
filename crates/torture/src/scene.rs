//! The project of one round: a copy of a repository, a plan, an agent, and the calls of rekindle.

use std::process::{Command, Stdio};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_wire::torture::Tortured;

use crate::git::{git, scrub};
use crate::interruption::Interruption;
use crate::orchestrator::{End, Ended, Orchestrator, Patience};
use crate::{Error, Options, agent, name, processes};

const BRANCH: &str = "rekindle-torture";

/// The ref of [`BRANCH`], on which runs land.
pub(crate) const LANDED: &str = "refs/heads/rekindle-torture";

/// The folder for temporary files outside the project.
const TEMPORARY: &str = "tmp";

/// The folders of workflows and of rekindle.
const STATE: [&str; 2] = [".agent-memory", ".rekindle"];

/// The worktrees of a run, one folder per workflow with one per task.
const WORKTREES: &str = ".rekindle/worktrees";
/// The folder of the worktrees that stay for the next task or run.
const POOL: &str = "pool";

/// git must see every file of the agent.
const NOTHING_IGNORED: &str = "!*\n";

/// git must not convert any file of the agent.
const NOTHING_CONVERTED: &str = "* -text !eol -ident !working-tree-encoding\n";

/// git must not filter files: a filter may be missing (Git LFS), slow, or ask for a key.
const NOTHING_FILTERED: &str = "* -filter\n";

/// Seconds of silence after which an orchestrator gives up a worker; few, so that stops matter.
pub(crate) const SILENT_AFTER: u64 = 2;

/// A temporary project; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scene {
    scratch: tempfile::TempDir,
    folder: Utf8PathBuf,
    program: Utf8PathBuf,
    jobs: usize,
    /// How long a run may take.
    limit: Duration,
    /// The first commit of runs.
    base: String,
    mark: String,
    pub(crate) needs: Vec<Vec<usize>>,
}

impl Scene {
    /// Creates a project and its plan.
    pub(crate) fn build(
        options: &Options,
        repository: &Tortured,
        needs: &[Vec<usize>],
    ) -> Result<Self, Error> {
        let scratch = rekindle_fs::temporary_folder(&std::env::temp_dir());
        let scratch = scratch.map_err(Error::system("make a scratch folder"))?;
        let folder = Utf8PathBuf::from_path_buf(scratch.path().to_owned()).map_err(|path| {
            let said = std::io::Error::other(format!("`{}` is not UTF-8", path.display()));
            Error::system("use the scratch folder")(said)
        })?;
        let mark = folder.file_name().unwrap_or_default().to_owned();
        let mut scene = Self {
            scratch,
            folder,
            program: options.program.clone(),
            jobs: options.jobs,
            limit: options.limit,
            base: String::new(),
            mark,
            needs: needs.to_vec(),
        };
        match repository {
            Tortured::Copied { from } => scene.copy(from)?,
            Tortured::Made { .. } => scene.make()?,
        }
        scene.make_ready()?;
        git(&scene.project(), &["rev-parse", "HEAD"])?
            .trim()
            .clone_into(&mut scene.base);
        scene.write_books()?;
        Ok(scene)
    }

    /// Copies the last commit of a repository, without a remote.
    fn copy(&self, from: &str) -> Result<(), Error> {
        let arguments = [
            "clone",
            "--quiet",
            "--no-hardlinks",
            "--no-tags",
            "--no-checkout",
            "--template=",
            "--origin=origin",
            "--",
            from,
            "project",
        ];
        git(&self.folder, &arguments)?;
        self.filter_nothing()?;
        let project = self.project();
        git(&project, &["remote", "remove", "origin"])?;
        // The checked-out branch may have the name of ours.
        git(&project, &["checkout", "--quiet", "--detach"])?;
        let branches = git(
            &project,
            &["for-each-ref", "--format=%(refname)", "refs/heads"],
        )?;
        for branch in branches.lines() {
            git(&project, &["update-ref", "-d", branch])?;
        }
        git(&project, &["checkout", "--quiet", "-b", "main"])?;
        Ok(())
    }

    fn make(&self) -> Result<(), Error> {
        let project = self.project();
        write(&project.join("README.md"), "# A project to torture\n")?;
        let arguments = ["init", "--quiet", "--template=", "--initial-branch", "main"];
        git(&project, &arguments)?;
        self.filter_nothing()?;
        git(&project, &["add", "--force", "--", "README.md"])?;
        Ok(())
    }

    /// Prevents filters, here and in every worktree, before anything is checked out.
    fn filter_nothing(&self) -> Result<(), Error> {
        let attributes = self.project().join(".git/info/attributes");
        write(&attributes, NOTHING_FILTERED)
    }

    /// Commits what runs need: no earlier workflow, and a folder in which nothing is ignored or
    /// converted.
    fn make_ready(&self) -> Result<(), Error> {
        let project = self.project();
        let mut arguments = vec!["rm", "-r", "-f", "--quiet", "--ignore-unmatch", "--"];
        arguments.extend(STATE);
        arguments.push(agent::FOLDER);
        git(&project, &arguments)?;
        let rules = project.join(".gitignore");
        if !rules.is_file() || rules.is_symlink() {
            // git follows no link there, but a write would.
            let arguments = ["rm", "-r", "-f", "--quiet", "--ignore-unmatch", "--"];
            git(&project, &[&arguments[..], &[".gitignore"]].concat())?;
        }
        let mut ignored = match std::fs::read(&rules) {
            Ok(ignored) => ignored,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::system(format!("read `{rules}`"))(error)),
        };
        ignored.extend(format!("\n!/{}/\n", agent::FOLDER).into_bytes());
        write(&rules, ignored)?;
        let folder = project.join(agent::FOLDER);
        write(&folder.join(".gitignore"), NOTHING_IGNORED)?;
        write(&folder.join(".gitattributes"), NOTHING_CONVERTED)?;
        git(
            &project,
            &["add", "--force", "--", ".gitignore", agent::FOLDER],
        )?;
        git(&project, &["commit", "--quiet", "--message", "Begin"])?;
        Ok(())
    }

    /// Writes the plan and the files of the agent, next to the project.
    fn write_books(&self) -> Result<(), Error> {
        let mut tasks = Vec::new();
        for (task, needs) in self.needs.iter().enumerate() {
            let names: Vec<String> = needs.iter().copied().map(name).collect();
            tasks.push(serde_json::json!({
                "id": name(task), "title": format!("Step {}", task + 1), "dependencies": names,
            }));
            let lines = [names.as_slice(), &[String::new()]].concat().join("\n");
            write(&self.folder.join(agent::NEEDS).join(name(task)), lines)?;
        }
        let plan = serde_json::json!({"title": "Torture", "tasks": tasks});
        write(&self.folder.join("plan.json"), plan.to_string())?;
        let temporary = self.folder.join(TEMPORARY);
        std::fs::create_dir(&temporary).map_err(Error::system(format!("make `{temporary}`")))?;
        write(&self.folder.join(agent::FILE), agent::SCRIPT)
    }

    /// Returns the project's folder.
    pub(crate) fn project(&self) -> Utf8PathBuf {
        self.folder.join("project")
    }

    /// Returns the mark that every process of this scene inherits.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns what agents have recorded so far.
    pub(crate) fn ledger(&self) -> Result<String, Error> {
        match std::fs::read_to_string(self.folder.join(agent::LEDGER)) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(Error::system("read the ledger")(error)),
        }
    }

    /// Returns whether there is a run to resume; runs appear completely or not at all.
    pub(crate) fn has_run(&self) -> bool {
        let runs = std::fs::read_dir(self.project().join(".agent-memory/runs"));
        runs.is_ok_and(|runs| {
            let mut names = runs.flatten().map(|run| run.file_name());
            names.any(|name| !name.to_string_lossy().starts_with('.'))
        })
    }

    /// Starts or resumes the run.
    pub(crate) fn start(&self) -> Result<Orchestrator, Error> {
        let (plan, jobs) = (self.folder.join("plan.json"), self.jobs.to_string());
        let agent = format!("sh \"$TORTURE/{}\"", agent::FILE);
        let mut command = self.rekindle();
        if self.has_run() {
            command.arg("resume");
        } else {
            command.args(["run", plan.as_str(), "--branch", BRANCH]);
        }
        command.args(["--yes", "--json", "--jobs", &jobs, "--agent-cmd", &agent]);
        Orchestrator::start(&mut command, self.patience())
    }

    /// Runs `rekindle inspect --json`.
    pub(crate) fn inspect(&self, interruption: &Interruption) -> Result<Ended, Error> {
        let mut command = self.rekindle();
        command.args(["inspect", "--json"]);
        Orchestrator::start(&mut command, self.patience())?.wait(interruption)
    }

    fn patience(&self) -> Patience {
        Patience {
            limit: self.limit,
            mark: self.mark.clone(),
        }
    }

    fn rekindle(&self) -> Command {
        let mut command = Command::new(&self.program);
        scrub(&mut command)
            .current_dir(self.project())
            .env_remove("REKINDLE_NOW")
            .env("REKINDLE_SILENT_AFTER", SILENT_AFTER.to_string())
            .env(processes::MARK, &self.mark)
            .env("TORTURE", &self.folder)
            .env("TMPDIR", self.folder.join(TEMPORARY))
            .stdin(Stdio::null());
        command
    }

    /// Runs the plan without disturbance; returns the landed results.
    pub(crate) fn undisturbed(&self, interruption: &Interruption) -> Result<String, Error> {
        let ended = self.start()?.wait(interruption)?;
        match ended.end {
            End::Succeeded => self.results(),
            End::Failed | End::Never => Err(Error::Undisturbed(ended.said)),
        }
    }

    /// Returns the tree of the branch without logs, which differ between attempts.
    pub(crate) fn results(&self) -> Result<String, Error> {
        let tree = git(&self.project(), &["ls-tree", "-r", "--full-tree", LANDED])?;
        let is_log = |line: &str| Utf8Path::new(line).extension() == Some("log");
        let lines: Vec<&str> = tree.lines().filter(|line| !is_log(line)).collect();
        Ok(lines.join("\n"))
    }

    /// Returns the task and attempt of every landed commit.
    pub(crate) fn landed(&self) -> Result<Vec<(String, String)>, Error> {
        let trailer = |key: &str| format!("%(trailers:key={key},valueonly,separator=)");
        let (task, attempt) = (trailer("Rekindle-Task"), trailer("Rekindle-Attempt"));
        let format = format!("--format={task} {attempt}");
        let since = format!("{}..{LANDED}", self.base);
        let printed = git(&self.project(), &["log", &format, &since])?;
        let pairs = printed.lines().filter_map(|line| line.split_once(' '));
        let pairs = pairs.filter(|(task, _)| !task.is_empty());
        Ok(pairs
            .map(|(task, attempt)| (task.to_owned(), attempt.to_owned()))
            .collect())
    }

    /// Returns the folder of the worktrees that tasks use one after the other.
    pub(crate) fn pool(&self) -> Utf8PathBuf {
        let root = self.project().join(WORKTREES);
        // As git names them, without links.
        root.canonicalize_utf8().unwrap_or(root).join(POOL)
    }

    /// Returns every folder of a worktree, whether git knows it or not, but those of the pool.
    pub(crate) fn worktree_folders(&self) -> Result<Vec<Utf8PathBuf>, Error> {
        let root = self.project().join(WORKTREES);
        let unreadable = |error| Error::system(format!("list `{root}`"))(error);
        // As git names them, without links.
        let root = match root.canonicalize_utf8() {
            Ok(root) => root,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut folders = Vec::new();
        for workflow in root.read_dir_utf8().map_err(unreadable)? {
            let workflow = workflow.map_err(unreadable)?;
            if workflow.file_name() == POOL {
                continue;
            }
            for folder in workflow.path().read_dir_utf8().map_err(unreadable)? {
                folders.push(folder.map_err(unreadable)?.into_path());
            }
        }
        folders.sort();
        Ok(folders)
    }

    /// Resets the project to the state before the undisturbed run.
    pub(crate) fn begin_anew(&self) -> Result<(), Error> {
        let project = self.project();
        git(&project, &["branch", "--quiet", "-D", BRANCH])?;
        for folder in STATE {
            let removed = std::fs::remove_dir_all(project.join(folder));
            removed.map_err(Error::system(format!("remove `{folder}`")))?;
        }
        let removed = std::fs::remove_file(self.folder.join(agent::LEDGER));
        removed.map_err(Error::system("remove the ledger"))
    }

    /// Keeps the folder for inspection; returns it.
    pub(crate) fn keep(mut self) -> Utf8PathBuf {
        self.scratch.disable_cleanup(true);
        self.project()
    }
}

impl Drop for Scene {
    /// Kills the remaining processes before the folder is removed.
    fn drop(&mut self) {
        processes::end(&self.mark);
    }
}

fn write(path: &Utf8Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, contents))
        .map_err(Error::system(format!("write `{path}`")))
}

#[cfg(test)]
#[path = "scene_tests.rs"]
pub(crate) mod tests;
