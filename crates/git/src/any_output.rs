//! Feeds any bytes to the parsers of git's output, for the fuzzer.

use crate::{log, raw_diff, rescue, snapshot, status, worktree};

/// Feeds bytes to every parser. None may panic.
pub fn read(output: &[u8]) {
    raw_diff::parse(output).ok();
    status::parse(output).ok();
    worktree::parse(output).ok();
    log::parse(output).ok();
    log::parse_trailers(output);
    snapshot::parse_entries(output).ok();
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    for record in fields.chunks_exact(6) {
        rescue::parse(record);
    }
}
