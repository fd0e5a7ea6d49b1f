//! Kiln's agents: their names, and the quotes they are started with, in turn.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// An agent that a resume starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// Does a phase.
    Maestro,
    /// Validates what was built.
    Argus,
}

impl Helper {
    /// Returns the name that people use.
    pub(super) const fn alias(self) -> &'static str {
        match self {
            Self::Maestro => "Maestro",
            Self::Argus => "Argus",
        }
    }

    /// Returns the kind of agent, as the host knows it.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Maestro => "kiln-phase-executor",
            Self::Argus => "kiln-validator",
        }
    }

    /// Returns the agent of a kind.
    pub(super) fn of(kind: &str) -> Option<Self> {
        [Self::Maestro, Self::Argus]
            .into_iter()
            .find(|helper| helper.kind() == kind)
    }
}

/// The quotes of names.json, and the last one used of each agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    quotes: BTreeMap<&'static str, Vec<String>>,
    used: BTreeMap<&'static str, usize>,
}

impl Names {
    /// Reads names.json and our own log of started agents; either may be missing or damaged.
    pub(super) fn parse(names: Option<&str>, log: Option<&str>) -> Self {
        let mut read = Self::default();
        let names: Value = names
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        for kind in [Helper::Maestro.kind(), Helper::Argus.kind()] {
            let quotes = names.pointer(&format!("/{kind}/quotes"));
            let quotes = quotes.and_then(Value::as_array).into_iter().flatten();
            let texts = quotes.filter_map(Value::as_str).map(str::to_owned);
            read.quotes.insert(kind, texts.collect());
        }
        let used = |line: &str| {
            let entry: Value = serde_json::from_str(line).ok()?;
            let helper = Helper::of(entry.get("agent")?.as_str()?)?;
            let quote = usize::try_from(entry.get("quote")?.as_u64()?).ok()?;
            Some((helper.kind(), quote))
        };
        read.used
            .extend(log.unwrap_or_default().lines().filter_map(used));
        read
    }

    /// Returns the next quote with its position: after the last one used, else the one of this turn.
    pub(super) fn next(&self, helper: Helper, turn: usize) -> Option<(usize, &str)> {
        let quotes = self.quotes.get(helper.kind())?;
        let used = self.used.get(helper.kind());
        let place = used.map_or(turn, |used| used.saturating_add(1));
        let place = place.checked_rem(quotes.len())?;
        Some((place, quotes.get(place)?))
    }
}

/// Returns the log line of a started agent and its quote.
pub(super) fn started(helper: Helper, quote: Option<usize>, at: &str) -> String {
    json!({"timestamp": at, "agent": helper.kind(), "quote": quote}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str =
        r#"{"kiln": {"alias": "Kiln"}, "kiln-phase-executor": {"quotes": ["a", "b", "c"]}}"#;

    #[test]
    fn quotes_rotate_from_the_turn_or_the_last_used_quote() {
        let fresh = Names::parse(Some(NAMES), None);
        let at = |names: &Names, turn| {
            names
                .next(Helper::Maestro, turn)
                .map(|(_, quote)| quote.to_owned())
        };
        assert_eq!(at(&fresh, 0).as_deref(), Some("a"));
        assert_eq!(at(&fresh, 1).as_deref(), Some("b"));
        assert_eq!(at(&fresh, 3).as_deref(), Some("a"));
        let log = format!(
            "{}\ntorn{{\n{}\n",
            started(Helper::Argus, Some(0), "t"),
            started(Helper::Maestro, Some(2), "t")
        );
        let used = Names::parse(Some(NAMES), Some(&log));
        assert_eq!(at(&used, 1).as_deref(), Some("a"));
        assert_eq!(used.next(Helper::Argus, 0), None);
    }

    #[test]
    fn missing_or_empty_names_give_no_quote() {
        for names in [
            None,
            Some(""),
            Some("[]"),
            Some(r#"{"kiln-phase-executor": {"quotes": []}}"#),
        ] {
            assert_eq!(
                Names::parse(names, None).next(Helper::Maestro, 4),
                None,
                "{names:?}"
            );
        }
    }
}
