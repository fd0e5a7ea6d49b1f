//! Files that nobody in their right mind would write: no panic, no hang, no byte outside of the project.

mod links;
mod not_text;
mod permissions;
mod pipes;
mod sizes;
mod terminal;

use anyhow::{Context as _, Result};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::{Ran, Sandbox};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
const NOTHING: [&str; 0] = [];

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// Runs every command that looks; none may die by a signal, panic or run out of time.
fn look_at_everything(sandbox: &Sandbox, task: &str) -> Result<Vec<Ran>> {
    let mut seen = Vec::new();
    for args in [
        &["status", "-v"][..],
        &["inspect", "-v"],
        &["inspect", "--json"],
        &["inspect", ORDERS],
        &["plan"],
        &["plan", ORDERS],
        &["plan", "--json"],
        &["explain", ORDERS, task],
        &["checkpoints"],
        &["checkpoints", ORDERS],
        &["doctor"],
        &["resume"],
    ] {
        let ran = sandbox.run(args)?;
        assert!(matches!(ran.code(), Some(0 | 1 | 3)), "{args:?}: {ran}");
        assert!(!ran.stderr().contains("panicked"), "{args:?}: {ran}");
        seen.push(ran);
    }
    Ok(seen)
}

/// Returns the codes of everything that is noticed.
fn codes(sandbox: &Sandbox) -> Result<Vec<String>> {
    let inspected = sandbox.run(&["inspect", "--json"])?.json()?;
    let findings = inspected["findings"].as_array().context("findings")?;
    let codes = findings
        .iter()
        .filter_map(|finding| finding["code"].as_str());
    Ok(codes.map(str::to_owned).collect())
}

fn done(sandbox: &Sandbox) -> Result<u64> {
    let inspected = sandbox.run(&["inspect", "--json"])?.json()?;
    let done = &inspected["facts"]["runs"][ORDERS]["done"];
    done.as_u64().with_context(|| inspected.to_string())
}

/// Returns what stands beside the project.
fn beside(sandbox: &Sandbox) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in sandbox.root().read_dir_utf8()? {
        names.push(entry?.file_name().to_owned());
    }
    names.sort();
    Ok(names)
}
