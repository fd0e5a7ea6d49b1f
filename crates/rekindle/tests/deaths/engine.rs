//! A run of the engine: three tasks, of which one builds on another.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::repository::WRITE;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::{BINARY, shell};

const PLAN: &str = r#"{"title": "Test", "tasks": [
    {"id": "A", "title": "Do A", "dependencies": []},
    {"id": "B", "title": "Do B", "dependencies": ["A"]},
    {"id": "C", "title": "Do C", "dependencies": []}]}"#;

/// First attempts that fail and leave worktrees in which the next can not just begin: one on a branch
/// without a commit, and one that is locked as a killed `git worktree add` leaves it, with an index that
/// is none and a lock on it.
const BREAK: &str = r#"case "$REKINDLE_TASK$REKINDLE_ATTEMPT" in
    A1) cat > /dev/null; git checkout -q --orphan lost; echo half > half.txt; exit 1;;
    B1) cat > /dev/null; git worktree lock --reason initializing "$PWD"; cd "$(git rev-parse --git-dir)"
        echo none > index; : > index.lock; exit 1;;
    esac
    "#;

pub(crate) struct Engine {
    sandbox: Sandbox,
    agent: String,
    /// Where programs are looked for, if not where they are.
    path: Option<String>,
    /// Whether every task gets a worktree of its own.
    is_fresh: bool,
    /// Whether no agent may be started again that had ended.
    is_once: bool,
}

/// What the branch holds, by task: how often it landed, what it wrote, how often it was said to be complete.
type End = BTreeMap<String, (usize, String, usize)>;

impl Engine {
    pub(crate) fn new() -> Result<Self> {
        Self::of(WRITE.to_owned())
    }

    /// Counts the agents that have done their work: whatever dies, none is needed for the same work again.
    pub(crate) fn with_agents_that_end_once() -> Result<Self> {
        Ok(Self {
            is_once: true,
            ..Self::new()?
        })
    }

    /// Lets attempts break their worktrees, so that these are rescued and put aside.
    pub(crate) fn with_broken_worktrees() -> Result<Self> {
        Self::of(format!("{BREAK}{WRITE}"))
    }

    /// Has worktrees with a setup, a copy, a link and a submodule, all of which end up in the work.
    pub(crate) fn with_furnished_worktrees() -> Result<Self> {
        let agent = r#"cat > /dev/null; { echo "$REKINDLE_TASK"; cat .env .made linked/f lib/f; } > "$REKINDLE_TASK.txt""#;
        let engine = Self::of(agent.to_owned())?;
        let section = "[worktree]\nsetup = [\"echo made > .made\"]\nsetup_when = [\"README\"]\n\
                       copy = [\".env\"]\nlink = [\"linked\"]\n";
        engine.sandbox.write(".rekindle/config.toml", section)?;
        engine.sandbox.write(".env", "KEY=a-secret-1\n")?;
        engine.sandbox.write("linked/f", "linked\n")?;
        let made =
            "printf '.env\\n.made\\nlinked/\\n.rekindle\\n' > .gitignore; L=$PWD/.git/lib; mkdir $L
            git init -q $L && echo sub > $L/f && git -C $L add f && git -C $L commit -qm lib
            git -c protocol.file.allow=always submodule --quiet add $L lib
            git add .gitignore && git commit -qm furnished && mv $L $L.away";
        shell(&engine.sandbox, made)?;
        Ok(engine)
    }

    /// Has a git that is killed the first time it removes a worktree, when `.git` is gone from it.
    pub(crate) fn with_removals_cut_short() -> Result<Self> {
        let engine = Self::new()?;
        let folder = engine.sandbox.root().join("bin");
        fs_err::create_dir(&folder)?;
        let real = shell(&engine.sandbox, "command -v git")?;
        let cut = format!(
            "#!/bin/sh\ncase \" $* \" in *' worktree remove '*)\n\
             for last; do :; done\n\
             if [ -e \"$last/.git\" ] && mkdir \"{folder}/cut-${{last##*/}}\" 2>/dev/null\n\
             then rm -f \"$last/.git\"; kill -9 $$; fi;;\nesac\nexec {} \"$@\"\n",
            real.trim()
        );
        let git = folder.join("git");
        rekindle_testkit::process::write_script(git.as_std_path(), &cut)?;
        let usual = shell(&engine.sandbox, "printf %s \"$PATH\"")?;
        Ok(Self {
            path: Some(format!("{folder}:{usual}")),
            is_fresh: true,
            ..engine
        })
    }

