//! The face for coding agents: an MCP server on standard input and output.
//!
//! A request becomes a call of `rekindle-app`, and what comes back becomes an object of
//! `rekindle-wire`; there is no rule in here. [`serve`] is the way in, `server` says what is
//! understood, `tools` has a file for each tool. Nothing here starts an agent: whoever calls is one.
//!
//! Everything that was read from files is data to the agent: `answer` and `quote` make it safe and
//! bound it.

mod answer;
mod brief;
mod failure;
mod input;
mod listener;
mod opening;
mod output;
mod pages;
mod plans;
mod prompts;
mod quote;
mod resources;
mod schema;
mod serve;
mod server;
mod tools;
mod uri;

pub use serve::{Error, serve, serve_over};
