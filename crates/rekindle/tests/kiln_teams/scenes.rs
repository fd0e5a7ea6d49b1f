//! Scenes, laid out for the binary under test.

use anyhow::Result;
use rekindle_testkit::conformance::Stage;
use serde_json::Value;

pub(crate) use rekindle_testkit::waves::*;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
/// Integrates what is ready, and launches nothing.
pub(crate) const NO_AGENT: [&str; 1] = ["--no-agent"];

/// Lays a scene out.
pub(crate) fn stage(scene: &Value) -> Result<Stage> {
    Ok(Stage::new(BINARY, scene)?)
}

/// Lays out a wave of these tasks.
pub(crate) fn wave(tasks: &[Value]) -> Result<Stage> {
    stage(&scene(tasks))
}
