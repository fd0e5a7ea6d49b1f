//! The threats of `docs/threat-model.md`, one after the other, against the real binary.
//!
//! `hostile.rs` beside this folder has the same for single files of one protocol; what is here holds for
//! all of them: the cases of the conformance suite are laid out and then poisoned, linked elsewhere or
//! blown up, file by file.

#![cfg(target_os = "linux")]

mod commands;
mod links;
mod modes;
mod others;
mod poison;
mod prompts;
mod records;
mod run_records;
mod scenes;
mod secrets;
mod sizes;
mod table;
mod traps;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
