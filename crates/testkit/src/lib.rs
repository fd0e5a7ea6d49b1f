//! For tests only: hermetic scenes, conformance cases, a scripted agent.
//!
//! Nothing of this reaches the released binary; other crates name it under `dev-dependencies` alone.
//! Start reading at [`conformance`]: it lays out a case's folder and holds a binary against it.
//! Tests of the whole binary start at [`sandbox`]: a scratch project to build up and run it in.
//! What must survive deaths and full disks is a [`deaths::Story`], gone through place by place.
//! The agent that such tests let work is [`fake_agent`]: a program that does what a script says.

pub mod agent_memory;
pub mod bifrost;
pub mod catalogue;
pub mod conformance;
pub mod deaths;
pub mod example;
pub mod fake_agent;
mod files;
pub mod gate;
pub mod hermetic;
pub mod process;
pub mod repository;
pub mod running;
pub mod sandbox;
pub mod screen;
pub mod soak;
pub mod terminal;
pub mod transcripts;
pub mod waves;
