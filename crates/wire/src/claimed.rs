//! The note of a process that continues a session, in rekindle's folder of sessions.
//!
//! It is one JSON object with `"v":1`. A reader ignores unknown fields, takes a note that it cannot
//! read for none, and a newer writer keeps the fields.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A process that has a session since a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed<P> {
    v: u32,
    /// The process.
    pub process: P,
    /// Since when, in RFC 3339.
    pub at: String,
}

impl<P: Serialize + DeserializeOwned> Claimed<P> {
    /// Returns the note of a process.
    pub fn new(process: P, at: String) -> Self {
        Self { v: 1, process, at }
    }

    /// Reads a note.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Returns the note as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}
