//! A kiln project on disk, with a scripted Maestro and Argus.

use anyhow::{Context, Result, ensure};
use camino::Utf8PathBuf;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::{Running, wait_until_gone};
use rekindle_testkit::sandbox::{LIMIT, Ran, Sandbox, Typed, quoted};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

pub(crate) const PLAN: &str = "# Master Plan\n\n## Phases\n\n### Phase 1: Storage\n**Goal:** keep entries.\n\n### Phase 2: Engine\n**Goal:** balance them.\n\n### Phase 3: Reports\n**Goal:** show them.\n\n## Risks\n- none\n";

/// Content that must be kept: unknown fields, odd spacing, a person's section, a commented tail.
pub(crate) const METADATA: &str = "# Kiln Project Memory\n\n## Metadata\nproject_name: ledger-api\ntest_runner:   vitest  \ndate_started: 2026-02-19\n";
pub(crate) const NOTES: &str =
    "## Notes of a person\n\tstatus: not a field\n* keep  this | as: it is\n\n";
pub(crate) const TAIL: &str = "\n# Optional sections — uncomment when needed\n# ## Reset Notes\n# next_action: (filled by /kiln:reset)\n";

/// Plays Maestro and Argus; `verdicts` next to the project has a line for each validation, and without
/// it a validation fails until something was corrected.
const AGENT: &str = r#"
memory=$(sed -n 's/^MEMORY_DIR: //p' "$root/prompt" | head -1)
mkdir -p .kiln/validation
case $REKINDLE_TASK in
phase-*)
  n=${REKINDLE_TASK#phase-}
  mkdir -p .kiln/prompts ".kiln/archive/phase_0$n"
  touch .kiln/prompts/task_01.md .kiln/prompts/task_02.md
  printf '# Phase %s State\nstatus: in_progress\nbranch: kiln/phase-%s\n\n## Events\n- [t] [Maestro] [setup] — begun\n- [t] [Codex] [task_success] — Task 01 succeeded\n- [t] [Maestro] [task_start] — Starting task 02\n' $n $n > .kiln/phase_${n}_state.md
  stop_here
  printf '# Phase %s Summary\n\n## What Was Built\nPart %s.\n' $n $n > ".kiln/archive/phase_0$n/phase_summary.md"
  printf '## Completed Tasks\n- part %s\n' $n > "$memory/phase-$n-results.md"
  ;;
correction-*)
  stop_here
  touch "$root/corrected"
  ;;
validation)
  if [ -f "$root/verdicts" ]; then
    verdict=$(head -1 "$root/verdicts")
    sed -i 1d "$root/verdicts"
  elif [ -f "$root/corrected" ]; then verdict=PASS
  else verdict=FAIL
  fi
  printf '# Validation Report\n\n## Correction Tasks\n### Correction Task 1: Totals\nFailure: totals\n\n## Verdict\n\n**%s**\n' $verdict > .kiln/validation/report.md
  ;;
esac
"#;

/// A project with its memory, and a scripted agent.
pub(crate) struct Project {
    pub(crate) sandbox: Sandbox,
    pub(crate) gate: Gate,
    agent: String,
}

impl Project {
    /// Lays out a project whose runtime fields and phases are these lines.
    pub(crate) fn new(runtime: &str, phases: &str) -> Result<Self> {
        let sandbox = Sandbox::named_in_memory(BINARY, "ledger-api")?;
        let gate = Gate::new(sandbox.root())?;
        let root = quoted(sandbox.root().as_str());
        // The agent stops at the gate if a file with the name of its task is there, and only once.
        let stop = format!(
            "stop_here() {{ [ -f \"$root/stop-$REKINDLE_TASK\" ] || return 0\nrm \"$root/stop-$REKINDLE_TASK\"\n{}}}",
            gate.script()
        );
        let script = format!(
            "root={root}\ncat > \"$root/prompt\"\necho $REKINDLE_ROLE $REKINDLE_TASK $REKINDLE_ATTEMPT >> \"$root/calls\"\n{stop}\n{AGENT}"
        );
        let agent = sandbox.script("agent.sh", &script)?;
        let project = Self {
            sandbox,
            gate,
            agent,
        };
        let memory = format!(
            "{METADATA}last_updated: 2026-02-20T08:15:00Z\n\n## Runtime\n{runtime}\n## Handoff\nhandoff_note: Plan approved; execution starting.\n\n\
             ## Phase Statuses\n# Add one line per phase during execution:\n{phases}\n{NOTES}## Resume Log\n- 2026-02-19T09:00:00Z Initialized via /kiln:start\n{TAIL}"
        );
        project.write_memory("MEMORY.md", &memory)?;
        project.write_memory("master-plan.md", PLAN)?;
        project.write_memory("vision.md", "# Project Vision\nA ledger.\n")?;
        project.write_memory(
            "decisions.md",
            "# Key Decisions\n\n## Format\nx\n\n## Integer cents\nDecision: cents\n",
        )?;
        Ok(project)
    }

