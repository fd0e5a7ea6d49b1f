//! The museum: what broke in other tools, each under the name of its report, and that it does not break here.
//!
//! A test is named after the repository and the number of the report. `docs/museum.md` has the whole
//! list, with the reports that tests elsewhere answer; `table.rs` keeps that list and these tests
//! together.

#![cfg(target_os = "linux")]

mod alive;
mod cut;
mod doubled;
mod explained;
mod handed_on;
mod ledger;
mod lost;
mod removed;
mod table;
mod torn;
mod worktrees;

use anyhow::{Context as _, Result};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
const NOTHING: [&str; 0] = [];

/// Lays out a run of which one task is done, one begun and one to come.
fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// Returns what state each task of the run is in.
fn states(sandbox: &Sandbox) -> Result<Value> {
    let ran = sandbox.run(&["inspect", ORDERS, "--json"])?;
    let mut inspected = ran.json().with_context(|| ran.to_string())?;
    Ok(inspected["facts"]["runs"][ORDERS]["states"].take())
}
