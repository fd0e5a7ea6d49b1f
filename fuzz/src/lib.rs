//! Fuzz targets: one function for each reader of foreign data, which takes arbitrary bytes.
//!
//! A function panics where a guarantee is broken. `fuzz_targets/` has a libFuzzer program for each,
//! `src/bin/plain.rs` runs all of them without libFuzzer. A new target is a function, a row in [`ALL`] and
//! a file in `fuzz_targets/`; the first inputs are in `seeds/` and in the conformance cases.

mod agents;
mod files;
mod mcp;
mod protocols;
mod sessions;
mod text;
pub mod world;

pub use agents::{agent_traces, config, hook_input, streams};
pub use files::{journal, own_files, printed_by_git};
pub use mcp::{mcp, mcp_project};
pub use protocols::{
    agent_memory, bifrost, checklist, event_lines, kiln, kiln_teams, kiro, map, map_commands, openspec, plans,
    recording, spec_kit,
};
pub use sessions::{
    sessions, sessions_claude, sessions_codex, sessions_gemini, sessions_opencode,
};
pub use text::{json_edit, json_members, markdown, python_json, settings, times, toml_tables};

/// A target.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also the name of its program and of its folder in `seeds/`.
pub const ALL: &[(&str, Target)] = &[
    ("agent_memory", agent_memory),
    ("kiln", kiln),
    ("kiln_teams", kiln_teams),
    ("bifrost", bifrost),
    ("map", map),
    ("spec_kit", spec_kit),
    ("openspec", openspec),
    ("kiro", kiro),
    ("checklist", checklist),
    ("map_commands", map_commands),
    ("recording", recording),
    ("plans", plans),
    ("event_lines", event_lines),
    ("python_json", python_json),
    ("json_edit", json_edit),
    ("settings", settings),
    ("json_members", json_members),
    ("toml_tables", toml_tables),
    ("printed_by_git", printed_by_git),
    ("markdown", markdown),
    ("times", times),
    ("streams", streams),
    ("agent_traces", agent_traces),
    ("sessions", sessions),
    ("sessions_claude", sessions_claude),
    ("sessions_codex", sessions_codex),
    ("sessions_gemini", sessions_gemini),
    ("sessions_opencode", sessions_opencode),
    ("hook_input", hook_input),
    ("config", config),
    ("journal", journal),
    ("own_files", own_files),
    ("mcp", mcp),
    ("mcp_project", mcp_project),
];
