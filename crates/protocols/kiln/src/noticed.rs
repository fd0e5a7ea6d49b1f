//! What is odd about a project's files, each by itself.

use camino::Utf8PathBuf;
use rekindle_model::{Code, Finding, Place};
use rekindle_text::excerpt;

use super::assess::MOST_CORRECTIONS;
use super::layout;
use super::memory::Memory;
use super::read::Project;

/// Returns the findings of one reading.
pub(super) fn noticed(project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    let memory = project.memory_file();
    let layout = &project.layout;
    if layout.is_elsewhere {
        let message = format!(
            "the memory was found in `{}`, which is not the folder of the seed's rule",
            layout.shown_memory()
        );
        findings.push(Finding::new(Code::MemoryElsewhere, message).at(Place::path(&memory)));
    }
    if let Some(path) = project
        .fields
        .project_path
        .as_deref()
        .filter(|path| path.trim_end_matches('/') != layout.project)
    {
        let message = format!(
            "the memory was written for `{}`, and this is `{}`",
            excerpt(path, 200),
            excerpt(layout.project.as_str(), 200)
        );
        findings.push(Finding::new(Code::OtherProjectPath, message).at(Place::path(&memory)));
    }
    for (key, value, at) in &project.fields.odd {
        let message = format!(
            "`{key}: {}` is no value that kiln knows, so it does not count",
            excerpt(value, 80)
        );
        findings.push(
            Finding::new(Code::OddMemoryField, message)
                .at(Place::line(&memory, Memory::line_number(*at))),
        );
    }
    let line = |at: usize| Place::line(&memory, Memory::line_number(at));
    for (key, at) in &project.fields.repeated {
        let message = format!("`{key}` stands there again; the first in its section counts");
        findings.push(Finding::new(Code::OddMemoryField, message).at(line(*at)));
    }
    if project.fields.correction_cycle > MOST_CORRECTIONS {
        let message = format!(
            "`correction_cycle: {}` is more than kiln's {MOST_CORRECTIONS}; no correction is begun",
            project.fields.correction_cycle
        );
        findings.push(Finding::new(Code::OddMemoryField, message).at(Place::path(&memory)));
    }
    for at in project.memory.stray_phase_lines() {
        let message = "the line of a phase is no list item at the first column (`- phase_number: …`), so it does not count";
        findings.push(Finding::new(Code::OddPhaseLine, message).at(line(at)));
    }
    for (at, line) in project.memory.phase_lines() {
        if line.number.is_none() || line.status.is_none() {
            let message = "the line of a phase does not say which phase it is or how far; the phase counts as pending";
            findings.push(
                Finding::new(Code::OddPhaseLine, message)
                    .at(Place::line(&memory, Memory::line_number(at))),
            );
        }
    }
    let master_plan = project.memory_dir.join(layout::MASTER_PLAN);
    for (words, line) in &project.plan.odd {
        let message = format!(
            "`### {}` begins like a phase and has no number of its own, so it is none",
            excerpt(words, 80)
        );
        findings.push(
            Finding::new(Code::OddPhaseHeading, message)
                .at(Place::line(&master_plan, number(*line))),
        );
    }
    for (phase, state) in &project.states {
        let path = Utf8PathBuf::from(".kiln").join(layout::phase_state(*phase));
        for (text, line) in &state.odd {
            let message = format!(
                "`{}` is no event of a phase, so it does not count",
                excerpt(text, 120)
            );
            findings.push(
                Finding::new(Code::OddPhaseEvent, message).at(Place::line(&path, number(*line))),
            );
        }
    }
    findings
}

fn number(line: usize) -> u64 {
    u64::try_from(line).unwrap_or(u64::MAX)
}
