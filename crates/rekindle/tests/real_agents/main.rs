//! The released programs themselves, with a scripted model in the place of a real one: what rekindle
//! says reaches the model, what the programs leave behind is understood.
//!
//! `cargo xtask test` installs the programs and runs this; nothing here talks to a network.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads what the scripted model and the programs wrote down"
)]

mod claude;
mod codex;
// The registry has the program for some machines only, and not every mirror has all of them.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod opencode;
mod plugin;
mod programs;
mod scene;
mod sessions;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
