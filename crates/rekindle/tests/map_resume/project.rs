//! A MAP project on disk, with a scripted actor, monitor and researcher.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::sandbox::{Files, Ran, Sandbox, Typed, quoted};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

pub(crate) const STATE: &str = ".map/main/step_state.json";
pub(crate) const PLAN: &str = ".map/main/task_plan_main.md";
pub(crate) const BLUEPRINT: &str = ".map/main/blueprint.json";

const PLAN_TEXT: &str = "# Task Plan: Ledger\n\n## Overview\n- Goal: Keep the books\n- Source spec: .map/main/spec_main.md\n\n## Subtasks\n\n\
    ### ST-001: Entries\n- **Status:** complete\n- **AAG Contract:** Entries -> store -> kept\n\n\
    ### ST-002: Balance\n- **Status:** in_progress\n- **AAG Contract:** Balance -> sum -> zero\n\n\
    ### ST-003: Report\n- **Status:** pending\n- **AAG Contract:** Report -> print -> shown\n\n## Notes\n- none\n";

/// Plays everybody. `verdicts` beside the project has a line for each judgement, and without it all
/// is well; `act` is what somebody does besides; `mute` makes the monitor leave nothing, `idle` the actor do nothing.
const AGENT: &str = r#"
case $REKINDLE_ROLE in
research-agent)
  mkdir -p .map/main/research
  printf '{"status": "OK", "confidence": 0.9, "search_stats": {"files_scanned": 1, "total_matches_found": 0, "results_truncated": false}, "relevant_locations": []}' > ".map/main/research/${REKINDLE_TASK}__actor.md"
  ;;
test-writer)
  mkdir -p tests && echo "test of $REKINDLE_TASK, $REKINDLE_ATTEMPT" > "tests/$REKINDLE_TASK.txt"
  ;;
actor)
  [ -f "$root/idle" ] || { mkdir -p src && echo "work on $REKINDLE_TASK" > "src/$REKINDLE_TASK.txt"; }
  ;;
monitor|test-gate)
  verdict=$(sed -n 's/^Write your verdict to `\([^`]*\)`.*/\1/p' "$root/prompt")
  if [ -f "$root/mute" ]; then rm "$root/mute"; exit 0; fi
  said='{"valid": true, "summary": "fine", "issues": [], "files_changed": ["src/'$REKINDLE_TASK'.txt"]}'
  if [ -s "$root/verdicts" ]; then
    said=$(head -1 "$root/verdicts")
    sed -i 1d "$root/verdicts"
  fi
  printf '%s' "$said" > "$verdict"
  ;;
esac
"#;

/// A project with an interrupted workflow, and an agent to let loose on it.
pub(crate) struct Project {
    pub(crate) sandbox: Sandbox,
    agent: String,
}

impl Project {
    /// Lays out a project: ST-001 is done, ST-002 is at the actor, ST-003 is to come.
    pub(crate) fn new() -> Result<Self> {
        let project = Self::empty()?;
        project.sandbox.write(PLAN, PLAN_TEXT)?;
        project.sandbox.write(BLUEPRINT, blueprint().to_string())?;
        project.state(&state())?;
        Ok(project)
    }

