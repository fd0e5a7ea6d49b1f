//! What a person decides about runs: plans that were edited, tasks without changes, what is thrown away.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose project cannot be laid out fails by panicking"
)]

mod stage;
mod unchanged;
mod update_plan;
