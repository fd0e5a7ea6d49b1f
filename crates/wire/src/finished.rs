//! Workflows that hooks found to be finished, version 1: one sealed file in `.rekindle/`.
//!
//! It only saves looking at them again: without it, or in an unknown version, they are looked at.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name and version of the form.
pub const FINISHED_SCHEMA: &str = "rekindle.finished/1";

/// Finished workflows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedRecord {
    /// Proves that it was written for this project; empty until it is.
    pub seal: String,
    /// [`FINISHED_SCHEMA`].
    pub schema: String,
    /// For each protocol the names, each with the signs by which it is known again.
    pub protocols: BTreeMap<String, BTreeMap<String, String>>,
}
