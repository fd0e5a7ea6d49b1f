//! `rekindle mcp` as its clients see it: the built binary, and frames on its standard streams.
//!
//! [`client`] holds the conversation; the other modules are what is talked about.

mod cases;
mod client;
#[cfg(feature = "crash-points")]
mod deaths;
mod documents;
mod frames;
mod lifecycle;
mod map;
mod person;
mod resume;
mod rollback;
mod stories;
mod tools;
