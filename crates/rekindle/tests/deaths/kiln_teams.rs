//! Waves of kiln-teams: landings of every kind, halts, retries, and waves that chance has laid out.
//!
//! What is left in the end must be what a run leaves that was not disturbed: the same history, no
//! task twice, none lost, and every file of the user's as it was.

use std::collections::BTreeMap;

use anyhow::Result;
use camino::Utf8Path;
use rekindle_testkit::conformance::Stage;
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Files, Ran, Sandbox, Typed};
use rekindle_testkit::waves::{dead, idle, landed, ready, scene, with};
use serde_json::{Value, json};

use crate::BINARY;

/// Who does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    None,
    /// Writes a file named after its task.
    Writes,
    /// Leaves half of its work and fails.
    Fails,
}

pub(crate) struct Wave {
    stage: Stage,
    agent: Agent,
    /// Whether the session that nothing disturbs halts.
    is_halted: bool,
}

/// What a wave comes to.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    /// Subject and files of each commit; with an agent, all subjects and the files of the last.
    history: Vec<String>,
    /// What git says of the user's own changes.
    status: String,
    files: Files,
    /// The task list by the tasks' names.
    tasks: BTreeMap<String, Value>,
    worktrees: Vec<String>,
}

impl Wave {
    pub(crate) fn new(scene: &Value, agent: Agent) -> Result<Self> {
        let stage = Stage::new(BINARY, scene)?;
        let sandbox = stage.sandbox();
        // Changes of the user's, staged, not staged and new, none of them at a path of a task.
        sandbox.write("package.json", "{\"staged\": true}\n")?;
        sandbox.write("mine/staged.txt", "mine\n")?;
        stage.git(&["add", "package.json", "mine/staged.txt"])?;
        sandbox.write("package.json", "{\"and\": \"changed\"}\n")?;
        sandbox.write("mine/new.txt", "mine\n")?;
        let is_halted = agent == Agent::Fails;
        Ok(Self {
            stage,
            agent,
            is_halted,
        })
    }

    pub(crate) fn with_every_kind_of_change() -> Result<Self> {
        let change = json!({
            "write": {"src/index.js": "2\n", "lib/a/b.js": "b\n"},
            "delete": ["src/legacy.js"],
            "rename": [["src/log.js", "src/util/log.js"]],
        });
        let tasks = [
            landed(1, 1, json!({"src/first.js": "1\n"})),
            with(ready(1, 2, json!({})), json!({"change": change})),
            with(
                ready(1, 3, json!({"README.md": "3\n", "c.js": "c\n"})),
                json!({"integrated": "partial"}),
            ),
            dead(1, 4),
        ];
        Self::new(&scene(&tasks), Agent::None)
    }

    pub(crate) fn with_a_halt() -> Result<Self> {
        let row = [
            "P1-T12",
            "1",
            "2",
            "2026-02-16T13:00:00Z",
            "failed",
            "retry",
        ];
        let tasks = [ready(1, 1, json!({"src/a.js": "a\n"})), dead(1, 2)];
        let scene = with(scene(&tasks), json!({"state": {"ledger": [row]}}));
        let wave = Self::new(&scene, Agent::None)?;
        Ok(Self {
            is_halted: true,
            ..wave
        })
    }

    pub(crate) fn with_a_retry() -> Result<Self> {
        Self::new(&scene(&[dead(1, 1), idle(2, 1)]), Agent::Writes)
    }

    pub(crate) fn with_a_failure() -> Result<Self> {
        Self::new(&scene(&[dead(1, 1)]), Agent::Fails)
    }
}

impl Story for Wave {
    type End = End;

    fn sandbox(&self) -> &Sandbox {
        self.stage.sandbox()
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
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
        self.stage.typed("resume", &work)
    }

    fn is_good(&self, ran: &Ran) -> bool {
        ran.code() == Some(i32::from(self.is_halted))
    }

    fn is_waited_for(&self) -> bool {
        false
    }

    fn is_by_chance(&self) -> bool {
        self.agent != Agent::None
    }

    fn end(&self) -> Result<End> {
        let stage = &self.stage;
        let mut history: Vec<String> = match self.agent {
            Agent::None => stage.git(&["log", "--reverse", "--format=%s %T"])?,
            Agent::Writes | Agent::Fails => {
                stage.git(&["log", "--format=%s"])? + &stage.git(&["rev-parse", "HEAD^{tree}"])?
            }
        }
        .lines()
        .map(str::to_owned)
        .collect();
        if self.agent != Agent::None {
            history.sort();
        }
        let mut tasks = BTreeMap::new();
        for file in fs_err::read_dir(stage.task_list())? {
            let file = file?;
            if file.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let task: Value = serde_json::from_slice(&fs_err::read(file.path())?)?;
            let name = task["subject"].as_str().unwrap_or_default().to_owned();
            tasks.insert(name, task);
        }
        let mut worktrees: Vec<String> = Utf8Path::read_dir_utf8(&stage.root())?
            .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
            .collect::<std::io::Result<_>>()?;
        worktrees.sort();
        let files = stage.sandbox().files()?.except(".rekindle").except(".git");
        let files = match self.agent {
            Agent::None => files,
            // A worker that dies has cost the task one of its retries, as the ledger says, what it
            // left is kept beside what the next one leaves, and the task may land after another.
            Agent::Writes | Agent::Fails => files
                .without_lines(".kiln/STATE.md", "| P")
                .without_lines(".kiln/STATE.md", "- **Last Completed Action:**")
                .except_names("attempt-"),
        };
        Ok(End {
            history,
            status: stage.git(&["status", "--porcelain", "-uall", "--", ":!.kiln"])?
                + &stage.git(&["diff", "--cached"])?,
            files,
            tasks,
            worktrees,
        })
    }
}
