//! Exit codes; scripts may depend on them.

/// Done, or declined by the person.
pub const DONE: u8 = 0;
/// Cannot resume: blocked, corrupt, halted, a task failed for good, or nothing found where one was named.
pub const CANNOT: u8 = 1;
/// Wrong usage.
pub const USAGE: u8 = 2;
/// A choice is needed and nobody is there to make it.
pub const CHOICE: u8 = 3;
/// Another rekindle or an agent of an earlier one holds it, or, where nobody is asked, a session of a
/// coding agent is at work.
pub const HELD: u8 = 4;
