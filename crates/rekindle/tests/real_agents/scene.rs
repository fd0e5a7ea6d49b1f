//! A project with an interrupted workflow, a home of its own, and a model that a script plays.

use std::process::Output;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::process::{Call, Environment};
use rekindle_testkit::running::Running;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::terminal::Terminal;
use serde_json::Value;

use crate::BINARY;

/// Far more than a program needs for a turn, so that only a hang ends there.
const LIMIT: Duration = Duration::from_secs(180);
/// Far more looks than a program needs to write down what it did, so that only a hang ends there.
pub(crate) const MOST_LOOKS: usize = 2000;
pub(crate) const RUN: &str = "20260119-0900-orders-api-k2l3";
/// Some of the tools of the MCP server; that all are listed is a test of its own.
pub(crate) const TOOLS: [&str; 4] = ["plan", "resume", "next_step", "report_event"];

pub(crate) fn repository() -> &'static Utf8Path {
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
    environment: Environment,
    port: String,
    /// Ends with the scene.
    model: Running,
}

impl Scene {
    /// Lays the project out and starts the model, which says these turns and then only `ok`.
    pub(crate) fn new(turns: &Value) -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        Run::interrupted(RUN).lay_out(&sandbox)?;
        fs_err::write(sandbox.root().join("script.json"), turns.to_string())?;
        let mut environment = sandbox.environment().clone();
        let own = Utf8Path::new(BINARY).parent().context("a folder")?;
        let path = std::env::var("PATH")?;
        environment.insert("PATH".into(), format!("{own}:{path}").into());
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            environment.remove(std::ffi::OsStr::new(name));
            environment.remove(std::ffi::OsStr::new(&name.to_lowercase()));
        }
        let server = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_agents/model.mjs");
        let arguments = [
            server.to_string(),
            sandbox.root().join("script.json").to_string(),
            sandbox.root().join("asked.jsonl").to_string(),
        ];
        let model = Running::start(&Call {
            program: "node",
            args: &arguments,
            folder: sandbox.root(),
            environment: &environment,
            stdin: "",
            limit: LIMIT,
        })?;
        let said = model.wait_for_line("listening on ")?;
        let port = said
            .rsplit(' ')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
        Ok(Self {
            sandbox,
            environment,
            port,
            model,
        })
    }

    /// Sets a variable for all programs.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.into(), value.into());
    }

    /// Returns where the model listens.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns a path in the home.
    pub(crate) fn home(&self, relative: &str) -> Utf8PathBuf {
        self.sandbox.root().join("home").join(relative)
    }

    /// Puts the installed programs on the path, so that rekindle finds them.
    pub(crate) fn find_programs(&mut self) -> Result<()> {
        let folder = self.sandbox.root().join("bin");
        fs_err::create_dir_all(&folder)?;
        for program in ["claude", "codex", "gemini", "opencode"] {
            if let Ok(path) = installed(program) {
                fs_err::os::unix::fs::symlink(path, folder.join(program))?;
            }
        }
        let path = self.environment.get(std::ffi::OsStr::new("PATH"));
        let path = path.context("a path")?.to_string_lossy().into_owned();
        self.set("PATH", &format!("{folder}:{path}"));
        Ok(())
    }

    /// Makes the project a repository.
    pub(crate) fn git_init(&self) -> Result<()> {
        let folder = self.sandbox.project();
        let made = self.started("git", &["init", "-q"], folder)?.finish()?;
        ensure!(made.status.success(), "{made:?}");
        Ok(())
    }

    /// Makes a folder next to the project.
    pub(crate) fn folder(&self, name: &str) -> Result<Utf8PathBuf> {
        let folder = self.sandbox.root().join("work").join(name);
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Waits until the model has begun its answer to a request that it will never end.
    pub(crate) fn wait_for_hanging(&self, request: usize) -> Result<()> {
        Ok(self.model.wait_for(&format!("hanging {request}."))?)
    }

    /// Runs rekindle, which must end well.
    pub(crate) fn rekindle(&self, arguments: &[&str]) -> Result<Output> {
        let output = self.tried(arguments)?;
        ensure!(output.status.success(), "{arguments:?}: {output:?}");
        Ok(output)
    }

    /// Runs rekindle to its end.
    pub(crate) fn tried(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self
            .started(BINARY, arguments, self.sandbox.project())?
            .finish()?)
    }

    /// Starts rekindle.
    pub(crate) fn start_rekindle(&self, arguments: &[&str]) -> Result<Running> {
        self.started(BINARY, arguments, self.sandbox.project())
    }

    /// Starts an installed program in a folder.
    pub(crate) fn start_in(
        &self,
        folder: &Utf8Path,
        program: &str,
        arguments: &[&str],
    ) -> Result<Running> {
        self.started(installed(program)?.as_str(), arguments, folder)
    }

    /// Starts an installed program, or rekindle, on a terminal of its own.
    pub(crate) fn on_a_terminal(&self, program: &str, arguments: &[&str]) -> Result<Terminal> {
        let path = match program {
            "rekindle" => BINARY.into(),
            program => installed(program)?,
        };
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        Ok(Terminal::start(&Call {
            program: path.as_str(),
            args: &arguments,
            folder: self.sandbox.project(),
            environment: &self.environment,
            stdin: "",
            limit: LIMIT,
        })?)
    }

    /// Runs an installed program to its end.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Result<Output> {
        Ok(self.start(program, arguments)?.finish()?)
    }

    /// Starts an installed program.
    pub(crate) fn start(&self, program: &str, arguments: &[&str]) -> Result<Running> {
        self.start_in(self.sandbox.project(), program, arguments)
    }

    /// Runs a script for node to its end.
    pub(crate) fn node(&self, arguments: &[&str]) -> Result<Output> {
        let folder = self.sandbox.project();
        Ok(self.started("node", arguments, folder)?.finish()?)
    }

    fn started(&self, program: &str, arguments: &[&str], folder: &Utf8Path) -> Result<Running> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let mut running = Running::start(&Call {
            program,
            args: &arguments,
            folder,
            environment: &self.environment,
            stdin: "",
            limit: LIMIT,
        })?;
        // Codex reads to the end of its input before it begins.
        running.end_input();
        Ok(running)
    }

    /// Waits until something holds that a program does a moment later.
    pub(crate) fn wait_until(&self, holds: impl Fn() -> Result<bool>) -> Result<()> {
        for _ in 0..MOST_LOOKS {
            if holds()? {
                return Ok(());
            }
            // Each look takes a while.
            self.rekindle(&["version"])?;
        }
        anyhow::bail!("it never came about: {}", self.asked())
    }

    /// Returns what `status` says of the last session.
    fn last_session(&self) -> Result<Value> {
        let status = self.rekindle(&["status", "--json"])?;
        let status: Value = serde_json::from_slice(&status.stdout)?;
        Ok(status["last_session"].clone())
    }

    /// Kills a program that is in the middle of a tool, and returns what is told of its session then.
    pub(crate) fn told_of_the_killed(&self, running: Running) -> Result<Value> {
        assert_eq!(self.last_session()?["state"], "running");
        // What was started may be a script that starts the program itself; the whole group goes.
        drop(running);
        loop {
            let last = self.last_session()?;
            if last["state"] != "running" {
                return Ok(last);
            }
        }
    }

    /// Checks that the run was taken up: on disk, and by what the model was told of it.
    pub(crate) fn was_resumed(&self) -> Result<()> {
        let asked = self.asked();
        ensure!(asked.contains("rekindle.turn/1"), "{asked}");
        ensure!(asked.contains("Do task T002."), "{asked}");
        // A hook may have made a checkpoint behind it.
        let told = Run::new(RUN).told(&self.sandbox)?;
        ensure!(told.starts_with("session_resumed\n"), "{told}");
        assert_eq!(told.matches("session_resumed").count(), 1, "{told}");
        Ok(())
    }

    /// Returns all that the model was asked, as text.
    pub(crate) fn asked(&self) -> String {
        fs_err::read_to_string(self.sandbox.root().join("asked.jsonl")).unwrap_or_default()
    }
}

/// Returns a program that `cargo xtask test` has installed.
fn installed(program: &str) -> Result<Utf8PathBuf> {
    let target = Utf8Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = target.parent().context("a target folder")?;
    let modules = target.join("agents/node_modules");
    let path = match program {
        // Its own installer, which is not run, would put the program of the platform into `.bin`.
        "claude" => of_the_platform(&modules).unwrap_or_default(),
        "opencode" => modules.join("opencode-linux-x64/bin/opencode"),
        program => modules.join(".bin").join(program),
    };
    let hint = "`cargo xtask test` installs it";
    ensure!(
        path.is_file(),
        "`{program}` is not below `{modules}`; {hint}"
    );
    Ok(path)
}

fn of_the_platform(modules: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut packages = modules.join("@anthropic-ai").read_dir_utf8().ok()?;
    packages.find_map(|package| {
        let program = package.ok()?.path().join("claude");
        program.is_file().then_some(program)
    })
}
