//! Sessions of the released programs: how they are told to be alive, what a killed one leaves, and how
//! each goes on.

mod at_work;
mod goes_on;
mod killed;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::Running;
use serde_json::{Value, json};

use crate::programs;
use crate::scene::{MOST_LOOKS, Scene};

/// What a session is told when it is continued.
const BRIEFING: &str = "rekindle continues it now";
const PROMPT: &str = "Port the importer";

/// A released program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    Claude,
    Codex,
    Gemini,
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Opencode,
}

impl Program {
    const ALL: &[Self] = &[
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Self::Opencode,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            Self::Opencode => "opencode",
        }
    }

    /// Returns the arguments of a session without a terminal, in which tools need no permission.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &[
                "-p",
                PROMPT,
                "--output-format",
                "stream-json",
                "--verbose",
                "--allowedTools",
                "Bash",
            ],
            Self::Codex => &[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "-s",
                "danger-full-access",
                PROMPT,
            ],
            Self::Gemini => &["-p", PROMPT, "--yolo", "-o", "stream-json"],
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            Self::Opencode => &["run", "--format", "json", PROMPT],
        }
    }

    /// Returns a turn of the model that runs a command.
    fn runs(self, command: &str) -> Value {
        let about = "Wait for it";
        match self {
            Self::Claude => {
                json!({"tool": "Bash", "input": {"command": command, "description": about}})
            }
            Self::Codex => json!({"tool": "exec_command", "input": {"cmd": command}}),
            Self::Gemini => {
                json!({"tool": "run_shell_command", "input": {"command": command, "description": about}})
            }
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            Self::Opencode => {
                json!({"tool": "bash", "input": {"command": command, "description": about}})
            }
        }
    }

    /// Returns a scene in which all programs speak with a model that says these turns.
    fn scene(turns: &Value) -> Result<Scene> {
        let mut scene = Scene::new(turns)?;
        scene.find_programs()?;
        // Codex works only where a repository says whose files it may change.
        scene.git_init()?;
        programs::claude(&mut scene);
        programs::codex(&scene)?;
        programs::gemini(&mut scene)?;
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        programs::opencode(&mut scene)?;
        Ok(scene)
    }

    /// Returns a scene with a session that is in the middle of a tool, which has come to the gate.
    fn in_a_tool(self, gate: &Gate, more: &[Value]) -> Result<(Scene, Running, u32)> {
        let turns = [self.runs(&format!("{} true", gate.script()))];
        let turns: Vec<Value> = turns.into_iter().chain(more.iter().cloned()).collect();
        let scene = Self::scene(&Value::from(turns))?;
        let running = scene.start(self.name(), self.arguments())?;
        let tool = gate.wait()?;
        Ok((scene, running, tool))
    }
}

impl Scene {
    /// Returns the listed sessions.
    fn sessions(&self) -> Result<Vec<Value>> {
        let listed = self.rekindle(&["sessions", "--json"])?;
        let listed: Value = serde_json::from_slice(&listed.stdout)?;
        Ok(listed["sessions"].as_array().cloned().unwrap_or_default())
    }

    /// Waits until the only session is told to be so: rows are written a moment after they came about.
    fn wait_for_session(&self, state: &str, open: &str) -> Result<Value> {
        let is_it = |found: &[Value]| {
            found.len() == 1 && found[0]["state"] == state && found[0]["open"]["kind"] == open
        };
        let found = self.wait_for_sessions(is_it);
        let mut found = found.with_context(|| format!("it never was {state}, {open}"))?;
        found.pop().context("a session")
    }

    /// Waits until something holds of the listed sessions.
    fn wait_for_sessions(&self, holds: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        let mut last = Vec::new();
        for _ in 0..MOST_LOOKS {
            last = self.sessions()?;
            if holds(&last) {
                return Ok(last);
            }
        }
        anyhow::bail!("the sessions are {last:?}")
    }

    /// Resumes a session without a terminal, which must end well, and checks that its model was sent
    /// the briefing once.
    fn continues(&self, session: &Value) -> Result<String> {
        let id = session["id"].as_str().context("an id")?;
        self.rekindle(&["resume", id, "--yes"])?;
        let asked = self.asked();
        let last = asked.lines().last().unwrap_or_default();
        ensure!(last.matches(BRIEFING).count() == 1, "{id}: {last}");
        ensure!(last.contains(PROMPT), "{id}: {last}");
        Ok(last.to_owned())
    }

    /// Returns how often the model was asked anything.
    fn n_asked(&self) -> usize {
        self.asked().lines().count()
    }
}
