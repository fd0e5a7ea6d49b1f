//! Questions to a database of another program.

use serde::{Deserialize, Serialize};

/// A query in SQL with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DatabaseQuestion {
    /// One statement that only reads.
    pub sql: String,
    /// The values of `?1`, `?2` and so on.
    pub parameters: Vec<String>,
}

impl DatabaseQuestion {
    /// Returns a question with its parameters.
    pub fn new(sql: &str, parameters: &[&str]) -> Self {
        Self {
            sql: sql.to_owned(),
            parameters: parameters.iter().map(ToString::to_string).collect(),
        }
    }
}

/// One row of an answer: every column as text, nothing where it is null.
pub type DatabaseRow = Vec<Option<String>>;
