//! Whole workflows over MCP, and what they cost: calls, and tokens that the model reads and writes.
//!
//! `docs/numbers/stories.csv` has the same figures, from which `docs/numbers.md` takes them; a test
//! fails when they differ. A token is estimated as
//! four bytes of the arguments and of the text of an answer.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::conformance::{Case, Scene};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::client::{BINARY, Client, ORDERS};

/// A conversation that counts.
struct Story<'a> {
    sandbox: &'a Sandbox,
    client: Client,
    calls: usize,
    bytes: usize,
}

impl<'a> Story<'a> {
    fn begin(sandbox: &'a Sandbox) -> Result<Self> {
        Ok(Self {
            sandbox,
            client: Client::open(sandbox)?,
            calls: 0,
            bytes: 0,
        })
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let result = self.client.call(tool, arguments)?;
        ensure!(result["isError"] == false, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        self.calls += 1;
        // The project's own path is as long as the folder of the test.
        let root = self.sandbox.root().as_str();
        self.bytes += text.replace(root, "/home/me").len() + arguments.to_string().len();
        Ok(result["structuredContent"].clone())
    }

    /// Resumes, does each step with `work`, and returns the last turn.
    fn tell(&mut self, work: impl Fn(&Sandbox, &Value) -> Result<()>) -> Result<Value> {
        let plan = self.call("plan", &json!({}))?;
        let mut turn = self.call("resume", &json!({"digest": plan["digest"]}))?;
        while turn["state"] == "step" {
            ensure!(self.calls < 30, "it never ends: {turn}");
            work(self.sandbox, &turn["step"])?;
            turn = self.call("next_step", &json!({"result": "done"}))?;
        }
        Ok(turn)
    }

    /// Ends the story within its limits, and checks that the file of counts has the same.
    fn end(self, name: &str, most_calls: usize, most_tokens: usize) -> Result<()> {
        let (calls, tokens) = (self.calls, self.bytes.div_ceil(4));
        self.client.end()?;
        ensure!(calls <= most_calls, "{name}: {calls} calls");
        ensure!(tokens <= most_tokens, "{name}: {tokens} tokens");
        let counts =
            Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/numbers/stories.csv");
        let counts = fs_err::read_to_string(counts)?;
        let begin = format!("{name},");
        let row = counts.lines().find_map(|line| line.strip_prefix(&begin));
        let row = row.with_context(|| format!("no row for {name}: {calls},{tokens}"))?;
        let (its_calls, its_tokens) = row.split_once(',').context("no tokens")?;
        assert_eq!(
            its_calls.parse::<usize>()?,
            calls,
            "{name}: {tokens} tokens"
        );
        // Ids and times differ by a few bytes.
        let difference = its_tokens.parse::<usize>()?.abs_diff(tokens);
        ensure!(
            difference * 20 <= tokens,
            "{name}: {tokens} tokens, not {row}"
        );
        Ok(())
    }
}

/// Returns a case of the conformance suite as a project.
fn case(name: &str) -> Result<Sandbox> {
    let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let case = Case::load(&top.join(name))?;
    Ok(Scene::lay_out_in_memory(&case)?.into_sandbox(BINARY))
}

#[test]
fn agent_memory_with_two_tasks_up_to_the_pull_request() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::in_execution(ORDERS)
        .task("T001", "Add model", &[])
        .task("T002", "Add endpoint", &["T001"]);
    run.lay_out(&sandbox)?;
    let mut story = Story::begin(&sandbox)?;
    let last = story.tell(|sandbox, step| {
        let documents: &[&str] = match step["who"].as_str() {
            Some("cleanup") => &["cleanup-report.md"],
            Some("pr-prep") => &["pr-description.md", "pr-checklist.md"],
            _ => &[],
        };
        for name in documents {
            sandbox.write(run.path(name), "# Done\n")?;
        }
        Ok(())
    })?;
    assert_eq!(last["state"], "needs_person", "{last}");
    ensure!(
        last["question"]["text"].to_string().contains("merged"),
        "{last}"
    );
    story.end("agent-memory", 10, 2500)
}

#[test]
fn kiln_ends_once_its_validation_has_passed() -> Result<()> {
    let sandbox = case("kiln/13-validation-fresh")?;
    let mut story = Story::begin(&sandbox)?;
    let last = story.tell(|sandbox, step| {
        assert_eq!(step["who"], "kiln-validator", "{step}");
        let report = "# Validation Report\n\n## Verdict\n\n**PASS**\n";
        Ok(sandbox.write(".kiln/validation/report.md", report)?)
    })?;
    assert_eq!(last["state"], "done", "{last}");
    assert_eq!(
        last["summary"],
        "validation passed; the project is complete"
    );
    story.end("kiln", 3, 1500)
}

#[test]
fn bifrost_ends_with_its_next_command_in_a_hint() -> Result<()> {
    let sandbox = case("bifrost/05-tasks-complete")?;
    let mut story = Story::begin(&sandbox)?;
    let last = story.tell(|_, step| anyhow::bail!("a step: {step}"))?;
    assert_eq!(last["state"], "done", "{last}");
    assert_eq!(
        last["hints"],
        json!(["next: /implement user-authentication T001"])
    );
    story.end("bifrost", 2, 1500)
}

#[test]
fn map_closes_its_steps_without_a_shell() -> Result<()> {
    let sandbox = case("map/20-monitor-failed-once")?;
    let mut story = Story::begin(&sandbox)?;
    let plan = story.call("plan", &json!({}))?;
    let actor = story.call("resume", &json!({"digest": plan["digest"]}))?;
    assert_eq!(actor["step"]["who"], "actor", "{actor}");
    ensure!(
        !actor["step"]["report"].to_string().contains("rekindle map"),
        "{actor}"
    );
    let monitor = story.call("next_step", &json!({"result": "done"}))?;
    assert_eq!(monitor["step"]["who"], "monitor", "{monitor}");
    let next = story.call("next_step", &json!({"result": "done"}))?;
    assert_eq!(next["state"], "step", "{next}");
    story.end("map", 4, 5000)
}
