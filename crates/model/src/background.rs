//! What somebody who is new to a workflow has to know besides its state.

/// What a workflow is for and what happened in it; empty where its files do not say.
///
/// All texts come from files. The newest come first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Background {
    /// What it is to achieve.
    pub intent: Option<String>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// The attempts that failed, with their reasons.
    pub failures: Vec<String>,
}
