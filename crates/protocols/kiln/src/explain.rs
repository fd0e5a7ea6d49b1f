//! Why a phase is in its state: what the archive, the memory, the plan and the state file say.

use rekindle_model::{Explanation, Place, Said, WorkflowId};
use rekindle_text::{excerpt, parse_instant};

use super::assess::{Judged, Routing};
use super::layout;
use super::memory::{Memory, PhaseLine};
use super::values::PhaseStatus;

/// Explains why a phase is in its state; `None` if there is no such phase.
pub(super) fn explain(judged: &Judged, phase: &str) -> Option<Explanation> {
    let number = phase.strip_prefix("phase-").unwrap_or(phase).parse().ok()?;
    let found = judged.phase(number)?;
    let is_archived = judged.project.archived.contains(&number);
    let mut lines = judged.project.memory.phase_lines().into_iter();
    let line = lines.rfind(|(_, line)| line.number == Some(number));
    let rule = match &line {
        _ if is_archived => "its summary is in the archive, which is made only after the merge",
        Some((_, line)) if line.status.is_some() => {
            "its line in MEMORY.md decides, because the archive has no summary"
        }
        Some(_) => "its line in MEMORY.md cannot be read, so it counts as pending",
        None => "MEMORY.md has no line for it, so it is pending",
    };
    let said = vec![
        archive(number, is_archived),
        memory(judged, line.as_ref(), !is_archived),
        planned(judged, number),
        state_file(judged, number),
    ];
    let id = WorkflowId::new(crate::NAME, judged.project.layout.name());
    let task = format!("phase-{number}");
    Some(Explanation::new(
        id,
        task,
        found.status.as_str(),
        rule,
        said,
    ))
}

fn archive(number: u32, is_archived: bool) -> Said {
    let what = if is_archived {
        "summary of the phase"
    } else {
        "no summary of the phase"
    };
    let path = layout::shown_in_kiln(&layout::phase_summary(number));
    Said::new(Place::path(path), what, is_archived)
}

fn memory(judged: &Judged, line: Option<&(usize, PhaseLine)>, decided: bool) -> Said {
    let file = judged.project.memory_file();
    let said = match line {
        Some((at, line)) => {
            let what = match line.status {
                Some(status) => format!("phase_status: {}", status.as_str()),
                None => "unknown phase_status".to_owned(),
            };
            Said::new(Place::line(file, Memory::line_number(*at)), what, decided)
        }
        None => Said::new(Place::path(file), "no line for it", decided),
    };
    said.when(judged.project.fields.last_updated)
}

fn planned(judged: &Judged, number: u32) -> Said {
    let file = judged.project.memory_dir.join(layout::MASTER_PLAN);
    if let Some(phase) = judged.project.plan.phase(number) {
        let what = format!("planned as `{}`", excerpt(&phase.name, 120));
        Said::new(Place::line(file, phase.line), what, false)
    } else {
        let what = "not planned there; the lines of MEMORY.md are the phases";
        Said::new(Place::path(file), what, false)
    }
}

/// The state file decides where a phase continues, never its status.
fn state_file(judged: &Judged, number: u32) -> Said {
    let path = layout::shown_in_kiln(&layout::phase_state(number));
    let Some(state) = judged.project.states.get(&number) else {
        return Said::new(Place::path(path), "no state file", false);
    };
    let mut what = format!("status `{}`", excerpt(&state.status, 80));
    let Some(last) = state.last() else {
        return Said::new(Place::path(path), format!("{what}, no events"), false);
    };
    what.push_str(&format!(", last event {}", last.kind.as_str()));
    if let Routing::Execution(execution) = &judged.routing
        && execution.phase.number == number
        && execution.phase.status != PhaseStatus::Completed
    {
        let (step, how) = (execution.restart.step.as_str(), &execution.restart.how);
        what.push_str(&format!("; continues with step {step}: {how}"));
    }
    Said::new(Place::line(path, last.line), what, false).when(parse_instant(&last.at))
}
