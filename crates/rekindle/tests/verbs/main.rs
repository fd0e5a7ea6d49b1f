//! What a person decides about runs: plans that were edited, tasks without changes, what is thrown away.

mod stage;
mod unchanged;
mod update_plan;
