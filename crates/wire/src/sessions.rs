//! The object of `rekindle sessions --json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Facts;

/// `rekindle sessions --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionsOut {
    /// `rekindle.sessions/1`.
    pub schema: &'static str,
    /// `everywhere` or `project`.
    pub scope: String,
    /// The sessions that are listed, the most urgent first; each has its id and its facts.
    pub sessions: Vec<Facts>,
    /// How many there are of each kind.
    pub counts: SessionCountsOut,
}

/// `rekindle resume --all --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionsContinuedOut {
    /// `rekindle.sessions-continued/1`.
    pub schema: &'static str,
    /// Whether a person declined.
    pub declined: bool,
    /// The sessions that were continued.
    pub continued: Vec<SessionContinuedOut>,
    /// The sessions that were left alone.
    pub left: Vec<SessionLeftOut>,
}

/// A session that was continued.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionContinuedOut {
    /// `session:agent:id`.
    pub id: String,
    /// `done` or `blocked`.
    pub outcome: String,
    /// One sentence.
    pub summary: String,
}

/// A session that was left alone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionLeftOut {
    /// `session:agent:id`.
    pub id: String,
    /// Why, as a clause.
    pub reason: String,
}

/// How many sessions there are of each kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionCountsOut {
    /// Cut off, and can go on.
    pub interrupted: usize,
    /// A person must answer, or stopped it.
    pub waiting_for_person: usize,
    /// Stopped by a usage limit that holds.
    pub limited: usize,
    /// Open in a process.
    pub running: usize,
    /// Not readable.
    pub unreadable: usize,
    /// Finished, or continued by another session.
    pub finished: usize,
    /// Not finished, and silent for a week.
    pub stale: usize,
    /// Not read, since nothing happened in them for a week or there are too many.
    pub older: usize,
}
