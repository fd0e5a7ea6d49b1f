//! What programs read: every `--json` output parses, names its schema and keeps to it.

mod captures;
mod failures;
mod objects;
mod schemas;

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
const BILLING: &str = "20260118-0900-billing-c3d4";

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}
