//! Random walks over MAP's own scripts and over `rekindle map`, side by side.
//!
//! The peer is `mapify-cli` of the reference version, in the virtual environment that `cargo xtask
//! test` makes; [`peer`] runs its scripts. [`walk`] types the same commands in two projects that are
//! twins, [`scene`] lays them out and lets the world go on between commands, [`compare`] holds
//! answers and files against each other. Sentences and times aside, every difference is a failure,
//! but for those that `docs/map-differences.md` lists.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a walk whose scene can not be laid out fails by panicking"
)]

mod choices;
mod compare;
mod peer;
mod scene;
mod walk;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// The walks are numbered below this.
const WALKS: u64 = 13;
/// How many commands each walk types.
const COMMANDS: usize = 60;

/// Two walks at once, since the machines that run this have few cores.
#[test]
fn odd_walks_end_where_the_peer_ends() {
    for seed in (1..WALKS).step_by(2) {
        walk::walk(seed, COMMANDS);
    }
}

#[test]
fn even_walks_end_where_the_peer_ends() {
    for seed in (2..WALKS).step_by(2) {
        walk::walk(seed, COMMANDS);
    }
}