    fn of(agent: String) -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        sandbox.write("plan.json", PLAN)?;
        sandbox.write("README", "hello\n")?;
        let init = "git init -q -b main && git add README && git commit -qm start";
        shell(&sandbox, init)?;
        Ok(Self {
            sandbox,
            agent,
            path: None,
            is_fresh: false,
            is_once: false,
        })
    }
}

impl Story for Engine {
    type End = End;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        let runs = self.sandbox.path(".agent-memory/runs");
        let is_made = |name: &str| !name.starts_with('.');
        let mut names = runs.read_dir_utf8().into_iter().flatten().flatten();
        let fresh: &[&str] = if self.is_fresh {
            &["--fresh-worktrees"]
        } else {
            &[]
        };
        // A run that died before its folder was there is begun anew.
        let typed = if names.any(|entry| is_made(entry.file_name())) {
            let args = ["resume", "--yes", "--agent-cmd", &self.agent];
            self.sandbox.typed(&[&args[..], fresh].concat())
        } else {
            let branch = ["--branch", "result", "--yes", "--agent-cmd", &self.agent];
            let args = [&["run", "plan.json"], &branch[..], fresh].concat();
            self.sandbox.typed(&args)
        };
        let typed = typed.without("REKINDLE_NOW");
        match &self.path {
            Some(path) => typed.with("PATH", path),
            None => typed,
        }
    }

    /// Workers outlive their orchestrator, and the next one has to cope with that.
    fn is_waited_for(&self) -> bool {
        false
    }

    fn is_by_chance(&self) -> bool {
        true
    }

    fn end(&self) -> Result<End> {
        let format = "%(trailers:key=Rekindle-Task,valueonly,separator=)";
        let log = shell(
            &self.sandbox,
            &format!("git log --format='{format}' main..result"),
        )?;
        let logs = shell(
            &self.sandbox,
            "cat .agent-memory/runs/*/events/*.jsonl .agent-memory/runs/*/events/*/*.jsonl 2>/dev/null || true",
        )?;
        let mut end = End::new();
        for task in ["A", "B", "C"] {
            let n_landed = log.lines().filter(|line| *line == task).count();
            let written = shell(&self.sandbox, &format!("git show result:{task}.txt"))?;
            let said = |line: &&str| {
                line.contains("\"event_type\":\"task_completed\"")
                    && line.contains(&format!("\"task_id\":\"{task}\""))
            };
            let n_said = logs.lines().filter(said).count();
            let n_ended = logs.lines().filter(|line| {
                line.contains("\"event_type\":\"agent_ended\"")
                    && line.contains(&format!("\"task_id\":\"{task}\""))
            });
            let n_ended = n_ended.count();
            ensure!(
                !self.is_once || n_ended == 1,
                "{n_ended} agents ended for {task}"
            );
            end.insert(task.to_owned(), (n_landed, written, n_said));
        }
        let files = shell(&self.sandbox, "git log --all -m --format= --name-only")?;
        let is_brought = |name: &&str| [".env", ".made", "linked", "linked/f"].contains(name);
        let leaked: Vec<&str> = files.lines().filter(is_brought).collect();
        ensure!(leaked.is_empty(), "in git: {leaked:?}");
        let left = shell(&self.sandbox, "git for-each-ref refs/rekindle/work")?;
        ensure!(left.is_empty(), "deliveries are left: {left}");
        let worktrees = shell(&self.sandbox, "git worktree list")?;
        // What was put aside is for a person to look at.
        // Those of the pool stay for the next run.
        let is_left = |line: &&str| !line.contains(".left-") && !line.contains("/worktrees/pool/");
        ensure!(
            worktrees.lines().filter(is_left).count() == 1,
            "{worktrees}"
        );
        let inspected = self.sandbox.run(&["inspect", "--json"])?;
        ensure!(
            inspected.stdout().contains("\"incomplete\":[]"),
            "{inspected}"
        );
        Ok(end)
    }
}
