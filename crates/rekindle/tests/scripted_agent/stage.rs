//! A project in which `claude` is the scripted agent, and what is left there after a run.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test whose scene can not be laid out fails by panicking"
)]

use std::sync::LazyLock;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::fake_agent;
use rekindle_testkit::repository::{Project, text};
use rekindle_testkit::running::Running;
use serde_json::Value;

/// Cargo is asked for the agent once, not by every test.
static AGENT: LazyLock<Utf8PathBuf> = LazyLock::new(|| fake_agent::program().unwrap());

/// The agent is one of the Claude Code kind: its command line, its stream, its way to resume.
const CONFIG: &str = "[agents.scripted]\npreset = \"claude\"\n";

/// A script's line that writes down the words that the agent was started with.
pub(crate) const KEEP_WORDS: &str =
    "run cat /proc/$PID/cmdline >$FAKE_AGENT_SCRIPT/words.$TASK.$ATTEMPT";

/// A project, a plan and the scripts of its tasks.
pub(crate) struct Stage {
    pub(crate) project: Project,
    scripts: tempfile::TempDir,
}

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
}

impl Stage {
    /// Lays out a plan as [`Project::plan`] reads it, and scripts: a name (`A`, `A.2`) and lines.
    pub(crate) fn new(plan: &str, scripts: &[(&str, &str)]) -> Self {
        let stage = Self {
            project: Project::new(env!("CARGO_BIN_EXE_rekindle")),
            scripts: tempfile::tempdir().unwrap(),
        };
        stage.project.plan(plan);
        for (name, lines) in scripts {
            stage.script(name, lines);
        }
        let settings = stage.project.path().join(".rekindle");
        fs_err::create_dir(&settings).unwrap();
        fs_err::write(settings.join("config.toml"), CONFIG).unwrap();
        let programs = stage.beside("bin");
        fs_err::create_dir(&programs).unwrap();
        fs_err::os::unix::fs::symlink(&*AGENT, programs.join("claude")).unwrap();
        stage
    }

    /// Adds a script.
    pub(crate) fn script(&self, name: &str, lines: &str) {
        fs_err::write(self.beside(name), lines).unwrap();
    }

    /// Returns a place beside the scripts, where the agent leaves its notes.
    pub(crate) fn beside(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.scripts.path()).unwrap().join(name)
    }

    /// Returns what the agent left beside its script.
    #[track_caller]
    pub(crate) fn note(&self, name: &str) -> String {
        fs_err::read_to_string(self.beside(name)).unwrap()
    }

    /// Returns the words that [`KEEP_WORDS`] wrote down.
    #[track_caller]
    pub(crate) fn words(&self, task: &str, attempt: u32) -> String {
        let words = self.note(&format!("words.{task}.{attempt}"));
        words.trim_end_matches('\0').replace('\0', " ")
    }

    /// Starts the plan's run on the branch `result`.
    pub(crate) fn start(&self, more: &[&str]) -> Running {
        let run = "run plan.json --agent scripted --branch result --yes";
        self.rekindle(run, more, &[])
    }

    /// Starts rekindle with words that have no blanks in them, and others that may.
    pub(crate) fn rekindle(
        &self,
        words: &str,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Running {
        let arguments: Vec<&str> = words.split(' ').chain(more.iter().copied()).collect();
        let programs = std::env::var("PATH").unwrap();
        let path = format!("{}:{programs}", self.beside("bin"));
        let mut all = vec![
            ("PATH", path.as_str()),
            ("FAKE_AGENT_SCRIPT", self.scripts.path().to_str().unwrap()),
        ];
        all.extend(variables);
        self.project.start(&arguments, &all)
    }

    /// Runs the plan to its end.
    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        Ran::of(self.start(more))
    }

    /// Returns the details of all events of a kind, by task and attempt.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        let runs = self.project.path().join(".agent-memory/runs");
        let mut found = Vec::new();
        let mut open = vec![runs];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(
                    fs_err::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            } else if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                let log = fs_err::read_to_string(&path).unwrap();
                found.extend(log.lines().map(|line| serde_json::from_str(line).unwrap()));
            }
        }
        found.retain(|event: &Value| event["event_type"] == kind);
        let place = |event: &Value| {
            let attempt = event["details"]["attempt"].as_u64();
            (event["task_id"].as_str().map(str::to_owned), attempt)
        };
        found.sort_by_key(place);
        found
            .into_iter()
            .map(|event| event["details"].clone())
            .collect()
    }

    /// Returns what is kept of an attempt's output.
    pub(crate) fn output(&self, task: &str, attempt: u32) -> Utf8PathBuf {
        let runs = Utf8PathBuf::from_path_buf(self.project.path().join(".rekindle/runs")).unwrap();
        let run = runs.read_dir_utf8().unwrap().next().unwrap().unwrap();
        run.path().join(format!("{task}/{attempt}/output.log"))
    }

    /// Returns a file as it is on the branch.
    #[track_caller]
    pub(crate) fn landed(&self, file: &str) -> String {
        self.project.git(&["show", &format!("result:{file}")])
    }

    /// Returns the names of all files on the branch.
    pub(crate) fn tree(&self) -> String {
        let names = self
            .project
            .git(&["ls-tree", "-r", "--name-only", "result"]);
        names.trim_end().replace('\n', " ")
    }
}

impl Ran {
    /// Waits until it has ended.
    pub(crate) fn of(running: Running) -> Self {
        let output = running.finish().unwrap();
        Self {
            code: output.status.code(),
            said: text(&output.stderr),
        }
    }

    /// Expects that every task has landed.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.said);
        self
    }

    /// Expects that a person is needed.
    #[track_caller]
    pub(crate) fn stopped(self) -> Self {
        assert_eq!(self.code, Some(1), "{}", self.said);
        self
    }

    /// Expects lines among those that were said, in this order.
    #[track_caller]
    pub(crate) fn says(self, lines: &[&str]) -> Self {
        let mut rest = self.said.as_str();
        for line in lines {
            let at = rest.find(line);
            let at = at.unwrap_or_else(|| panic!("no `{line}` (or not there) in:\n{}", self.said));
            rest = &rest[at + line.len()..];
        }
        self
    }
}
