//! `cargo xtask fuzz`: any bytes for everything that reads what others wrote.
//!
//! The targets are those of `fuzz/`, a workspace of its own. They are built with the compiler of the project:
//! the coverage that leads libFuzzer is a pass of LLVM that any compiler has, and without `unsafe` code there is
//! nothing for the sanitizers of a nightly one to see. Start at [`chore`]; the inputs to begin with are made
//! by [`corpus`].

mod chore;
mod corpus;
mod report;

pub(crate) use chore::CHORE;
