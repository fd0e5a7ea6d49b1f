//! Every MAP command that writes, each as a whole: all of it or nothing.

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Files, Ran, Sandbox, Typed};
use serde_json::{Value, json};

use crate::BINARY;

/// A command that may write, and does not; it finishes what another has begun.
const IDLE: &[&str] = &["update_plan_status", "ST-999", "x"];
const FOLDER: &str = ".map/default";

/// A command, and the state in which it writes as much as it can.
pub(crate) struct Command {
    sandbox: Sandbox,
    words: &'static [&'static str],
    input: &'static str,
    before: Files,
}

impl Command {
    /// Returns every command that writes, in a project of its own.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let (working, over) = (working(), over());
        let commands: [(&[&str], &Value); 14] = [
            (&["monitor_failed", "--feedback", "BLOCKER: x"], &working),
            (&["wave_monitor_failed", "ST-002"], &working),
            (&["restore_deferred_yagni", "YG-001"], &working),
            (&["initialize", "x"], &over),
            (&["initialize", "x"], &working),
            (&["resume_from_plan"], &working),
            (&["reopen_for_fixes", "--feedback", "mend it"], &over),
            (&["archive"], &over),
            (&["abandon"], &working),
            (&["mark_subtask_complete", "ST-001"], &working),
            (&["set_tdd_mode", "true"], &working),
            (&["ensure_human_artifacts"], &working),
            (
                &["record_test_contract_handoff", "ST-001", "make"],
                &working,
            ),
            (&["update_plan_status", "ST-001", "complete"], &working),
        ];
        let research: &[&str] = &["save_research", "default", "ST-001", "--attempt", "1"];
        let mut all = Vec::new();
        for (words, state) in commands {
            all.push(Self::new(words, "", state)?);
        }
        all.push(Self::new(research, "new", &working)?);
        Ok(all)
    }

    /// Returns one that writes several files.
    pub(crate) fn of_several_effects() -> Result<Self> {
        Self::new(&["restore_deferred_yagni", "YG-001"], "", &working())
    }

    fn new(words: &'static [&'static str], input: &'static str, state: &Value) -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        let blueprint = json!({
            "subtasks": [{"id": "ST-001"}, {"id": "ST-002", "dependencies": ["ST-001"]}],
            "deferred_yagni": [{"id": "YG-001", "title": "Cache"}],
        });
        let plan = "# Task Plan: x\n### ST-001: a\n- **Status:** pending\n### ST-002: b\n- **Status:** pending\n";
        let files = [
            ("step_state.json", state.to_string()),
            ("blueprint.json", blueprint.to_string()),
            ("task_plan_default.md", plan.to_owned()),
            ("test_contract_ST-001.md", "# Contract\n".to_owned()),
            ("research/ST-001__actor.md", "old".to_owned()),
        ];
        for (name, text) in files {
            sandbox.write(format!("{FOLDER}/{name}"), text)?;
        }
        let before = sandbox.files()?;
        Ok(Self {
            sandbox,
            words,
            input,
            before,
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.words.first().copied().unwrap_or_default()
    }

    /// Returns whether a command has begun something that stands in its record.
    fn is_begun(&self) -> bool {
        let record = self.sandbox.path(".rekindle/redo/map-default.json");
        record.metadata().is_ok_and(|found| found.len() > 0)
    }

    fn files(&self) -> Result<Files> {
        Ok(without_drafts(&self.sandbox.files()?.except(".rekindle")))
    }
}

/// What a death leaves of a file that had not its name yet is removed by a later write.
fn without_drafts(files: &Files) -> Files {
    files.except_names(".rekindle-tmp-")
}

fn working() -> Value {
    json!({
        "subtask_sequence": ["ST-001", "ST-002"], "current_subtask_id": "ST-001", "retry_count": 1,
        "current_step_id": "2.4", "current_step_phase": "MONITOR", "completed_steps": ["2.2", "2.3"],
        "pending_steps": ["2.4"], "plan_approved": true, "workflow_status": "IN_PROGRESS",
        "subtask_results": {"ST-000": {"status": "valid"}}, "hook_injection": {"status": "ok"},
    })
}

fn over() -> Value {
    json!({
        "workflow_status": "WORKFLOW_COMPLETE", "current_step_id": "COMPLETE",
        "current_step_phase": "COMPLETE",
    })
}

impl Story for Command {
    type End = Files;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        // Of what has not begun nothing is done, so it is typed again; the rest is only finished.
        let is_old = self.files().is_ok_and(|files| files == self.before);
        let words = if is_old && !self.is_begun() {
            self.words
        } else {
            IDLE
        };
        let args = [&["map"], words].concat();
        self.sandbox.typed(&args).answering(self.input)
    }

    /// Wherever the state stands, under its name or put away, it can be read.
    fn look(&self) -> Result<()> {
        let mut n_states = 0;
        for entry in self.sandbox.path(FOLDER).read_dir_utf8()? {
            let path = entry?.into_path();
            let name = path.file_name().unwrap_or_default();
            if name.starts_with("step_state") {
                let state: Value = serde_json::from_str(&fs_err::read_to_string(&path)?)?;
                ensure!(state.is_object(), "{path} is no state");
                n_states += 1;
            }
        }
        ensure!(n_states > 0, "no state is left");
        Ok(())
    }

    fn end(&self) -> Result<Files> {
        self.look()?;
        let end = self.files()?;
        ensure!(end != self.before, "nothing is written");
        ensure!(!self.is_begun(), "it is not finished");
        Ok(end)
    }
}

/// A death while a command is taken back fails at most one other.
pub(crate) fn a_death_while_a_command_is_taken_back_fails_at_most_one_other() -> Result<()> {
    // The folder is not there, so only writing finds out that the name is too long.
    let id = format!("folder/{}", "x".repeat(250));
    let words = ["map", "wave_monitor_failed", &id, "--feedback", "f"];
    let command = Command::new(IDLE, "", &working())?;
    let idle = || -> Result<Ran> {
        let args = [&["map"], IDLE].concat();
        Ok(command.sandbox.run(&args)?)
    };
    let place = "transaction-after-take-back";
    let dying = command.sandbox.typed(&words);
    let ran = dying.with("REKINDLE_CRASH_AT", place).run()?;
    ensure!(ran.signal().is_some(), "{ran}");
    command.look()?;
    let ran = idle()?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains(".aside-1"), "{ran}");
    let ran = idle()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let text = command.sandbox.read(format!("{FOLDER}/step_state.json"))?;
    let state: Value = serde_json::from_str(&text)?;
    ensure!(state == working(), "{state}");
    Ok(())
}
