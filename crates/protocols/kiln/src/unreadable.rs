//! A project whose memory is missing or cannot be followed.

use rekindle_model::{Code, Fact, Finding, Next, Place, Progress, State, Summary};
use rekindle_world::World;

use super::layout::{self, Layout};
use super::{assessment_of, facts, messages};
use rekindle_protocol::{Ask, Unreadable};

pub(super) fn without_memory(world: &dyn World, layout: &Layout, ask: &Ask) -> Unreadable {
    let finding = match layout.memory() {
        Some(folder) => Finding::new(
            Code::MemoryMissing,
            "the project's memory is missing or empty",
        )
        .at(Place::path(folder.join(layout::MEMORY))),
        None => Finding::new(
            Code::MemoryMissing,
            "HOME is not set, so the memory cannot be found",
        ),
    };
    let facts = facts::unreadable(layout, None);
    unreadable(world, layout, ask, finding, facts).says(messages::no_memory(layout))
}

pub(super) fn corrupt(
    world: &dyn World,
    layout: &Layout,
    fields: &[&'static str],
    unreadable_because: Option<String>,
    ask: &Ask,
) -> Unreadable {
    let message = match unreadable_because {
        Some(reason) => format!("MEMORY.md cannot be read: {reason}"),
        None => format!(
            "MEMORY.md has no value that kiln knows for: {}",
            fields.join(", ")
        ),
    };
    let file = layout.in_memory(layout::MEMORY).unwrap_or_default();
    let finding = Finding::new(Code::MemoryCorrupt, message).at(Place::path(file));
    let facts = facts::unreadable(layout, Some(fields));
    unreadable(world, layout, ask, finding, facts).says(messages::corrupt(layout, fields))
}

fn unreadable(
    world: &dyn World,
    layout: &Layout,
    ask: &Ask,
    finding: Finding,
    facts: Fact,
) -> Unreadable {
    let next = Next::new("reinitialize", &finding.message);
    let summary = |id| Summary::new(id, State::Corrupt, "unknown", Progress::default(), next);
    let assessment = assessment_of(layout, ask, facts, summary).with([finding]);
    Unreadable::new(assessment).roots(layout.roots_without_memory(world))
}
