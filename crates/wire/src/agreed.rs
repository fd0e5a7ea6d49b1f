//! The commands that a user agreed to for a workflow, version 1: one sealed file per workflow.
//!
//! Whoever does not know the version agrees to nothing, which costs one question more.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The name and version of the form.
pub const AGREED_SCHEMA: &str = "rekindle.agreed/1";

/// Commands that may run again without another look at them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    /// Proves that it was written for this project; empty until it is.
    pub seal: String,
    /// [`AGREED_SCHEMA`].
    pub schema: String,
    /// The commands, each as it is run.
    pub commands: BTreeSet<String>,
}
