//! The agent programs: how they are started, what they are told, what they say.
//!
//! Everything here is text in and values out; only `rekindle-runner` starts a program. An
//! [`Agent`] is data: with a [`Call`] it becomes an [`Invocation`]. What the program prints goes
//! line by line through a [`Redactor`] and a [`StreamReader`], and [`judge`] says from the stream
//! and the end of the process what came of it. [`config`] reads which agents there are.
//!
//! Start reading at [`Agent`], then at [`StreamReader`].

pub mod config;
pub mod hook;
pub mod limit;
pub mod traces;

mod agent;
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
pub use stream::{News, Stream, StreamEnd, StreamReader, Summary};
pub use verdict::{Exit, Verdict, judge};
