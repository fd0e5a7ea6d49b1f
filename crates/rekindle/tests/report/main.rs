//! Reports: what they tell, and that nothing in them is more than text.
//!
//! With the feature `browser` they are opened in a real Chromium; `cargo xtask test` has all it needs.

#[cfg(feature = "browser")]
mod browser;
mod histories;
#[path = "../map_resume/project.rs"]
#[expect(dead_code, reason = "its own tests want more of it")]
mod map_project;
mod orders;
mod others;
mod pages;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
