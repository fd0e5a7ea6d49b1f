//! A project whose memory is not there or can not be followed: there is one thing to say.

use camino::Utf8PathBuf;
use rekindle_model::{
    Assessment, Code, Fact, Finding, Intent, Next, Place, Plan, Progress, State, Summary, View,
};
use rekindle_world::World;

use super::layout::{self, Layout};
use super::{chosen, facts, id, plan, words};
use rekindle_protocol::{Ask, Belongings, Case};

/// A project whose memory is not there or can not be followed: there is one thing to say.
pub(super) struct Unreadable {
    assessment: Assessment,
    name: String,
    text: String,
    roots: Vec<Utf8PathBuf>,
}

impl Unreadable {
    pub(super) fn without_memory(world: &dyn World, layout: &Layout, ask: &Ask) -> Self {
        let finding = match layout.memory() {
            Some(folder) => Finding::new(
                Code::MemoryMissing,
                "there is no memory of this project, or nothing is in it",
            )
            .at(Place::path(folder.join(layout::MEMORY))),
            None => Finding::new(
                Code::MemoryMissing,
                "HOME is not set, so the memory can not be looked for",
            ),
        };
        let facts = facts::unreadable(layout, None);
        let text = words::no_memory(layout);
        Self::new(world, layout, ask, text, finding, facts)
    }

    pub(super) fn corrupt(
        world: &dyn World,
        layout: &Layout,
        fields: &[&'static str],
        unreadable: Option<String>,
        ask: &Ask,
    ) -> Self {
        let message = match unreadable {
            Some(reason) => format!("MEMORY.md can not be read: {reason}"),
            None => format!(
                "MEMORY.md does not say in a known word: {}",
                fields.join(", ")
            ),
        };
        let file = layout.in_memory(layout::MEMORY).unwrap_or_default();
        let finding = Finding::new(Code::MemoryCorrupt, message).at(Place::path(file));
        let facts = facts::unreadable(layout, Some(fields));
        let text = words::corrupt(layout, fields);
        Self::new(world, layout, ask, text, finding, facts)
    }

    fn new(
        world: &dyn World,
        layout: &Layout,
        ask: &Ask,
        text: String,
        finding: Finding,
        facts: Fact,
    ) -> Self {
        let summary = Summary {
            id: id(layout),
            state: State::Corrupt,
            stage: "unknown".to_owned(),
            progress: Progress {
                done: 0,
                total: None,
            },
            last_activity: None,
            next: Next::new("reinitialize", finding.message.clone()),
            view: View::of(State::Corrupt),
        };
        Self {
            assessment: chosen(summary, ask, vec![finding], facts),
            name: layout.name().to_owned(),
            text,
            roots: layout.roots_without_memory(world),
        }
    }
}

impl Case for Unreadable {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        Some(plan::only_says(&self.name, &self.text, intent))
    }

    fn belongings(&self) -> Belongings {
        Belongings {
            roots: self.roots.clone(),
            ..Belongings::default()
        }
    }
}
