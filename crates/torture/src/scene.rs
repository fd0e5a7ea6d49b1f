//! One round's project: a copy of a repository, a plan, an agent, and how rekindle is called there.

use std::process::{Child, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::git::git;
use crate::{Error, Options, agent, has_commit, name, processes};

/// The branch that runs land on.
pub(crate) const BRANCH: &str = "rekindle-torture";

/// Seconds of silence after which an orchestrator gives a worker up: few, so that stopping one is worth it.
pub(crate) const SILENT_AFTER: u64 = 2;

/// A scratch folder with a project in it; it goes away with its scene.
#[derive(Debug)]
pub(crate) struct Scene {
    scratch: tempfile::TempDir,
    folder: Utf8PathBuf,
    program: Utf8PathBuf,
    jobs: usize,
    /// The commit that runs begin with.
    base: String,
    mark: String,
    pub(crate) needs: Vec<Vec<usize>>,
}

impl Scene {
    /// Lays out a project and the plan.
    pub(crate) fn build(options: &Options, needs: &[Vec<usize>]) -> Result<Self, Error> {
        let scratch = tempfile::Builder::new()
            .prefix("rekindle-torture-")
            .tempdir();
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
            base: String::new(),
            mark,
            needs: needs.to_vec(),
        };
        match options
            .repository
            .as_deref()
            .filter(|folder| has_commit(folder))
        {
            Some(repository) => scene.copy(repository)?,
            None => scene.make()?,
        }
        git(&scene.project(), &["rev-parse", "HEAD"])?
            .trim()
            .clone_into(&mut scene.base);
        scene.write_books()?;
        Ok(scene)
    }

    /// Copies the last commit of somebody's repository; nothing leads back to it.
    fn copy(&self, repository: &Utf8Path) -> Result<(), Error> {
        let top = git(repository, &["rev-parse", "--show-toplevel"])?;
        let arguments = [
            "clone",
            "--quiet",
            "--no-hardlinks",
            "--",
            top.trim(),
            "project",
        ];
        git(&self.folder, &arguments)?;
        git(&self.project(), &["remote", "remove", "origin"])?;
        Ok(())
    }

    fn make(&self) -> Result<(), Error> {
        let project = self.project();
        write(&project.join("README.md"), "# A project to torture\n")?;
        git(&project, &["init", "--quiet", "--initial-branch", "main"])?;
        git(&project, &["add", "README.md"])?;
        git(&project, &["commit", "--quiet", "--message", "Begin"])?;
        Ok(())
    }

    /// Writes the plan and what the agent needs, all beside the project.
    fn write_books(&self) -> Result<(), Error> {
        let mut tasks = Vec::new();
        for (task, needs) in self.needs.iter().enumerate() {
            let names: Vec<String> = needs.iter().copied().map(name).collect();
            tasks.push(serde_json::json!({
                "id": name(task), "title": format!("Step {}", task + 1), "dependencies": names,
            }));
            let lines = [names.as_slice(), &[String::new()]].concat().join("\n");
            write(&self.folder.join(agent::NEEDS).join(name(task)), &lines)?;
        }
        let plan = serde_json::json!({"title": "Torture", "tasks": tasks});
        write(&self.folder.join("plan.json"), &plan.to_string())?;
        write(&self.folder.join(agent::FILE), agent::SCRIPT)
    }

    /// Returns the project's folder.
    pub(crate) fn project(&self) -> Utf8PathBuf {
        self.folder.join("project")
    }

    /// Returns what every process of this scene inherits.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns what agents have written down so far.
    pub(crate) fn ledger(&self) -> Result<String, Error> {
        match std::fs::read_to_string(self.folder.join(agent::LEDGER)) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(Error::system("read the ledger")(error)),
        }
    }

    /// Returns whether there is a run that can be resumed: it is there as a whole or not at all.
    pub(crate) fn has_run(&self) -> bool {
        let runs = std::fs::read_dir(self.project().join(".agent-memory/runs"));
        runs.is_ok_and(|runs| {
            let names = runs.flatten().map(|run| run.file_name());
            names
                .into_iter()
                .any(|name| !name.to_string_lossy().starts_with('.'))
        })
    }

    /// Starts an orchestrator that goes on with what is there, or begins.
    pub(crate) fn start(&self) -> Result<Child, Error> {
        let (plan, jobs) = (self.folder.join("plan.json"), self.jobs.to_string());
        let agent = format!("sh \"$TORTURE/{}\"", agent::FILE);
        let mut command = self.rekindle();
        if self.has_run() {
            command.arg("resume");
        } else {
            command.args(["run", plan.as_str(), "--branch", BRANCH]);
        }
        command
            .args(["--yes", "--json", "--jobs", &jobs, "--agent-cmd", &agent])
            .spawn()
            .map_err(Error::system("start rekindle"))
    }

    /// Returns everything that rekindle knows, as JSON.
    pub(crate) fn inspect(&self) -> Result<String, Error> {
        let output = self.rekindle().args(["inspect", "--json"]).output();
        let output = output.map_err(Error::system("start rekindle"))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn rekindle(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.project())
            .env_remove("REKINDLE_NOW")
            .env("REKINDLE_SILENT_AFTER", SILENT_AFTER.to_string())
            .env(processes::MARK, &self.mark)
            .env("TORTURE", &self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the plan without any disturbance; returns the results that it lands.
    pub(crate) fn undisturbed(&self) -> Result<String, Error> {
        let output = self.start()?.wait_with_output();
        let output = output.map_err(Error::system("wait for rekindle"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Error::Undisturbed(said));
        }
        self.results()
    }

    /// Returns what the branch holds, without the lines that tell one attempt from another.
    pub(crate) fn results(&self) -> Result<String, Error> {
        let tree = git(&self.project(), &["ls-tree", "-r", "--full-tree", BRANCH])?;
        let is_log = |line: &str| Utf8Path::new(line).extension() == Some("log");
        let lines: Vec<&str> = tree.lines().filter(|line| !is_log(line)).collect();
        Ok(lines.join("\n"))
    }

    /// Returns the task of every commit that was landed.
    pub(crate) fn landed(&self) -> Result<Vec<String>, Error> {
        let format = "--format=%(trailers:key=Rekindle-Task,valueonly,separator=)";
        let since = format!("{}..{BRANCH}", self.base);
        let printed = git(&self.project(), &["log", format, &since])?;
        Ok(printed.split_whitespace().map(str::to_owned).collect())
    }

    /// Puts the project back to where the undisturbed run began.
    pub(crate) fn begin_anew(&self) -> Result<(), Error> {
        let project = self.project();
        git(&project, &["branch", "--quiet", "-D", BRANCH])?;
        for folder in [".agent-memory", ".rekindle"] {
            let removed = std::fs::remove_dir_all(project.join(folder));
            removed.map_err(Error::system(format!("remove `{folder}`")))?;
        }
        let removed = std::fs::remove_file(self.folder.join(agent::LEDGER));
        removed.map_err(Error::system("remove the ledger"))
    }

    /// Leaves the folder for somebody to look at; returns it.
    pub(crate) fn keep(mut self) -> Utf8PathBuf {
        self.scratch.disable_cleanup(true);
        self.project()
    }
}

fn write(path: &Utf8Path, contents: &str) -> Result<(), Error> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, contents))
        .map_err(Error::system(format!("write `{path}`")))
}
