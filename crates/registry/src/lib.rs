//! The only list of protocols.
//!
//! To add a protocol, write its crate and add a row to [`ALL`]; CONTRIBUTING.md says how.

use std::sync::LazyLock;

use rekindle_model::{ProtocolName, WorkflowId};
use rekindle_protocol::capability::{Engine, Known, Migrator, Open, Starter, Validator};
use rekindle_protocol::sessions::SessionKeeper;
use rekindle_protocol::{Ask, Protocol};
use rekindle_world::World;

/// Every protocol, in the order in which they are shown.
pub static ALL: &[&dyn Protocol] = &[
    &rekindle_agent_memory::AgentMemory,
    &rekindle_kiln::Kiln,
    &rekindle_kiln_teams::KilnTeams,
    &rekindle_bifrost::Bifrost,
    &rekindle_map::Map,
    &rekindle_task_lists::SPEC_KIT,
    &rekindle_task_lists::OPENSPEC,
    &rekindle_task_lists::KIRO,
    &rekindle_task_lists::CHECKLIST,
    &rekindle_sessions::Sessions,
    #[cfg(feature = "example")]
    &rekindle_testkit::example::Example,
];

static NAMES: LazyLock<Vec<ProtocolName>> =
    LazyLock::new(|| ALL.iter().map(|protocol| protocol.name()).collect());

/// Returns the names of all protocols, in the order in which they are shown.
pub fn names() -> &'static [ProtocolName] {
    &NAMES
}

/// Returns the protocol that a person named.
pub fn parse(name: &str) -> Option<ProtocolName> {
    let mut names = names().iter();
    names.find(|known| known.as_str() == name).copied()
}

/// Returns the protocol whose name, or whose ids' first word, a person typed.
fn parse_prefix(word: &str) -> Option<ProtocolName> {
    let by_prefix = || names().iter().find(|known| known.prefix() == word);
    parse(word).or_else(|| by_prefix().copied())
}

/// Splits what a person typed into a protocol, if one is named, and the rest.
///
/// A name may contain a colon itself, so only a known protocol before the first colon counts.
pub fn split(text: &str) -> (Option<ProtocolName>, &str) {
    let named = text
        .split_once(':')
        .and_then(|(protocol, name)| Some((parse_prefix(protocol)?, name)));
    match named {
        Some((protocol, name)) => (Some(protocol), name),
        None => (None, text),
    }
}

/// Returns a protocol by its name.
///
/// A name is only made by a protocol of the list, so the first protocol is never a wrong answer.
pub fn find(name: ProtocolName) -> &'static dyn Protocol {
    let mut all = ALL.iter();
    let found = all.find(|protocol| protocol.name() == name);
    *found.unwrap_or(&ALL[0])
}

/// Returns the open workflows of a protocol, quickly if it can.
pub fn open(protocol: &dyn Protocol, world: &dyn World, known: &Known<'_>) -> Open {
    if let Some(survey) = protocol.survey() {
        return survey.open(world, known);
    }
    let case = protocol.inspect(world, &Ask::default());
    let workflows = case.assessment().workflows.iter();
    let open = workflows.filter(|summary| summary.state.is_open());
    Open {
        workflows: open.cloned().collect(),
        ..Open::default()
    }
}

/// Returns the folders at the top of a project that hold the files of workflows run by the engine.
pub fn own_folders() -> Vec<&'static str> {
    let engines = ALL.iter().filter_map(|protocol| protocol.engine());
    engines.flat_map(Engine::own_folders).copied().collect()
}

/// Returns the protocol that `rekindle run` starts workflows of.
pub fn starter() -> (ProtocolName, &'static dyn Starter) {
    let starter = &rekindle_agent_memory::AgentMemory;
    (starter.name(), starter)
}

/// Returns the protocol that has validators.
pub fn validator() -> Option<(ProtocolName, &'static dyn Validator)> {
    first(|protocol| protocol.validator())
}

/// Returns the protocol that can migrate an older layout.
pub fn migrator() -> Option<(ProtocolName, &'static dyn Migrator)> {
    first(|protocol| protocol.migrator())
}

/// Returns the protocol that finds sessions of coding agents in every folder.
pub fn sessions() -> (ProtocolName, &'static dyn SessionKeeper) {
    let sessions = &rekindle_sessions::Sessions;
    (sessions.name(), sessions)
}

fn first<T: ?Sized>(
    capability: impl Fn(&'static dyn Protocol) -> Option<&'static T>,
) -> Option<(ProtocolName, &'static T)> {
    let mut all = ALL.iter();
    all.find_map(|protocol| Some((protocol.name(), capability(*protocol)?)))
}

/// Returns the workflow that a text names; without a protocol it is one of the starter's.
pub fn workflow(text: &str) -> WorkflowId {
    let (protocol, name) = split(text);
    WorkflowId::new(protocol.unwrap_or_else(|| starter().0), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_split_only_at_a_known_protocol() {
        for protocol in names() {
            let text = format!("{protocol}:a:b");
            assert_eq!(split(&text), (Some(*protocol), "a:b"));
            assert_eq!(parse(protocol.as_str()), Some(*protocol));
            assert_eq!(find(*protocol).name(), *protocol);
        }
        assert_eq!(split("phase-1:exec"), (None, "phase-1:exec"));
        assert_eq!(split("plain"), (None, "plain"));
    }

    #[test]
    fn no_two_protocols_share_a_name() {
        let mut sorted = names().to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), ALL.len());
    }
}
