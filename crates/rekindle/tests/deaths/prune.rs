//! Records of finished runs, merged branches and rescues that are pruned: all of them, however often it dies.

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::{BINARY, shell};

pub(crate) struct Prune {
    sandbox: Sandbox,
}

impl Prune {
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write(
            "plan.json",
            r#"{"title": "T", "tasks": [{"id": "A", "title": "A"}]}"#,
        )?;
        let init = "git init -q -b main && git add plan.json && git commit -qm start";
        shell(&sandbox, init)?;
        for agent in [
            "cat > /dev/null; echo work > work.txt",
            "cat > /dev/null; echo half > half.txt; exit 1",
        ] {
            let run = ["run", "plan.json", "--yes", "--retries", "0"];
            let run = [&run[..], &["--agent-cmd", agent]].concat();
            sandbox.typed(&run).without("REKINDLE_NOW").run()?;
            // What failed is over as well, and half of it is in a rescue.
            sandbox.run(&["cancel", "--yes"])?;
        }
        let cleaned = sandbox.run(&["clean", "--yes"])?;
        ensure!(cleaned.stdout().contains("saved as refs/"), "{cleaned}");
        let merge = "git for-each-ref --format='%(refname)' refs/heads/rekindle | xargs -n1 git merge -q -m merge";
        shell(&sandbox, merge)?;
        Ok(Self { sandbox })
    }
}

impl Story for Prune {
    /// What is left of runs, branches and rescues, and the drafts.
    type End = String;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        let far = "2099-01-01T00:00:00Z";
        self.sandbox.typed(&["prune", "--yes"]).at(far)
    }

    fn end(&self) -> Result<Self::End> {
        let left = "ls -A .agent-memory/runs .rekindle/runs .rekindle/journal .rekindle/agreed; git for-each-ref refs/heads refs/rekindle; git fsck --no-progress";
        shell(&self.sandbox, left)
    }
}
