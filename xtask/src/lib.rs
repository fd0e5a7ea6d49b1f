//! What the chores and the benches share: running programs, and installing those of others.

pub mod files;
pub mod origin;
pub mod packages;
pub mod robustness;
pub mod run;
pub mod tools;
