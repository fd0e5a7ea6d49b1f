//! `cargo xtask fuzz`: gives arbitrary bytes to everything that reads files of others.
//!
//! The targets are those of `fuzz/`, a workspace of its own. They are built with the project's own
//! compiler: the coverage that guides libFuzzer is a pass of LLVM that every compiler has, and without
//! `unsafe` code the sanitizers of a nightly compiler would find nothing. Start at [`chore`]; [`corpus`]
//! makes the first inputs.

mod chore;
mod corpus;
mod report;

pub(crate) use chore::CHORE;
