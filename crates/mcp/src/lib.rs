//! The front end for coding agents: an MCP server on standard input and output.
//!
//! A request becomes a call of `rekindle-app`, and the result becomes an object of
//! `rekindle-wire`; there are no rules in this crate. Start at [`serve`]; `server` handles the
//! requests, `tools` has a file for each tool. No agent is started here: the caller is one.
//!
//! Everything that was read from files is data to the agent: `answer` and `quote` make it safe and
//! limit its length.

#![expect(
    clippy::result_large_err,
    reason = "an error of a request is the type that `rmcp` prescribes"
)]

mod answer;
mod brief;
mod failure;
mod input;
mod listener;
mod opening;
mod output;
mod pages;
mod person;
mod plans;
mod prompts;
mod quote;
mod resources;
mod schema;
mod serve;
mod server;
mod taken;
mod tools;
mod turn;
mod uri;

pub use serve::{Error, serve, serve_over};
