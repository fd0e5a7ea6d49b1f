//! MEMORY.md: the sole source of truth of a kiln project, read leniently and edited in place.
//!
//! A field is searched in the section where kiln's template has it, then anywhere else at the first
//! column, but never in sections with another purpose. Two fields must have known values, `stage` and
//! `status`; without them the file is corrupt and nothing is resumed.
//! Start at [`Memory::parse`] and [`Memory::read`].

mod edit;
mod page;
mod phase_line;

use jiff::Timestamp;
use rekindle_text::parse_instant;

use self::page::{Field, Page};
pub(super) use self::phase_line::PhaseLine;
use super::values::{PhaseStatus, Stage, Status, SubStage};

/// The section with a line for each phase.
pub(super) const PHASES: &str = "Phase Statuses";
/// The section with a line for each resume.
pub(super) const RESUME_LOG: &str = "Resume Log";
/// The section with the corrections that validation asked for.
pub(super) const CORRECTION_LOG: &str = "Correction Log";
/// The section that `/kiln:reset` writes.
const RESET_NOTES: &str = "Reset Notes";
/// The section that Argus writes.
const VALIDATION: &str = "Validation";
/// Sections whose keys are not fields of the project.
const FOREIGN: [&str; 6] = [
    PHASES,
    RESUME_LOG,
    CORRECTION_LOG,
    RESET_NOTES,
    VALIDATION,
    "Phase Results",
];

/// The file, as bytes and as lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Memory {
    page: Page,
}

