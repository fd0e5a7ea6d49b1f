//! Why a phase is in its state: what the archive, the memory, the plan and the state file said.

use camino::Utf8PathBuf;
use rekindle_model::{Explanation, Place, Said, WorkflowId};
use rekindle_text::{excerpt, parse_instant};

use super::assess::{Judged, Routing};
use super::layout;
use super::memory::{Memory, PhaseLine};
use super::values::PhaseStatus;

/// Tells why a phase is in its state, or `None` when there is no such phase.
pub(super) fn explain(judged: &Judged, phase: &str) -> Option<Explanation> {
    let number = phase.strip_prefix("phase-").unwrap_or(phase).parse().ok()?;
    let found = judged.phase(number)?;
    let is_archived = judged.project.archived.contains(&number);
    let line = line_of(judged, number);
    let rule = match (is_archived, &line) {
        (true, _) => "its summary is in the archive, which is made only after the merge".to_owned(),
        (
            false,
            Some((
                _,
                PhaseLine {
                    status: Some(_), ..
                },
            )),
        ) => "its line in MEMORY.md says so, and the archive does not say more".to_owned(),
        (false, Some(_)) => {
            "its line in MEMORY.md can not be read, so it counts as pending".to_owned()
        }
        (false, None) => "MEMORY.md has no line for it, so it is pending".to_owned(),
    };
    let said = vec![
        archive(number, is_archived),
        memory(judged, line.as_ref(), !is_archived),
        planned(judged, number),
        state_file(judged, number),
    ];
    Some(Explanation::new(
        WorkflowId::new(crate::NAME, judged.project.layout.name()),
        format!("phase-{number}"),
        found.status.as_str(),
        rule,
        said,
    ))
}

fn line_of(judged: &Judged, number: u32) -> Option<(usize, PhaseLine)> {
    let lines = judged.project.memory.phase_lines();
    lines
        .into_iter()
        .rfind(|(_, line)| line.number == Some(number))
}

fn archive(number: u32, is_archived: bool) -> Said {
    let what = if is_archived {
        "the phase's summary is there"
    } else {
        "there is no summary of the phase"
    };
    Said {
        place: Place::path(Utf8PathBuf::from(".kiln").join(layout::phase_summary(number))),
        at: None,
        what: what.to_owned(),
        decided: is_archived,
    }
}

fn memory(judged: &Judged, line: Option<&(usize, PhaseLine)>, decided: bool) -> Said {
    let file = judged.project.memory_file();
    let (place, what) = match line {
        Some((at, line)) => {
            let what = match line.status {
                Some(status) => format!("phase_status: {}", status.as_str()),
                None => "a phase_status that kiln does not know".to_owned(),
            };
            (Place::line(file, Memory::line_number(*at)), what)
        }
        None => (Place::path(file), "no line for it".to_owned()),
    };
    Said {
        place,
        at: judged.project.fields.last_updated,
        what,
        decided,
    }
}

fn planned(judged: &Judged, number: u32) -> Said {
    let file = judged.project.memory_dir.join(layout::MASTER_PLAN);
    let (place, what) = match judged.project.plan.phase(number) {
        Some(phase) => {
            let line = u64::try_from(phase.line).unwrap_or(u64::MAX);
            (
                Place::line(file, line),
                format!("planned as `{}`", excerpt(&phase.name, 120)),
            )
        }
        None => (
            Place::path(file),
            "not planned there; the memory's own lines are the phases".to_owned(),
        ),
    };
    Said::new(place, what, false)
}

/// The state file decides where a phase goes on, and never how far it is.
fn state_file(judged: &Judged, number: u32) -> Said {
    let path = Utf8PathBuf::from(".kiln").join(layout::phase_state(number));
    let Some(state) = judged.project.states.get(&number) else {
        return Said {
            place: Place::path(path),
            at: None,
            what: "there is no state file".to_owned(),
            decided: false,
        };
    };
    let mut what = format!("status `{}`", excerpt(&state.status, 80));
    let Some(last) = state.last() else {
        return Said {
            place: Place::path(path),
            at: None,
            what: format!("{what}, no events"),
            decided: false,
        };
    };
    what.push_str(&format!(", last event {}", last.kind.as_str()));
    if let Routing::Execution(execution) = &judged.routing
        && execution.phase.number == number
        && execution.phase.status != PhaseStatus::Completed
    {
        let restart = &execution.restart;
        what.push_str(&format!(
            "; goes on with step {}: {}",
            restart.step.as_str(),
            restart.how
        ));
    }
    Said {
        place: Place::line(path, u64::try_from(last.line).unwrap_or(u64::MAX)),
        at: parse_instant(&last.at),
        what,
        decided: false,
    }
}
