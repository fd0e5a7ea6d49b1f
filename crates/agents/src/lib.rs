//! The agent programs: command lines, prompts, output, transcripts and configuration.
//!
//! Only `rekindle-runner` starts a program. An [`Agent`] with a [`Call`] becomes an [`Invocation`].
//! Each printed line goes through a [`Redactor`] and a [`StreamReader`], and [`judge`] decides the
//! result by the stream and the exit status. Start reading at [`Agent`], then [`StreamReader`].

pub mod config;
pub mod hook;
pub mod limit;
pub mod shell;
pub mod traces;

mod agent;
mod editing;
mod invocation;
mod preset;
mod redact;
mod stream;
mod verdict;

pub use agent::{Agent, Prompt};
pub use config::{Config, Error as ConfigError};
pub use invocation::{Call, Invocation};
pub use limit::Limit;
pub use preset::Preset;
pub use redact::{Redactor, redact};
pub use stream::{Stream, StreamEnd, StreamReader, Summary, Update};
pub use verdict::{Exit, Verdict, judge};
