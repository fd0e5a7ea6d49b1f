//! Every object keeps to its schema.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::repository::{Project, WRITE, text};
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::{Value, json};

use crate::{ORDERS, interrupted};

/// The objects of the MCP server, which has tests of its own.
const OF_TOOLS: [&str; 4] = [
    "rekindle.brief/1",
    "rekindle.page/1",
    "rekindle.proposal/1",
    "rekindle.turn/1",
];

/// The validators of all schemas, by name.
pub(crate) struct Schemas(BTreeMap<&'static str, jsonschema::Validator>);

impl Schemas {
    pub(crate) fn new() -> Result<Self> {
        let mut validators = BTreeMap::new();
        let of_commands = rekindle_wire::schemas().into_iter();
        for (name, schema) in of_commands.filter(|(name, _)| !OF_TOOLS.contains(name)) {
            let validator = jsonschema::validator_for(&schema.to_value())?;
            validators.insert(name, validator);
        }
        Ok(Self(validators))
    }

    /// Checks that an output is one line with one object of this schema, and returns it.
    pub(crate) fn check(&self, ran: &Ran, name: &str) -> Result<Value> {
        let text = ran.stdout();
        ensure!(text.ends_with('\n') && text.lines().count() == 1, "{ran}");
        let object = ran.json().with_context(|| ran.to_string())?;
        let faults = self.faults(&object, name)?;
        ensure!(faults.is_empty(), "{name}: {}\n{ran}", faults.join("\n"));
        Ok(object)
    }

    /// Returns what is wrong with an object of this schema.
    fn faults(&self, object: &Value, name: &str) -> Result<Vec<String>> {
        let validator = self
            .0
            .get(name)
            .with_context(|| format!("no schema {name}"))?;
        let faults = validator.iter_errors(object);
        let mut faults: Vec<String> = faults
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        if object["schema"] != name {
            faults.push(format!("it calls itself {}", object["schema"]));
        }
        Ok(faults)
    }
}

#[test]
fn every_schema_is_used_by_a_command_and_every_output_keeps_to_its_schema() -> Result<()> {
    let schemas = Schemas::new()?;
    let (sandbox, run) = interrupted()?;
    // Damage, so that findings are in the outputs as well.
    sandbox.write(run.path("events/x.jsonl"), "torn")?;
    sandbox.write(".map/scripts/map_orchestrator.py", "pass\n")?;
    let mut used = BTreeSet::new();
    for (args, name, code) in [
        (&["--json"][..], "rekindle.status/1", 0),
        (&["status", "--json"], "rekindle.status/1", 0),
        (&["sessions", "--json"], "rekindle.sessions/1", 0),
        (
            &["resume", "--all", "--yes", "--json"],
            "rekindle.sessions-continued/1",
            0,
        ),
        (&["stop", ORDERS, "--json"], "rekindle.decided/1", 0),
        (&["inspect", "--json"], "rekindle.inspect/1", 0),
        (&["inspect", ORDERS, "--json"], "rekindle.inspect/1", 0),
        (&["plan", "--json"], "rekindle.plan/1", 0),
        (&["resume", "--dry-run", "--json"], "rekindle.plan/1", 0),
        (
            &["explain", ORDERS, "T001", "--json"],
            "rekindle.explain/1",
            0,
        ),
        (&["explain", "STALE_RUN", "--json"], "rekindle.finding/1", 0),
        (&["doctor", "--json"], "rekindle.doctor/1", 0),
        (&["report", "--json"], "rekindle.picture/1", 0),
        (&["init", "--json"], "rekindle.init/1", 0),
        (&["config", "--json"], "rekindle.config/1", 0),
        (&["completions", "bash", "--json"], "rekindle.text/1", 0),
        (&["man", "--json"], "rekindle.text/1", 0),
        (&["event", ORDERS, "note", "--json"], "rekindle.event/1", 0),
        (
            &["heartbeat", ORDERS, "T002", "--json"],
            "rekindle.event/1",
            0,
        ),
        (&["mute", ORDERS, "--json"], "rekindle.mute/1", 0),
        (&["checkpoint", "-m", "x", "--json"], "rekindle.event/1", 0),
        (&["checkpoints", "--json"], "rekindle.checkpoints/1", 0),
        (
            &["resume", "--json", "--yes", "--no-agent"],
            "rekindle.resume/1",
            0,
        ),
        (
            &["validate", "--spec", "none.md", "--json"],
            "rekindle.validate/1",
            1,
        ),
        (&["migrate", "none", "--json"], "rekindle.migrate/1", 1),
        (
            &["install", "claude", "--yes", "--json"],
            "rekindle.install/1",
            0,
        ),
        (
            &["torture", "--kills", "1", "--json"],
            "rekindle.torture/1",
            0,
        ),
        (&["inspect", "nonsense", "--json"], "rekindle.error/1", 1),
    ] {
        let ran = sandbox.run(args)?;
        assert_eq!(ran.code(), Some(code), "{args:?}: {ran}");
        schemas.check(&ran, name)?;
        used.insert(name);
    }
    used.extend(objects_of_a_run(&schemas)?);
    used.insert(object_of_a_page(&schemas, &sandbox)?);
    // The user's own command gets it, see `tests/notify.rs`.
    used.insert("rekindle.notice/1");
    let all: BTreeSet<&str> = schemas.0.keys().copied().collect();
    assert_eq!(used, all);
    Ok(())
}

/// The object that a page has in it keeps to its schema as well.
fn object_of_a_page(schemas: &Schemas, sandbox: &Sandbox) -> Result<&'static str> {
    let name = "rekindle.report/1";
    let page = sandbox.run(&["report", ORDERS, "--output", "-"])?;
    let page = page.stdout();
    let (_, rest) = page.split_once("id=\"data\">").context("no data")?;
    let (data, _) = rest.split_once("</script>").context("no end")?;
    let faults = schemas.faults(&serde_json::from_str(data)?, name)?;
    ensure!(faults.is_empty(), "{name}: {}", faults.join("\n"));
    Ok(name)
}

