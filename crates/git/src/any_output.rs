//! Any bytes, read as whatever git could have printed: names in it are those of whoever wrote a repository.

use crate::{head, log, raw_diff, rescue, snapshot, status, worktree};

/// Gives bytes to every reader of git's output. What is none of git's is refused, and nothing panics.
pub fn read(output: &[u8]) {
    raw_diff::parse(output).ok();
    status::parse(output).ok();
    worktree::parse(output).ok();
    log::parse(output).ok();
    log::parse_trailers(output);
    snapshot::parse_entries(output).ok();
    head::parse_blob(output).ok();
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    for record in fields.chunks_exact(6) {
        rescue::parse(record);
    }
}
