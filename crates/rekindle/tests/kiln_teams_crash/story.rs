//! A scene that is put back again and again, and what a resume comes to in it.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::conformance::Stage;
use rekindle_testkit::sandbox::{Files, Ran, quoted};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
/// The binary dies as by a fault; no image of it is wanted.
const WITHOUT_CORE: [&str; 4] = ["sh", "-c", r#"ulimit -c 0 && exec "$@""#, "sh"];
const ABORTED: i32 = 6;

/// Who does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    None,
    /// Writes a file named after its task.
    Writes,
    /// Leaves half of its work and fails.
    Fails,
}

pub(crate) struct Story {
    stage: Stage,
    agent: Agent,
}

/// What a story comes to.
#[derive(Debug)]
pub(crate) struct End {
    code: Option<i32>,
    /// Subject and files of each commit.
    history: Vec<String>,
    /// What git says of the user's own changes.
    status: String,
    files: Files,
    /// The task list by the tasks' names.
    tasks: BTreeMap<String, Value>,
    worktrees: Vec<String>,
}

impl Story {
    pub(crate) fn new(scene: &Value, agent: Agent) -> Result<Self> {
        let stage = Stage::new(BINARY, scene)?;
        let sandbox = stage.sandbox();
        // Changes of the user's, staged, not staged and new, none of them at a path of a task.
        sandbox.write("package.json", "{\"staged\": true}\n")?;
        sandbox.write("mine/staged.txt", "mine\n")?;
        stage.git(&["add", "package.json", "mine/staged.txt"])?;
        sandbox.write("package.json", "{\"and\": \"changed\"}\n")?;
        sandbox.write("mine/new.txt", "mine\n")?;
        let story = Self { stage, agent };
        story.shell("mkdir .pristine && cp -a home work worktrees .pristine/")?;
        Ok(story)
    }

    /// Returns what comes of the story where nothing dies.
    pub(crate) fn undisturbed(&self) -> Result<End> {
        self.put_back()?;
        let ran = self.resume(None)?;
        ensure!(ran.signal().is_none(), "{ran}");
        self.end(&ran)
    }

    /// Lets it die, and the recovery where that is wanted, and compares the end. Returns whether it died at all.
    pub(crate) fn dies_at(&self, place: &str, again: Option<&str>, calm: &End) -> Result<bool> {
        self.put_back()?;
        let first = self.resume(Some(place))?;
        if first.signal() != Some(ABORTED) {
            self.compare(calm, &first)?;
            return Ok(false);
        }
        let second = self.resume(again)?;
        let last = match second.signal() {
            Some(ABORTED) => self.resume(None)?,
            Some(_) | None => second,
        };
        self.compare(calm, &last)?;
        if again.is_none() {
            // What is over stays as it is.
            let over = self.resume(None)?;
            self.compare(calm, &over)?;
        }
        Ok(true)
    }

    fn put_back(&self) -> Result<()> {
        self.shell("rm -rf home work worktrees && cp -a .pristine/. .")
    }

    fn shell(&self, script: &str) -> Result<()> {
        let root = quoted(self.stage.sandbox().root().as_str());
        let script = format!("cd {root} && {script}");
        let typed = self.stage.sandbox().typed(&[]).from("/");
        let ran = typed.through(&["sh", "-c", &script]).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        Ok(())
    }

    fn resume(&self, place: Option<&str>) -> Result<Ran> {
        let work = match self.agent {
            Agent::None => vec!["--yes", "--no-agent"],
            Agent::Writes => vec![
                "--yes",
                "--agent-cmd",
                r#"cat >/dev/null; mkdir -p by-agent; echo "$REKINDLE_TASK" > "by-agent/$(echo "$REKINDLE_TASK" | tr : -)""#,
            ],
            Agent::Fails => vec![
                "--yes",
                "--agent-cmd",
                "cat >/dev/null; echo half > half.txt; exit 1",
            ],
        };
        let typed = self.stage.typed("resume", &work).through(&WITHOUT_CORE);
        Ok(match place {
            Some(place) => typed.with("REKINDLE_CRASH_AT", place).run()?,
            None => typed.run()?,
        })
    }

    fn end(&self, ran: &Ran) -> Result<End> {
        let stage = &self.stage;
        let log = stage.git(&["log", "--reverse", "--format=%s %T"])?;
        let mut tasks = BTreeMap::new();
        for file in fs_err::read_dir(stage.task_list())? {
            let task: Value = serde_json::from_slice(&fs_err::read(file?.path())?)?;
            let name = task["subject"].as_str().unwrap_or_default().to_owned();
            tasks.insert(name, task);
        }
        let mut worktrees: Vec<String> = Utf8Path::read_dir_utf8(&stage.root())?
            .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
            .collect::<std::io::Result<_>>()?;
        worktrees.sort();
        Ok(End {
            code: ran.code(),
            history: log.lines().map(str::to_owned).collect(),
            status: stage.git(&["status", "--porcelain", "-uall", "--", ":!.kiln"])?
                + &stage.git(&["diff", "--cached"])?,
            files: stage.sandbox().files()?.except(".rekindle").except(".git"),
            tasks,
            worktrees,
        })
    }

    fn compare(&self, calm: &End, ran: &Ran) -> Result<()> {
        let end = self.end(ran)?;
        let n_commits = self.stage.git(&["rev-list", "--count", "HEAD"])?;
        ensure!(
            end.history == calm.history,
            "{n_commits} commits, {:?} and not {:?}: {ran}",
            end.history,
            calm.history
        );
        ensure!(end.code == calm.code, "{ran}");
        ensure!(
            end.status == calm.status,
            "{} and not {}",
            end.status,
            calm.status
        );
        ensure!(
            end.tasks == calm.tasks,
            "{:?} and not {:?}: {ran}",
            end.tasks,
            calm.tasks
        );
        ensure!(
            end.worktrees == calm.worktrees,
            "{:?} and not {:?}",
            end.worktrees,
            calm.worktrees
        );
        let changes = calm.files.changes(&end.files);
        ensure!(changes.is_empty(), "{changes:?}: {}", self.stage.state()?);
        Ok(())
    }
}
