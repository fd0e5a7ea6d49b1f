//! `.bifrost/active-workflow`: the active feature and its phase, in one line.
//!
//! It is read leniently and written canonically; other spellings are reported.

use super::layout::{SPECS, feature_name};
use super::phase::Phase;

/// The content of the marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// The feature, if its name is valid.
    pub(super) feature: Option<String>,
    /// The phase, if readable.
    pub(super) phase: Option<Phase>,
    /// The phases that are over by it.
    pub(super) completed: Vec<Phase>,
    /// Whether it is spelled byte for byte as it must be.
    pub(super) is_well_formed: bool,
}

impl Marker {
    /// Reads the file; `None` if it is blank.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}');
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        let (path, rest) = line.split_once(':').unwrap_or((line, ""));
        let feature = feature_name(path.trim()).ok();
        let (phase, completed) = rest.split_once('|').unwrap_or((rest, ""));
        let completed: Vec<Phase> = completed.split(',').filter_map(Phase::read).collect();
        let phase = Phase::read(phase);
        let is_written = |(feature, phase): (&String, Phase)| {
            bytes == written(feature, phase, completed.iter().copied()).as_bytes()
        };
        let is_well_formed = feature.as_ref().zip(phase).is_some_and(is_written)
            && completed.is_sorted_by(|a, b| a < b);
        Some(Self {
            feature,
            phase,
            completed,
            is_well_formed,
        })
    }
}

/// Returns the marker as it is written.
pub(super) fn written(
    feature: &str,
    phase: Phase,
    completed: impl IntoIterator<Item = Phase>,
) -> String {
    let completed: Vec<&str> = completed.into_iter().map(Phase::as_str).collect();
    format!(
        "{SPECS}/{feature}:{}|{}\n",
        phase.as_str(),
        completed.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_reports_malformed_markers() {
        let table = [
            ("specs/x:spec|\n", "x", Some(Phase::Spec), true),
            ("specs/x:plan|spec,plan\n", "x", Some(Phase::Plan), true),
            ("specs/x:plan|spec", "x", Some(Phase::Plan), false),
            ("specs/x:plan|spec\r\n", "x", Some(Phase::Plan), false),
            ("specs/x:plan|spec\n\n", "x", Some(Phase::Plan), false),
            ("\nspecs/x:plan|spec\n", "x", Some(Phase::Plan), false),
            ("specs/x: plan | spec \n", "x", Some(Phase::Plan), false),
            (
                "specs/x:implementation|spec, plan\n",
                "x",
                Some(Phase::Implement),
                false,
            ),
            (
                "specs/x:implement|spec,plan,tasks,implement,implement\n",
                "x",
                Some(Phase::Implement),
                false,
            ),
            ("specs/x:plan|plan,spec\n", "x", Some(Phase::Plan), false),
            ("specs/x:plan|spec,review\n", "x", Some(Phase::Plan), false),
            ("x:plan|spec\n", "x", Some(Phase::Plan), false),
            ("\u{feff}specs/x:plan|spec\n", "x", Some(Phase::Plan), false),
            ("specs/x\n", "x", None, false),
            ("specs/x:|spec\n", "x", None, false),
        ];
        for (text, feature, phase, is_well_formed) in table {
            let marker = Marker::parse(text.as_bytes()).unwrap();
            let found = (
                marker.feature.as_deref(),
                marker.phase,
                marker.is_well_formed,
            );
            assert_eq!(found, (Some(feature), phase, is_well_formed), "{text:?}");
        }
        for blank in ["", "\n \n"] {
            assert_eq!(Marker::parse(blank.as_bytes()), None, "{blank:?}");
        }
        for text in ["specs/../x:plan|\n", "specs/:plan|\n", "\u{0}"] {
            let marker = Marker::parse(text.as_bytes()).unwrap();
            assert_eq!(
                (marker.feature, marker.is_well_formed),
                (None, false),
                "{text:?}"
            );
        }
    }
}
