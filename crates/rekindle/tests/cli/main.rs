//! What one types and what one sees: every command that looks, the options of all, and wrong usage.

mod integrations;
mod looking;
mod lost;
mod older;
mod recording;
mod usage;

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
pub(crate) const ORDERS: &str = "20260119-0900-orders-api-k2l3";

pub(crate) fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}