/// The values of the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) stage: Stage,
    pub(super) status: Status,
    pub(super) phase_number: Option<u32>,
    pub(super) phase_name: String,
    pub(super) phase_total: Option<u32>,
    pub(super) handoff_note: String,
    pub(super) handoff_context: String,
    pub(super) debate_mode: u32,
    pub(super) sub_stage: Option<SubStage>,
    pub(super) project_mode: Option<String>,
    pub(super) project_path: Option<String>,
    pub(super) last_updated: Option<Timestamp>,
    pub(super) correction_cycle: u32,
    pub(super) recommended: Option<String>,
    /// Whether a correction was started and its end is not recorded.
    pub(super) has_open_correction: bool,
    /// Fields with an unknown value, with the value and the line.
    pub(super) odd: Vec<(&'static str, String, usize)>,
    /// Fields that are repeated in their section, with the line.
    pub(super) repeated: Vec<(&'static str, usize)>,
}

/// The fields that are read.
const KEYS: [&str; 13] = [
    "stage",
    "status",
    "phase_number",
    "phase_name",
    "phase_total",
    "handoff_note",
    "handoff_context",
    "debate_mode",
    "planning_sub_stage",
    "project_mode",
    "project_path",
    "last_updated",
    "correction_cycle",
];

impl Memory {
    /// Reads any bytes.
    pub(super) fn parse(bytes: Vec<u8>) -> Self {
        Self {
            page: Page::parse(bytes),
        }
    }

    /// Returns the bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        self.page.document.as_bytes()
    }

    /// Returns the whole file as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Returns whether it has only blanks and a byte order mark.
    pub(super) fn is_empty(&self) -> bool {
        (0..self.page.lines.len()).all(|at| self.page.is_blank(at))
    }

    /// Returns the values of the fields.
    ///
    /// # Errors
    /// The required fields that are missing or have an unknown value.
    pub(super) fn read(&self) -> Result<Fields, Vec<&'static str>> {
        let stage = self.value("stage").and_then(|value| Stage::parse(&value));
        let status = self.value("status").and_then(|value| Status::parse(&value));
        let (Some(stage), Some(status)) = (stage, status) else {
            let stage = stage.is_none().then_some("stage");
            let status = status.is_none().then_some("status");
            return Err(stage.into_iter().chain(status).collect());
        };
        let mut odd = Vec::new();
        let phase_number = self.parsed("phase_number", &mut odd, |text| text.parse().ok());
        let phase_total = self.parsed("phase_total", &mut odd, |text| text.parse().ok());
        let mode = self.parsed("debate_mode", &mut odd, |text| {
            text.parse().ok().filter(|mode| (1..=3).contains(mode))
        });
        let cycle = self.parsed("correction_cycle", &mut odd, |text| text.parse().ok());
        let sub_stage = self.parsed("planning_sub_stage", &mut odd, SubStage::parse);
        let last_updated = self.parsed("last_updated", &mut odd, parse_instant);
        let single = |key| self.value(key).unwrap_or_default().replace('\n', " ");
        Ok(Fields {
            stage,
            status,
            phase_number,
            phase_name: single("phase_name"),
            phase_total,
            handoff_note: single("handoff_note"),
            handoff_context: self.value("handoff_context").unwrap_or_default(),
            debate_mode: mode.unwrap_or(2),
            sub_stage,
            project_mode: self.value("project_mode"),
            project_path: self.value("project_path"),
            last_updated,
            correction_cycle: cycle.unwrap_or(0),
            recommended: self.within(RESET_NOTES, "next_action"),
            has_open_correction: self.has_open_correction(),
            odd,
            repeated: self.repeated(),
        })
    }

    /// Returns the lines of phases with their positions, in order; comments do not count.
    pub(super) fn phase_lines(&self) -> Vec<(usize, PhaseLine)> {
        self.page
            .below(PHASES)
            .filter_map(|at| Some((at, PhaseLine::parse(self.page.content(at))?)))
            .collect()
    }

    /// Returns the status in the last line of a phase.
    pub(super) fn phase_status(&self, number: u32) -> Option<PhaseStatus> {
        let mut lines = self.phase_lines().into_iter().map(|(_, line)| line);
        lines.rfind(|line| line.number == Some(number))?.status
    }

    /// Returns the 1-based number of a line.
    pub(super) fn line_number(at: usize) -> u64 {
        u64::try_from(at).map_or(u64::MAX, |at| at.saturating_add(1))
    }

    /// Returns the verdict that Argus wrote.
    pub(super) fn verdict(&self) -> Option<String> {
        self.within(VALIDATION, "verdict")
    }

    /// Returns the section that Argus wrote.
    pub(super) fn validation(&self) -> String {
        let places = self
            .page
            .named(VALIDATION)
            .flat_map(|section| section.heading..section.end);
        let lines: Vec<String> = places.map(|at| self.page.text(at)).collect();
        lines.join("\n").trim_end().to_owned()
    }

    fn has_open_correction(&self) -> bool {
        let lines = self.page.below(CORRECTION_LOG).map(|at| self.page.text(at));
        let event = |line: String| {
            let is_start = line.contains("[correction_start]");
            (is_start || line.contains("[correction_complete]")).then_some(is_start)
        };
        lines.filter_map(event).last().unwrap_or(false)
    }

    fn repeated(&self) -> Vec<(&'static str, usize)> {
        let again = |key: &'static str| {
            let first = self.find(key);
            let fields = self.page.fields.iter();
            let is_again = move |field: &&Field| {
                field.key == key
                    && first
                        .is_some_and(|first| field.section == first.section && field.at != first.at)
            };
            fields.filter(is_again).map(move |field| (key, field.at))
        };
        KEYS.into_iter().flat_map(again).collect()
    }

    /// Returns lines of the phases' section that name a phase, but are not list items at the first column.
    pub(super) fn stray_phase_lines(&self) -> Vec<usize> {
        let is_stray = |at: &usize| {
            let names_phase = PhaseLine::names_phase(self.page.content(*at));
            let is_read = PhaseLine::parse(self.page.content(*at)).is_some();
            names_phase && !is_read && !self.page.is_comment(*at)
        };
        self.page.below(PHASES).filter(is_stray).collect()
    }

    /// Returns the value of a field in the last section of a name.
    fn within(&self, section: &str, key: &str) -> Option<String> {
        let last = self
            .page
            .sections
            .iter()
            .rposition(|found| found.name == section)?;
        let mut fields = self.page.fields.iter();
        let field = fields.find(|field| field.section == Some(last) && field.key == key)?;
        let value = self.page.value(field).replace('\n', " ");
        Some(value).filter(|value| !is_nothing(value))
    }

    /// Returns the value of a field that has one.
    fn value(&self, key: &str) -> Option<String> {
        let value = self.page.value(self.find(key)?);
        Some(value).filter(|value| !is_nothing(value))
    }

    /// Reads a value, and records it as odd if it is of another form.
    fn parsed<T>(
        &self,
        key: &'static str,
        odd: &mut Vec<(&'static str, String, usize)>,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let field = self.find(key)?;
        let text = self.value(key)?;
        let value = read(&text);
        if value.is_none() {
            odd.push((key, text, field.at));
        }
        value
    }

    /// Returns the field that counts: the first in the section of the template, else the first elsewhere.
    fn find(&self, key: &str) -> Option<&Field> {
        let home = natural_section(key);
        let section = |field: &&Field| {
            let section = field.section.and_then(|at| self.page.sections.get(at));
            section.map_or("", |section| section.name.as_str())
        };
        let mut fields = self.page.fields.iter().filter(|field| field.key == key);
        let elsewhere = fields
            .clone()
            .find(|field| !FOREIGN.contains(&section(field)));
        fields.find(|field| section(field) == home).or(elsewhere)
    }
}

/// Returns the section in which the template has a field.
fn natural_section(key: &str) -> &'static str {
    match key {
        "project_name" | "project_path" | "project_mode" | "date_started" | "last_updated" => {
            "Metadata"
        }
        "handoff_note" | "handoff_context" => "Handoff",
        _ => "Runtime",
    }
}

fn is_nothing(value: &str) -> bool {
    value.is_empty() || value == "null"
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