    /// Lays out a repository without anything of MAP's.
    pub(crate) fn empty() -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        let root = quoted(sandbox.root().as_str());
        let rekindle = quoted(BINARY);
        let script = format!(
            "root={root}\nrekindle={rekindle}\ncat > \"$root/prompt\"\nif [ -f \"$root/act\" ]; then . \"$root/act\"; fi\necho $REKINDLE_ROLE $REKINDLE_TASK $REKINDLE_ATTEMPT >> \"$root/calls\"\n{AGENT}"
        );
        let agent = sandbox.script("agent.sh", &script)?;
        let project = Self { sandbox, agent };
        // A fixed date, so that two projects have the same commit.
        project.shell(
            "export GIT_AUTHOR_DATE=2026-01-19T00:00:00Z GIT_COMMITTER_DATE=2026-01-19T00:00:00Z\ngit init -q -b main && git commit -q --allow-empty -m start",
        )?;
        Ok(project)
    }

    pub(crate) fn shell(&self, script: &str) -> Result<String> {
        let ran = self
            .sandbox
            .typed(&[])
            .through(&["sh", "-c", script])
            .run()?;
        ensure!(ran.code() == Some(0), "{script}: {ran}");
        Ok(ran.stdout().into_owned())
    }

    pub(crate) fn state(&self, state: &Value) -> Result<()> {
        Ok(self.sandbox.write(STATE, state.to_string())?)
    }

    pub(crate) fn read_state(&self) -> Result<Value> {
        let text = self.sandbox.read(STATE)?;
        serde_json::from_str(&text).context(text)
    }

    /// Says what the next judgements are.
    pub(crate) fn verdicts(&self, verdicts: &[&str]) -> Result<()> {
        let path = self.sandbox.root().join("verdicts");
        Ok(fs_err::write(path, verdicts.join("\n") + "\n")?)
    }

    /// Tells the agent something by a file beside the project.
    pub(crate) fn sign(&self, name: &str) -> Result<()> {
        Ok(fs_err::write(self.sandbox.root().join(name), "")?)
    }

    /// Has everybody who is sent off run these commands of a shell first.
    pub(crate) fn act(&self, script: &str) -> Result<()> {
        Ok(fs_err::write(self.sandbox.root().join("act"), script)?)
    }

    /// Returns who was called for what, one a line, since the last time.
    pub(crate) fn calls(&self) -> Result<String> {
        let path = self.sandbox.root().join("calls");
        let calls = fs_err::read_to_string(&path).unwrap_or_default();
        fs_err::write(&path, "")?;
        Ok(calls)
    }

    /// Returns a resume with the scripted agent.
    pub(crate) fn resume(&self, args: &[&str]) -> Typed<'_> {
        let common = ["resume", "--protocol", "map", "--agent-cmd", &self.agent];
        let args: Vec<&str> = common.iter().chain(args).copied().collect();
        self.sandbox.typed(&args)
    }

    /// Returns a resume without an agent.
    pub(crate) fn alone(&self, args: &[&str]) -> Typed<'_> {
        let common = ["resume", "--protocol", "map", "--no-agent"];
        let args: Vec<&str> = common.iter().chain(args).copied().collect();
        self.sandbox.typed(&args)
    }

    pub(crate) fn facts(&self) -> Result<Value> {
        let ran = self
            .sandbox
            .run(&["inspect", "--protocol", "map", "--json"])?;
        Ok(ran.json()?["facts"].take())
    }

    /// Checks that nothing but our own folder has changed since `before`.
    pub(crate) fn is_unchanged(&self, ran: &Ran, before: &Files) -> Result<()> {
        let own = [".rekindle", ".git"];
        let strip = |files: &Files| {
            own.iter()
                .fold(files.clone(), |files, folder| files.except(folder))
        };
        let changes = strip(before).changes(&strip(&self.sandbox.files()?));
        ensure!(changes.is_empty(), "{changes:?} after {ran}");
        Ok(())
    }
}

/// Returns the state of the laid out workflow.
pub(crate) fn state() -> Value {
    json!({
        "workflow": "map-efficient",
        "started_at": "2026-01-20T09:00:00+00:00",
        "current_subtask_id": "ST-002",
        "subtask_index": 1,
        "subtask_sequence": ["ST-001", "ST-002", "ST-003"],
        "current_step_id": "2.3",
        "current_step_phase": "ACTOR",
        "completed_steps": ["2.2"],
        "pending_steps": ["2.3", "2.4"],
        "plan_approved": true,
        "workflow_status": "IN_PROGRESS",
        "subtask_results": {"ST-001": {"subtask_id": "ST-001", "files_changed": ["src/ST-001.txt"], "status": "valid", "summary": "kept"}},
        "hook_injection": {"status": "ok"}
    })
}

fn blueprint() -> Value {
    let subtask = |id: &str, title: &str, needs: &[&str]| {
        json!({"id": id, "title": title, "description": format!("the {title}"), "dependencies": needs,
            "affected_files": [format!("src/{id}.txt")], "validation_criteria": [format!("VC1 [AC-1]: {title} holds")]})
    };
    json!({
        "summary": "Keep the books",
        "hard_constraints": [{"id": "HC-1", "description": "No third-party dependencies"}],
        "subtasks": [subtask("ST-001", "Entries", &[]), subtask("ST-002", "Balance", &["ST-001"]), subtask("ST-003", "Report", &["ST-002"])]
    })
}

/// Returns what a run printed on standard output.
pub(crate) fn out(ran: &Ran) -> String {
    ran.stdout().into_owned()
}
