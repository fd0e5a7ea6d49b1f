//! Kiln's agents: their names, and the quotes they are sent off with, one after the other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// An agent that a resume sends off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// Does a phase.
    Maestro,
    /// Validates what was built.
    Argus,
}

impl Helper {
    /// Returns the name that people know.
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

/// The quotes of names.json, and which of them was used last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    quotes: BTreeMap<&'static str, Vec<String>>,
    used: BTreeMap<&'static str, usize>,
}

impl Names {
    /// Reads names.json and our own log of who was sent off; either may be missing or damaged.
    pub(super) fn parse(names: Option<&str>, log: Option<&str>) -> Self {
        let mut read = Self::default();
        let names: Value = names
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        for helper in [Helper::Maestro, Helper::Argus] {
            let quotes = names
                .pointer(&format!("/{}/quotes", helper.kind()))
                .and_then(Value::as_array);
            let texts = quotes.into_iter().flatten().filter_map(Value::as_str);
            read.quotes
                .insert(helper.kind(), texts.map(str::to_owned).collect());
        }
        for line in log.unwrap_or_default().lines() {
            let Ok(entry) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let helper = entry
                .get("agent")
                .and_then(Value::as_str)
                .and_then(Helper::of);
            let quote = entry.get("quote").and_then(Value::as_u64);
            if let Some((helper, quote)) =
                helper.zip(quote.and_then(|quote| usize::try_from(quote).ok()))
            {
                read.used.insert(helper.kind(), quote);
            }
        }
        read
    }

    /// Returns the next quote with its place: behind the one used last, else the one of this turn.
    pub(super) fn next(&self, helper: Helper, turn: usize) -> Option<(usize, &str)> {
        let quotes = self.quotes.get(helper.kind())?;
        let place = self
            .used
            .get(helper.kind())
            .map_or(turn, |used| used.saturating_add(1));
        let place = place.checked_rem(quotes.len())?;
        Some((place, quotes.get(place)?))
    }
}

/// Returns the line that notes who was sent off, and with which quote.
pub(super) fn sent(helper: Helper, quote: Option<usize>, at: &str) -> String {
    json!({"timestamp": at, "agent": helper.kind(), "quote": quote}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str =
        r#"{"kiln": {"alias": "Kiln"}, "kiln-phase-executor": {"quotes": ["a", "b", "c"]}}"#;

    #[test]
    fn quotes_go_round_from_the_turn_or_from_the_last_one_used() {
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
            sent(Helper::Argus, Some(0), "t"),
            sent(Helper::Maestro, Some(2), "t")
        );
        let used = Names::parse(Some(NAMES), Some(&log));
        assert_eq!(at(&used, 1).as_deref(), Some("a"));
        assert_eq!(used.next(Helper::Argus, 0), None);
    }

    #[test]
    fn without_names_there_is_no_quote_and_no_failure() {
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
