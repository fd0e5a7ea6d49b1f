//! map from end to end: real files, real processes, an agent that is a script.
//!
//! [`project`] lays out a project with an interrupted workflow; the other modules are what happens to it.

mod briefings;
mod dialogues;
mod install;
mod life;
mod project;
mod prompts;
mod suspended;
mod verdicts;
