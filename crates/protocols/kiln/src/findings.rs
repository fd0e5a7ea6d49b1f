//! What was noticed in a project's files.

use rekindle_model::{Code, Finding, Place};
use rekindle_text::excerpt;

use super::assess::MOST_CORRECTIONS;
use super::inventory::Phase;
use super::memory::{Fields, Memory};
use super::read::Project;
use super::{layout, messages};

/// Returns the findings of one reading.
pub(super) fn findings(project: &Project) -> Vec<Finding> {
    let mut findings = location(project);
    findings.extend(fields(project));
    findings.extend(phase_lines(project));
    let master_plan = project.memory_dir.join(layout::MASTER_PLAN);
    findings.extend(project.plan.odd.iter().map(|(words, line)| {
        let message = format!(
            "`### {}`: phase heading without a unique number; ignored",
            excerpt(words, 80)
        );
        Finding::new(Code::OddPhaseHeading, message).at(Place::line(&master_plan, *line))
    }));
    for (phase, state) in &project.states {
        let path = layout::shown_in_kiln(&layout::phase_state(*phase));
        findings.extend(state.odd.iter().map(|(text, line)| {
            let message = format!("`{}`: not an event of a phase; ignored", excerpt(text, 120));
            Finding::new(Code::OddPhaseEvent, message).at(Place::line(&path, *line))
        }));
    }
    findings
}

fn location(project: &Project) -> Vec<Finding> {
    let layout = &project.layout;
    let at = |code, message| Finding::new(code, message).at(Place::path(project.memory_file()));
    let elsewhere = layout.is_elsewhere.then(|| {
        let folder = layout.shown_memory();
        let message =
            format!("the memory was found in `{folder}`, which is not the folder that kiln names");
        at(Code::MemoryElsewhere, message)
    });
    let path = project.fields.project_path.as_deref();
    let other = path.filter(|path| path.trim_end_matches('/') != layout.project);
    let other = other.map(|path| {
        let message = format!(
            "the memory was written for `{}`, and this is `{}`",
            excerpt(path, 200),
            excerpt(layout.project.as_str(), 200)
        );
        at(Code::OtherProjectPath, message)
    });
    elsewhere.into_iter().chain(other).collect()
}

fn fields(project: &Project) -> Vec<Finding> {
    let Fields {
        odd,
        repeated,
        correction_cycle,
        ..
    } = &project.fields;
    let odd_field = |message: String| Finding::new(Code::OddMemoryField, message);
    let unknown = odd.iter().map(|(key, value, at)| {
        let value = excerpt(value, 80);
        odd_field(format!("`{key}: {value}`: unknown value; ignored")).at(line(project, *at))
    });
    let repeated = repeated.iter().map(|(key, at)| {
        odd_field(format!(
            "`{key}` is repeated; the first in its section counts"
        ))
        .at(line(project, *at))
    });
    let cycle = (*correction_cycle > MOST_CORRECTIONS).then(|| {
        let message = format!(
            "`correction_cycle: {correction_cycle}` is more than kiln's {MOST_CORRECTIONS}; no correction is started"
        );
        odd_field(message).at(Place::path(project.memory_file()))
    });
    unknown.chain(repeated).chain(cycle).collect()
}

fn phase_lines(project: &Project) -> Vec<Finding> {
    let odd =
        |at: usize, message: &str| Finding::new(Code::OddPhaseLine, message).at(line(project, at));
    let stray = project.memory.stray_phase_lines().into_iter().map(|at| {
        odd(
            at,
            "phase line is not a list item at the first column (`- phase_number: …`); ignored",
        )
    });
    let lines = project.memory.phase_lines().into_iter();
    let incomplete = lines.filter(|(_, line)| line.number.is_none() || line.status.is_none());
    let incomplete = incomplete.map(|(at, _)| {
        odd(
            at,
            "phase line without a known phase or status; the phase counts as pending",
        )
    });
    stray.chain(incomplete).collect()
}

fn line(project: &Project, at: usize) -> Place {
    Place::line(project.memory_file(), Memory::line_number(at))
}

/// Returns the finding of a memory line for a phase that the plan lacks.
pub(super) fn unplanned_phase(project: &Project, number: u32, at: usize) -> Finding {
    let message =
        format!("the memory has a line for phase {number}, which master-plan.md lacks; ignored");
    Finding::new(Code::UnplannedPhase, message).at(line(project, at))
}

/// Returns the finding of several phases with a status that only one should have.
pub(super) fn several_phases(project: &Project, numbers: &[String], word: &str) -> Finding {
    let message = format!(
        "phases {} are {word}; the lowest comes first",
        numbers.join(", ")
    );
    Finding::new(Code::SeveralOpenPhases, message).at(Place::path(project.memory_file()))
}

/// Returns the finding of a project without known phases.
pub(super) fn no_phases(project: &Project, inventory: &[Phase]) -> Finding {
    let message = format!(
        "{}, so the remaining work is unknown",
        messages::no_phases(inventory)
    );
    at_plan(project, Code::NoPhases, message)
}

/// Returns the finding of a plan that lacks unfinished phases.
pub(super) fn phases_missing(project: &Project, lacking: &str) -> Finding {
    let message = format!("master-plan.md lacks {lacking}, so not all phases are done");
    at_plan(project, Code::PhasesMissing, message)
}

fn at_plan(project: &Project, code: Code, message: String) -> Finding {
    let place = Place::path(project.memory_dir.join(layout::MASTER_PLAN));
    Finding::new(code, message).at(place)
}