    /// Returns the folder of the memory.
    pub(crate) fn memory_dir(&self) -> Utf8PathBuf {
        let encoded = self.sandbox.project().as_str().replace('/', "-");
        self.sandbox
            .root()
            .join(format!("home/.claude/projects/{encoded}/memory"))
    }

    pub(crate) fn write_memory(&self, name: &str, text: &str) -> Result<()> {
        fs_err::create_dir_all(self.memory_dir())?;
        Ok(fs_err::write(self.memory_dir().join(name), text)?)
    }

    /// Returns MEMORY.md.
    pub(crate) fn memory(&self) -> Result<String> {
        Ok(fs_err::read_to_string(self.memory_dir().join("MEMORY.md"))?)
    }

    /// Returns the value of a field, or its block.
    pub(crate) fn field(&self, key: &str) -> Result<String> {
        let memory = self.memory()?;
        let line = memory
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        Ok(line
            .with_context(|| format!("no {key} in {memory}"))?
            .trim()
            .to_owned())
    }

    /// Checks that the content that must be kept was kept.
    pub(crate) fn unrelated_is_untouched(&self) -> Result<()> {
        let memory = self.memory()?;
        ensure!(memory.starts_with(METADATA), "{memory}");
        for part in [NOTES, TAIL] {
            ensure!(memory.contains(part), "{part:?} in {memory}");
        }
        Ok(())
    }

    /// Sets the verdicts of the next validations.
    pub(crate) fn verdicts(&self, verdicts: &[&str]) -> Result<()> {
        Ok(fs_err::write(
            self.sandbox.root().join("verdicts"),
            verdicts.join("\n") + "\n",
        )?)
    }

    /// Makes the agent stop in the middle of a task.
    pub(crate) fn stop_in(&self, task: &str) -> Result<()> {
        Ok(fs_err::write(
            self.sandbox.root().join(format!("stop-{task}")),
            "",
        )?)
    }

    /// Returns the agents that were started since the last call, one on each line.
    pub(crate) fn calls(&self) -> Result<String> {
        let path = self.sandbox.root().join("calls");
        let calls = fs_err::read_to_string(&path)?;
        fs_err::write(&path, "")?;
        Ok(calls)
    }

    /// Returns the prompt of the last agent.
    pub(crate) fn prompt(&self) -> Result<String> {
        Ok(fs_err::read_to_string(self.sandbox.root().join("prompt"))?)
    }

    /// Returns a resume with the scripted agent, at a time of this day.
    pub(crate) fn resume(&self, time: &str) -> Typed<'_> {
        let args = [
            "resume",
            "--protocol",
            "kiln",
            "--yes",
            "--agent-cmd",
            &self.agent,
        ];
        self.sandbox
            .typed(&args)
            .at(&format!("2026-02-20T{time}:00Z"))
    }

    /// Returns the same, with a person who is asked.
    pub(crate) fn asked(&self, time: &str) -> Typed<'_> {
        let args = ["resume", "--protocol", "kiln", "--agent-cmd", &self.agent];
        self.sandbox
            .typed(&args)
            .at(&format!("2026-02-20T{time}:00Z"))
    }

    /// Returns a resume without an agent.
    pub(crate) fn alone(&self, args: &[&str]) -> Typed<'_> {
        let args: Vec<&str> = ["resume", "--protocol", "kiln"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        self.sandbox.typed(&args).at("2026-02-20T12:00:00Z")
    }

    /// Kills a resume and the agent that waits at the gate, as a power cut would.
    pub(crate) fn kill(&self, running: Running, agent: u32) -> Result<()> {
        running.kill()?;
        let script = format!("kill -9 {agent}");
        let killed = self
            .sandbox
            .typed(&[])
            .through(&["sh", "-c", &script])
            .run()?;
        ensure!(killed.code() == Some(0), "{killed}");
        Ok(wait_until_gone(agent, LIMIT)?)
    }

    /// Returns what a run printed on standard output, with the place of the project replaced.
    pub(crate) fn said(&self, ran: &Ran) -> String {
        out(ran).replace(self.sandbox.project().as_str(), "[PROJECT]")
    }

    pub(crate) fn facts(&self) -> Result<Value> {
        let ran = self
            .sandbox
            .run(&["inspect", "--protocol", "kiln", "--json"])?;
        Ok(ran.json()?["facts"].take())
    }
}

/// Returns what a run printed on standard output.
pub(crate) fn out(ran: &Ran) -> String {
    ran.stdout().to_string()
}
