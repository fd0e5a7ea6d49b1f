//! Exit codes; scripts may depend on them.

/// Done, or the person declined.
pub const DONE: u8 = 0;
/// Cannot resume: blocked, corrupt, halted, a task failed for good, or nothing found where one was named.
pub const CANNOT: u8 = 1;
/// Wrong usage.
pub const USAGE: u8 = 2;
/// Several workflows match, and nobody can be asked.
pub const CHOICE: u8 = 3;
/// Another rekindle or an agent of an earlier one is working on it, or a session of a coding agent is at
/// work and nobody can be asked.
pub const HELD: u8 = 4;
