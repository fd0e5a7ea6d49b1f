//! Whole runs with a scripted agent in the place of Claude Code: the built binary, real git, real
//! processes, and an agent that behaves as badly as its script says.
//!
//! Start reading at [`stage::Stage`]; what can stand in a script is told in the test kit's
//! `fake_agent`.

mod denied;
mod ending;
mod limit;
mod output;
mod session;
mod stage;
mod tree;
mod worktree;
