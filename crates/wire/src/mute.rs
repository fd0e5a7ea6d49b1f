//! What `mute` did.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle mute --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MuteOut {
    /// `rekindle.mute/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// Whether sessions are not told of it.
    pub muted: bool,
}
