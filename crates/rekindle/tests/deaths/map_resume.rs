//! Resumes of map: the last subtask from its research on, and a state that is put away.

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Ran, Sandbox, Typed};
use serde_json::{Value, json};

use crate::map_project::{PLAN, Project, STATE, state};

const AWAY: &str = ".map/main/step_state.abandoned-20260120T120000Z.json";

/// What a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    GoOn,
    PutAway,
}

/// The last subtask is left, from its research on.
pub(crate) struct Subtask {
    project: Project,
    wish: Wish,
    before: String,
}

impl Subtask {
    pub(crate) fn new(wish: Wish) -> Result<Self> {
        let project = Project::new()?;
        let mut state = state();
        state["subtask_sequence"] = json!(["ST-001", "ST-002"]);
        state["current_step_id"] = json!("2.2");
        state["current_step_phase"] = json!("RESEARCH");
        state["completed_steps"] = json!([]);
        state["pending_steps"] = json!(["2.2", "2.3", "2.4"]);
        project.state(&state)?;
        let before = project.sandbox.read(STATE)?;
        Ok(Self {
            project,
            wish,
            before,
        })
    }
}

impl Story for Subtask {
    /// State, plan and work without times.
    type End = Value;

    fn sandbox(&self) -> &Sandbox {
        &self.project.sandbox
    }

    fn typed(&self, session: u32) -> Typed<'_> {
        match self.wish {
            Wish::GoOn => {
                let now = format!("2026-01-20T{}:00:00Z", 12 + session);
                self.project.resume(&["--yes"]).at(&now)
            }
            Wish::PutAway => self.project.alone(&[]).answering("2\n"),
        }
    }

    /// Where the state is put away already there is nothing left to resume.
    fn is_good(&self, ran: &Ran) -> bool {
        let is_away = self.wish == Wish::PutAway && self.project.sandbox.path(AWAY).exists();
        ran.code() == Some(0) || (is_away && ran.code() == Some(1))
    }

    fn look(&self) -> Result<()> {
        let sandbox = &self.project.sandbox;
        let is_kept = sandbox.read(AWAY).is_ok_and(|text| text == self.before);
        let is_there = sandbox.path(STATE).exists() && self.project.read_state().is_ok();
        ensure!(is_there || is_kept, "the state is nowhere");
        Ok(())
    }

    fn end(&self) -> Result<Value> {
        let sandbox = &self.project.sandbox;
        match self.wish {
            Wish::GoOn => {
                let mut state = self.project.read_state()?;
                ensure!(state["workflow_status"] == "WORKFLOW_COMPLETE", "{state}");
                state["completed_at"] = Value::Null;
                let work = self.project.shell("cat src/*")?;
                Ok(json!([state, sandbox.read(PLAN)?, work]))
            }
            Wish::PutAway => {
                ensure!(sandbox.read(AWAY)? == self.before, "it was changed");
                ensure!(!sandbox.path(STATE).exists(), "it is still there");
                Ok(Value::Null)
            }
        }
    }
}

/// A death while a rejection is written loses no retry.
pub(crate) fn a_death_while_a_rejection_is_written_loses_no_retry() -> Result<()> {
    let no = r#"{"valid": false, "summary": "wrong sum", "issues": ["x"]}"#;
    let points = ["after-intent", "after-effect", "after-done", "after-edit"];
    for point in points {
        for nth in [4, 6, 8, 10, 14] {
            let story = Subtask::new(Wish::GoOn)?;
            story.project.verdicts(&[no, no])?;
            let place = format!("{point}:{nth}");
            let first = story
                .typed(0)
                .with("REKINDLE_CRASH_AT", place.as_str())
                .run()?;
            if first.signal().is_some() {
                let second = story.typed(1).run()?;
                ensure!(second.code() == Some(0), "{place}: {second}");
            }
            let state = story.project.read_state()?;
            let found = [
                &state["workflow_status"],
                &state["contaminated_retry_count"],
                &state["clean_retry_count"],
            ];
            // The first with its feedback, the second as a clean retry, and none twice.
            let wanted = json!(["WORKFLOW_COMPLETE", 1, 1]);
            ensure!(json!(found) == wanted, "{place}: {state}");
        }
    }
    Ok(())
}
