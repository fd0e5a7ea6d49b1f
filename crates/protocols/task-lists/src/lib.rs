//! Task lists: the formats that projects keep, each a small reader of the kit's one core.
//!
//! A format says where its lists are, how their lines become tasks, how a task is marked, and what its
//! users would type; [`rekindle_protocol::lists`] does everything else. Start at `checklist`, the smallest.

mod checklist;
mod kiro;
mod kiro_tasks;
mod openspec;
mod spec_kit;
mod spec_kit_tasks;

use rekindle_protocol::lists::TaskLists;

/// spec-kit: features in `specs/`.
pub static SPEC_KIT: TaskLists = TaskLists(&spec_kit::SpecKit);
/// `OpenSpec`: changes in `openspec/changes/`.
pub static OPENSPEC: TaskLists = TaskLists(&openspec::OpenSpec);
/// Check boxes of any Markdown file.
pub static CHECKLIST: TaskLists = TaskLists(&checklist::Checklist);
/// Kiro: specs in `.kiro/specs/`.
pub static KIRO: TaskLists = TaskLists(&kiro::Kiro);

#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod torn_tests;
