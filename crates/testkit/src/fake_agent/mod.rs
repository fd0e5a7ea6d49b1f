//! A scripted agent: does, line by line, what a test wrote down, so that every behaviour of an
//! agent can be had at will.
//!
//! The binary `fake-agent` takes any arguments and finds its script in `FAKE_AGENT_SCRIPT`: a
//! file, or a folder in which `<task>.<attempt>`, else `<task>`, else `default` is taken. What the
//! runner puts in the environment (`REKINDLE_TASK` and so on) says which. [`Script`] is what can
//! be written down, [`Start::play`] does it, [`program`] is where other crates' tests find the
//! binary.
//!
//! | instruction | what it does |
//! | --- | --- |
//! | `say TEXT` | prints a line; after `stream claude` as a message of the assistant |
//! | `warn TEXT` | prints a line on standard error |
//! | `half TEXT` | prints without a line end, as a crash would leave it |
//! | `flood BYTES` | prints that much, in lines of 80 bytes (`64k`, `8M` will do) |
//! | `read-prompt FILE` | copies standard input into the file |
//! | `write PATH TEXT`, `append PATH TEXT` | a line in a file of the worktree, with its folders |
//! | `write-outside PATH TEXT` | the same, anywhere |
//! | `delete PATH`, `chmod PATH MODE`, `symlink PATH TARGET` | in the worktree |
//! | `run COMMAND` | a shell command in the worktree, which must succeed |
//! | `stream claude` | from here on speaks Claude Code's `stream-json` |
//! | `session ID` | the session's id; `--resume ID` among the arguments goes before it |
//! | `cost X` | what the result will say it cost |
//! | `permission-denied TOOL` | wanted a tool and was refused |
//! | `result success`, `result error REASON`, `result limit [SECONDS]` | says how it ended; after an error or a limit the exit code is 1 |
//! | `touch FILE` | tells a test that it is here |
//! | `wait-for FILE` | waits until a test lets it go on, a minute at most |
//! | `hang` | does nothing more (for 15 minutes, lest a test leave it behind for ever) |
//! | `ignore-term` | from here on SIGTERM does nothing |
//! | `fork-grandchild FILE` | leaves a process in a session of its own that ignores SIGTERM and hangs with our outputs open; its number is in the file |
//! | `exit N`, `die SIGNAL` | ends: at once, with no last word |
//!
//! `#` begins a comment line. A PATH with spaces stands in double quotes, and is below the
//! worktree. A FILE is where the script is, unless it is absolute. In TEXT `\n`, `\t` and `\\` are
//! what they are in C. `$TASK`, `$ATTEMPT`, `$RUN`, `$WORKTREE`, `$SESSION` and `$PID` are replaced.
//! At the end of a script the exit code is 0, and an agent that speaks like Claude says success.

mod claude;
mod error;
mod locate;
mod player;
mod script;
mod start;

pub use error::Error;
pub use locate::program;
pub use player::grandchild;
pub use script::{Act, Outcome, Script, Signal};
pub use start::{Ending, Start, end_as};
