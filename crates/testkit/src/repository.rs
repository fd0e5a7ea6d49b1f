//! A repository in which the engine runs, and a view of all its processes.

#![expect(
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test whose scene can not be laid out fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use camino::Utf8PathBuf;

use crate::process::{Call, Environment};
use crate::running::Running;
use crate::sandbox::LIMIT;

/// A repository of its own in a temporary folder, with a mark by which its processes are found.
pub struct Project {
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
    mark: String,
    binary: PathBuf,
}

/// An agent that writes one file with the task's name.
pub const WRITE: &str = r#"cat > /dev/null; echo "$REKINDLE_TASK" >> "$REKINDLE_TASK.txt""#;

/// Returns what is typed to start a run of the plan on the branch `result`.
pub fn run_words(agent: &str) -> [&str; 7] {
    [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
        agent,
    ]
}

impl Project {
    /// Makes a repository with one commit.
    pub fn new(binary: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("mark-{}", folder.path().display());
        let project = Self {
            folder,
            home: tempfile::tempdir().unwrap(),
            mark,
            binary: binary.into(),
        };
        fs::write(project.path().join("README"), "hello\n").unwrap();
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "."],
            &["commit", "-qm", "start"],
        ] {
            project.git(arguments);
        }
        project
    }

    /// Returns the folder.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn variables(&self) -> Environment {
        let path = std::env::var_os("PATH").unwrap();
        let home = self.home.path().to_owned();
        let mut variables = Environment::from([
            ("PATH".into(), path),
            ("HOME".into(), home.into_os_string()),
        ]);
        for (name, value) in [
            ("ENGINE_TEST", self.mark.as_str()),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "t"),
            ("GIT_AUTHOR_EMAIL", "t@example.invalid"),
            ("GIT_COMMITTER_NAME", "t"),
            ("GIT_COMMITTER_EMAIL", "t@example.invalid"),
        ] {
            variables.insert(name.into(), value.into());
        }
        variables
    }

    fn environment(&self, command: &mut Command) {
        command
            .env_clear()
            .envs(self.variables())
            .current_dir(self.path());
    }

    /// Runs git, which must succeed, and returns what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        self.environment(&mut command);
        let output = command.args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    /// Returns the worktrees of the repository beside the user's own, without those of the pool.
    pub fn worktrees(&self) -> Vec<String> {
        self.all_worktrees(false)
    }

    /// Returns the worktrees of the pool.
    pub fn pooled(&self) -> Vec<String> {
        self.all_worktrees(true)
    }

    fn all_worktrees(&self, pooled: bool) -> Vec<String> {
        let listed = self.git(&["worktree", "list", "--porcelain"]);
        let paths = listed
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "));
        let is_pooled = |path: &str| path.contains("/.rekindle/worktrees/pool/");
        paths
            .skip(1)
            .filter(|path| is_pooled(path) == pooled)
            .map(str::to_owned)
            .collect()
    }

    /// Runs a line of shell in the project's folder.
    pub fn shell(&self, line: &str) -> Output {
        let mut command = Command::new("/bin/sh");
        self.environment(&mut command);
        command.args(["-c", line]).output().unwrap()
    }

    /// Returns a call of rekindle.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        self.environment(&mut command);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs rekindle to its end.
    pub fn rekindle(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Starts rekindle with more variables; whatever is waited for then has a limit.
    pub fn start(&self, arguments: &[&str], more: &[(&str, &str)]) -> Running {
        let mut environment = self.variables();
        for (name, value) in more {
            environment.insert(name.into(), value.into());
        }
        let call = Call {
            program: self.binary.to_str().unwrap(),
            args: &arguments
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>(),
            folder: &Utf8PathBuf::from_path_buf(self.path()).unwrap(),
            environment: &environment,
            stdin: "",
            limit: LIMIT,
        };
        Running::start(&call).unwrap()
    }

    /// Writes a plan of tasks `id<dependency,dependency`.
    pub fn plan(&self, tasks: &str) {
        let tasks: Vec<String> = tasks
            .split_whitespace()
            .map(|task| {
                let (id, needs) = task.split_once('<').unwrap_or((task, ""));
                let needs: Vec<String> = needs
                    .split(',')
                    .filter(|n| !n.is_empty())
                    .map(|n| format!("\"{n}\""))
                    .collect();
                format!(
                    r#"{{"id":"{id}","title":"Do {id}","dependencies":[{}]}}"#,
                    needs.join(",")
                )
            })
            .collect();
        fs::write(
            self.path().join("plan.json"),
            format!(
                "{{\"title\":\"Test\",\"tasks\":[\n{}\n]}}",
                tasks.join(",\n")
            ),
        )
        .unwrap();
    }

    /// Starts a run of the plan on the branch `result`.
    pub fn run(&self, agent: &str, more: &[&str]) -> Output {
        let mut arguments = run_words(agent).to_vec();
        arguments.extend(more);
        self.rekindle(&arguments)
    }

    /// Returns the tasks on the branch in the order in which they landed, with their attempts.
    pub fn landed(&self) -> Vec<(String, u32)> {
        let format = "--format=%(trailers:key=Rekindle-Task,valueonly,separator=) %(trailers:key=Rekindle-Attempt,valueonly,separator=)";
        self.git(&["log", "--reverse", format, "main..result"])
            .lines()
            .filter_map(|line| line.trim().rsplit_once(' '))
            .map(|(task, attempt)| (task.to_owned(), attempt.parse().unwrap()))
            .collect()
    }

    /// Returns the tasks on the branch in the order in which they landed.
    pub fn tasks(&self) -> String {
        let landed: Vec<String> = self.landed().into_iter().map(|(task, _)| task).collect();
        landed.join(" ")
    }

    /// Returns how often an event of a task stands in the logs of all runs.
    pub fn events(&self, event: &str, task: &str) -> usize {
        let wanted = [
            format!("\"event_type\":\"{event}\""),
            format!("\"task_id\":\"{task}\""),
        ];
        let mut open = vec![self.path().join(".agent-memory")];
        let mut count = 0;
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(
                    fs::read_dir(path)
                        .unwrap()
                        .flatten()
                        .map(|entry| entry.path()),
                );
            } else if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                let log = fs::read_to_string(path).unwrap();
                count += log
                    .lines()
                    .filter(|line| wanted.iter().all(|part| line.contains(part)))
                    .count();
            }
        }
        count
    }

    /// Returns every living process of this project: pid and command line.
    pub fn processes(&self) -> BTreeMap<u32, String> {
        let wanted = format!("ENGINE_TEST={}", self.mark);
        let mut found = BTreeMap::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<u32>().ok())
            else {
                continue;
            };
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            if !read("environ")
                .split(|&b| b == 0)
                .any(|entry| entry == wanted.as_bytes())
            {
                continue;
            }
            let line = read("cmdline")
                .split(|&b| b == 0)
                .map(text)
                .collect::<Vec<_>>()
                .join(" ");
            if !line.is_empty() {
                found.insert(pid, line);
            }
        }
        found
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        for pid in self.processes().into_keys() {
            kill(pid, "KILL");
        }
    }
}

/// Returns bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Sends a signal, if there is still somebody to hear it.
pub fn kill(pid: u32, signal: &str) {
    Command::new("kill")
        .args([&format!("-{signal}"), &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .unwrap();
}
