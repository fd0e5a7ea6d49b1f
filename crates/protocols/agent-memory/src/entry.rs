//! Which run is meant.

use super::assess::Verdict;

/// How a resume selects its run, in the terms of the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// No incomplete run, and none named.
    FreshStart,
    /// One incomplete run, and none named.
    Continue(String),
    /// A run was named.
    Specified(String),
    /// Several incomplete runs, and none named.
    AskWhichRun,
    /// No run, or more than one, has the name.
    UnknownRun,
}

impl Entry {
    /// Finds the run of a name or of its unique start.
    pub(super) fn find(verdict: &Verdict, name: Option<&str>) -> Self {
        let Some(name) = name else {
            let mut incomplete = verdict.incomplete();
            return match (incomplete.next(), incomplete.next()) {
                (None, _) => Self::FreshStart,
                (Some(run), None) => Self::Continue(run.evidence.id.clone()),
                (Some(_), Some(_)) => Self::AskWhichRun,
            };
        };
        if verdict.run(name).is_some() {
            return Self::Specified(name.to_owned());
        }
        let mut beginning = verdict
            .runs
            .iter()
            .filter(|run| run.evidence.id.starts_with(name));
        match (beginning.next(), beginning.next()) {
            (Some(run), None) if !name.is_empty() => Self::Specified(run.evidence.id.clone()),
            _ => Self::UnknownRun,
        }
    }

    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::FreshStart => "fresh_start",
            Self::Continue(_) => "continue",
            Self::Specified(_) => "specified",
            Self::AskWhichRun => "ask_which_run",
            Self::UnknownRun => "unknown_run",
        }
    }

    pub(super) fn selected(&self) -> Option<&str> {
        match self {
            Self::Continue(run) | Self::Specified(run) => Some(run),
            Self::FreshStart | Self::AskWhichRun | Self::UnknownRun => None,
        }
    }
}
