//! A run whose plan file was edited: the new plan is taken over at once or not at all, and then done.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::repository::WRITE;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::{BINARY, shell};

pub(crate) struct UpdatePlan {
    sandbox: Sandbox,
}

impl UpdatePlan {
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write(
            "plan.md",
            "## T1: Do A\n## T2: Do B\nVerify: `false`\n## T3: Do C\n",
        )?;
        sandbox.write("README", "hello\n")?;
        let init = "git init -q -b main && git add README && git commit -qm start";
        shell(&sandbox, init)?;
        let run = [
            "run",
            "plan.md",
            "--branch",
            "result",
            "--yes",
            "--retries",
            "0",
        ];
        let run = [&run[..], &["--jobs", "1", "--agent-cmd", WRITE]].concat();
        let ran = sandbox.typed(&run).without("REKINDLE_NOW").run()?;
        ensure!(ran.stderr().contains("blocked T2"), "{ran}");
        sandbox.write(
            "plan.md",
            "## T1: Do A\n## T2: Do B\nVerify: `true`\n## T4: Do D\n",
        )?;
        Ok(Self { sandbox })
    }
}

impl Story for UpdatePlan {
    /// The commits of the branch by their titles, and the graph's tasks.
    type End = BTreeMap<String, String>;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        let words = ["resume", "--yes", "--update-plan", "--agent-cmd", WRITE];
        self.sandbox.typed(&words).without("REKINDLE_NOW")
    }

    fn end(&self) -> Result<Self::End> {
        let landed = "git log --format=%s main..result | sort";
        let graph =
            "grep -h -e '\"id\"' -e '\"status\"' -e 'true\"' .agent-memory/runs/2*/task-graph.json";
        let plan = "grep -h -e '^## ' -e Verify .agent-memory/runs/2*/plan.md";
        let contracts = "cd .agent-memory/runs/2*/tasks && ls";
        let mut end = Self::End::new();
        for line in [landed, graph, plan, contracts] {
            end.insert(line.to_owned(), shell(&self.sandbox, line)?);
        }
        Ok(end)
    }
}
