//! Marks of the files before an agent starts, to recognize later what the agent changed.
//!
//! A mark is made for a task and carried in it; afterwards the files are compared with it. A report is
//! new if its text or its time has changed.

use super::memory::Fields;
use super::read::Project;
use super::report;
use super::values::Verdict;

/// Returns the mark of what Argus can write: the report, and its section of the memory.
pub(super) fn before_validation(project: &Project) -> String {
    format!("{} {}", of_report(project), of_section(project))
}

/// What Argus wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Nothing.
    Nothing,
    /// Something without a verdict.
    NoVerdict,
    /// A verdict in the report.
    Reported(Verdict),
    /// A verdict in the memory alone.
    Noted(Verdict),
}

impl Left {
    /// Returns whether it has a verdict.
    pub(super) const fn is_verdict(self) -> bool {
        matches!(self, Self::Reported(_) | Self::Noted(_))
    }
}

/// Returns what Argus wrote since a mark; without a mark nothing counts.
pub(super) fn left(project: &Project, mark: Option<&str>) -> Left {
    let Some((report, section)) = mark.and_then(|mark| mark.split_once(' ')) else {
        return Left::Nothing;
    };
    let reported = project
        .report
        .as_ref()
        .filter(|_| report != of_report(project));
    if let Some(verdict) = reported.and_then(|report| report.verdict) {
        return Left::Reported(verdict);
    }
    let noted = Some(project.memory.validation()).filter(|_| section != of_section(project));
    let verdict = noted
        .as_ref()
        .and_then(|_| report::verdict(&project.memory.verdict()?));
    match (verdict, reported.is_some() || noted.is_some()) {
        (Some(verdict), _) => Left::Noted(verdict),
        (None, true) => Left::NoVerdict,
        (None, false) => Left::Nothing,
    }
}

/// Returns the mark of the handoff to an executor: the note and the context.
pub(super) fn before_correction(fields: &Fields) -> String {
    format!(
        "{} {}",
        mark(&fields.handoff_note),
        mark(&fields.handoff_context)
    )
}

/// Returns the mark of the handoff and of a phase's results, which an earlier attempt may have left.
pub(super) fn before_phase(project: &Project, phase: u32) -> String {
    format!(
        "{} {}",
        before_correction(&project.fields),
        of_results(project, phase)
    )
}

/// Returns whether a phase has new results since a mark.
pub(super) fn has_new_results(project: &Project, phase: u32, before: Option<&str>) -> bool {
    let said = project.results.get(&phase).map_or("", |text| text.trim());
    let before = before.and_then(|before| before.split(' ').nth(2));
    !said.is_empty() && before != Some(of_results(project, phase).as_str())
}

/// Returns whether an executor has left a note since a mark.
pub(super) fn has_own_note(fields: &Fields, before: Option<&str>) -> bool {
    let before = before.and_then(|before| before.split(' ').next());
    let is_new = before.is_some_and(|before| before != mark(&fields.handoff_note));
    is_new && !fields.handoff_note.is_empty()
}

fn of_report(project: &Project) -> String {
    project.report.as_ref().map_or_else(nothing, |report| {
        let modified = report.modified.map_or_else(nothing, |at| at.to_string());
        format!("{}@{modified}", mark(&report.text))
    })
}

fn of_results(project: &Project, phase: u32) -> String {
    project
        .results
        .get(&phase)
        .map_or_else(nothing, |text| mark(text))
}

fn of_section(project: &Project) -> String {
    mark(&project.memory.validation())
}

fn nothing() -> String {
    "-".to_owned()
}

/// Returns the mark of a text.
fn mark(text: &str) -> String {
    rekindle_text::sha256_hex(text.as_bytes(), 32)
}
