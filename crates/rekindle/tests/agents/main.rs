//! Work done by scripted agents: whole runs, failures, lies, and the questions that only a person answers.

mod approval;
mod failures;
mod process;
mod verification;
mod whole_runs;

use anyhow::Result;
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::sandbox::{Ran, Sandbox, quoted};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";

/// A project with one run, and an agent that works on it.
struct Scene {
    sandbox: Sandbox,
    run: Run,
    agent: String,
}

impl Scene {
    /// Lays out a run; the agent does as it is asked, after what the script does first.
    fn new(run: Run, first: &str) -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        run.lay_out(&sandbox)?;
        let calls = quoted(sandbox.root().join("calls").as_str());
        let script = format!(
            "echo $REKINDLE_ROLE $REKINDLE_TASK $REKINDLE_ATTEMPT >>{calls}\n{first}\n{DILIGENT_AGENT}"
        );
        let agent = sandbox.script("agent.sh", &script)?;
        Ok(Self {
            sandbox,
            run,
            agent,
        })
    }

    /// Resumes the run with its agent, and with these answers on standard input.
    fn resume(&self, answers: &str) -> Result<Ran> {
        self.resume_at("2026-01-20T12:00:00Z", answers)
    }

    fn resume_at(&self, now: &str, answers: &str) -> Result<Ran> {
        let args = ["resume", "--yes", "--agent-cmd", &self.agent];
        Ok(self.sandbox.typed(&args).answering(answers).at(now).run()?)
    }

    /// Returns who was called for what, one a line.
    fn calls(&self) -> Result<String> {
        Ok(fs_err::read_to_string(self.sandbox.root().join("calls"))?)
    }

    fn told(&self) -> Result<String> {
        Ok(self.run.told(&self.sandbox)?)
    }
}

/// A run in which only the last task is left.
fn nearly_done() -> Run {
    Run::in_execution(ORDERS)
        .task("T001", "Add model", &[])
        .task("T002", "Add endpoint", &["T001"])
        .task_event("10:00", "task_completed", "T001")
}
