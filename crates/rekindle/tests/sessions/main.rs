//! Sessions of coding agents continued by the whole binary; programs that write down how they were
//! called stand in for the agents.

mod all;
mod alone;
mod demo;
mod gemini;
mod hostile;
mod races;
mod terminal;
mod workflows;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
