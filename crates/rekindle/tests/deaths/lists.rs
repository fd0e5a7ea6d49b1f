//! The tasks of a list: as a run in worktrees, and one after another in the checkout.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::{BINARY, shell};

const FILE: &str = "specs/001-a/tasks.md";
const TASKS: &str = "# Tasks: A\n\n- [ ] T001 first\n- [ ] T002 [P] second\n- [ ] T003 [P] third\n";
/// Can do the work again without harm.
const AGENT: &str = r#"cat > /dev/null; echo done > "$REKINDLE_TASK.txt""#;

/// Where the work is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Worktrees,
    Checkout,
}

pub(crate) struct List {
    sandbox: Sandbox,
    place: Place,
}

/// The list, what each task wrote, and how often it landed.
type End = (String, BTreeMap<String, (String, usize)>);

impl List {
    pub(crate) fn new(place: Place) -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write(".specify/memory/constitution.md", "# Rules\n")?;
        let init = "git init -q -b main && git add .specify && git commit -qm start";
        shell(&sandbox, init)?;
        sandbox.write(FILE, TASKS)?;
        Ok(Self { sandbox, place })
    }
}

impl Story for List {
    type End = End;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        let mut args = vec!["resume", "spec-kit:001-a", "--yes", "--agent-cmd", AGENT];
        match self.place {
            Place::Worktrees => args.extend(["--branch", "result"]),
            Place::Checkout => args.push("--in-place"),
        }
        self.sandbox.typed(&args).without("REKINDLE_NOW")
    }

    /// Workers outlive their orchestrator, and the next one has to cope with that.
    fn is_waited_for(&self) -> bool {
        self.place == Place::Checkout
    }

    fn is_by_chance(&self) -> bool {
        self.place == Place::Worktrees
    }

    fn end(&self) -> Result<End> {
        let show = |path: &str| match self.place {
            Place::Worktrees => shell(&self.sandbox, &format!("git show result:{path}")),
            Place::Checkout => shell(&self.sandbox, &format!("cat {path}")),
        };
        let format = "%(trailers:key=Rekindle-Task,valueonly,separator=)";
        let log = match self.place {
            Place::Worktrees => shell(
                &self.sandbox,
                &format!("git log --format='{format}' main..result"),
            )?,
            Place::Checkout => String::new(),
        };
        let mut tasks = BTreeMap::new();
        for task in ["T001", "T002", "T003"] {
            let n_landed = log.lines().filter(|line| *line == task).count();
            let written = show(&format!("{task}.txt"))?;
            tasks.insert(task.to_owned(), (written, n_landed));
        }
        if self.place == Place::Worktrees {
            let left = self.sandbox.read(FILE)?;
            ensure!(left == TASKS, "the checkout was changed: {left}");
        }
        Ok((show(FILE)?, tasks))
    }
}