/// A run tells what happens while it happens, a line each; the last line says how it ended.
fn objects_of_a_run(schemas: &Schemas) -> Result<[&'static str; 9]> {
    let names = [
        "rekindle.run/1",
        "rekindle.clean/1",
        "rekindle.prune/1",
        "rekindle.rescues/1",
        "rekindle.rescue/1",
        "rekindle.restored/1",
        "rekindle.logs/1",
        "rekindle.outline/1",
        "rekindle.progress/1",
    ];
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    // The first attempt fails, so that something is rescued.
    let agent = format!("{WRITE}; [ \"$REKINDLE_ATTEMPT\" != 1 ]");
    let ran = project.run(&agent, &["--json"]);
    let printed = text(&ran.stdout);
    let objects: Vec<Value> = printed
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| printed.clone())?;
    let last = objects.last().context("nothing was printed")?;
    let mut checked = vec![last.clone()];
    for args in [
        &["clean", "--yes"][..],
        &["prune"],
        &["rescue", "list"],
        &["rescue", "show", "2"],
        &["rescue", "restore", "2", "--yes"],
        &["logs"],
        &["run", "plan.json", "--dry-run", "--agent-cmd", "true"],
    ] {
        let printed = text(&project.rekindle(&[args, &["--json"]].concat()).stdout);
        checked.push(serde_json::from_str(&printed).context(printed)?);
    }
    let told: Vec<&Value> = objects.iter().rev().skip(1).collect();
    ensure!(!told.is_empty(), "{printed}");
    let told = told
        .into_iter()
        .map(|object| (object, "rekindle.progress/1"));
    for (object, name) in checked.iter().zip(names).chain(told) {
        let faults = schemas.faults(object, name)?;
        ensure!(faults.is_empty(), "{name}: {}", faults.join("\n"));
    }
    ensure!(
        objects.iter().any(|object| object["event"] == "landed"),
        "{printed}"
    );
    Ok(names)
}

#[test]
fn a_missing_or_wrong_key_is_seen_by_the_check_itself() -> Result<()> {
    let schemas = Schemas::new()?;
    let good = json!({"schema": "rekindle.doctor/1", "healthy": true, "checks": []});
    assert_eq!(schemas.faults(&good, "rekindle.doctor/1")?, [""; 0]);
    for (key, value) in [
        ("healthy", None),
        ("healthy", Some(json!("yes"))),
        ("checks", Some(json!([{}]))),
        ("schema", Some(json!("rekindle.doctor/2"))),
    ] {
        let mut wrong = good.clone();
        match (value, wrong.as_object_mut()) {
            (Some(value), Some(object)) => drop(object.insert(key.to_owned(), value)),
            (None, Some(object)) => drop(object.remove(key)),
            (_, None) => {}
        }
        assert_ne!(
            schemas.faults(&wrong, "rekindle.doctor/1")?,
            [""; 0],
            "{wrong}"
        );
    }
    Ok(())
}
