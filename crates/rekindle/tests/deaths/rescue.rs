//! A rescue that is restored: into another folder after each death, since nothing is written over.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::{BINARY, shell};

pub(crate) struct Restore {
    sandbox: Sandbox,
    rescue: String,
}

impl Restore {
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write(
            "plan.json",
            r#"{"title": "T", "tasks": [{"id": "A", "title": "A"}]}"#,
        )?;
        let init = "git init -q -b main && git add plan.json && git commit -qm start";
        shell(&sandbox, init)?;
        let agent =
            "cat > /dev/null; mkdir deep; echo half > deep/half.txt; ln -s deep link; exit 1";
        let run = [
            "run",
            "plan.json",
            "--branch",
            "result",
            "--yes",
            "--retries",
            "0",
        ];
        let run = [&run[..], &["--agent-cmd", agent]].concat();
        let ran = sandbox.typed(&run).without("REKINDLE_NOW").run()?;
        let cleaned = sandbox.run(&["clean", "--yes"])?;
        ensure!(
            cleaned.stdout().contains("saved as refs/"),
            "{ran}{cleaned}"
        );
        let named = "git for-each-ref --format='%(refname)' refs/rekindle/rescue";
        let rescue = shell(&sandbox, named)?.trim().to_owned();
        Ok(Self { sandbox, rescue })
    }
}

impl Story for Restore {
    /// The files of the folder that was restored last, by name, and the drafts that are left.
    type End = BTreeMap<String, String>;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, session: u32) -> Typed<'_> {
        let into = format!("out-{session}");
        self.sandbox
            .typed(&["rescue", "restore", &self.rescue, "--yes", "--into", &into])
    }

    fn end(&self) -> Result<Self::End> {
        let last = shell(&self.sandbox, "ls -d out-* | tail -n 1")?;
        let names = format!("cd {} && find . ! -type d | sort", last.trim());
        let mut end = Self::End::new();
        // What one that died had begun is removed by the next.
        let drafts = shell(&self.sandbox, "ls -A | grep '^.rekindle-new-' || true")?;
        end.insert("drafts".to_owned(), drafts);
        for name in shell(&self.sandbox, &names)?.lines() {
            let show = format!(
                "cd {} && cat {name} 2> /dev/null || readlink {name}",
                last.trim()
            );
            let text = shell(&self.sandbox, &show).with_context(|| name.to_owned())?;
            end.insert(name.to_owned(), text);
        }
        Ok(end)
    }
}
