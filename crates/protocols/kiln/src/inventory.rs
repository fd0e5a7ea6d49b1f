//! The phases of a project, their states, and which comes next.

use std::collections::BTreeSet;

use rekindle_model::Finding;

use super::findings;
use super::handoff;
use super::memory::PhaseLine;
use super::read::Project;
use super::table::{Open, PICKS, Pick};
use super::values::PhaseStatus;

/// A phase and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) status: PhaseStatus,
}

/// Combines the phases of the plan with their states in the memory and the archive.
///
/// Without a plan the memory's own lines are the phases: a missing plan must never look as if all
/// phases were done.
pub(super) fn inventory(project: &Project, findings: &mut Vec<Finding>) -> Vec<Phase> {
    let lines = project.memory.phase_lines();
    let said = |number: u32| -> Option<&PhaseLine> {
        let mut of_phase = lines
            .iter()
            .map(|(_, line)| line)
            .filter(|line| line.number == Some(number));
        of_phase.next_back()
    };
    let status = |number: u32| {
        if project.archived.contains(&number) {
            return PhaseStatus::Completed;
        }
        said(number)
            .and_then(|line| line.status)
            .unwrap_or(PhaseStatus::Pending)
    };
    let mut phases: Vec<Phase> = project
        .plan
        .phases
        .iter()
        .map(|phase| Phase {
            number: phase.number,
            name: phase.name.clone(),
            status: status(phase.number),
        })
        .collect();
    let is_planned = !phases.is_empty();
    for (at, line) in &lines {
        let Some(number) = line
            .number
            .filter(|number| phases.iter().all(|phase| phase.number != *number))
        else {
            continue;
        };
        if is_planned {
            findings.push(findings::unplanned_phase(project, number, *at));
            continue;
        }
        phases.push(Phase {
            number,
            name: said(number).map_or_else(String::new, |line| line.name.clone()),
            status: status(number),
        });
    }
    for (status, word) in [
        (PhaseStatus::InProgress, "in progress"),
        (PhaseStatus::Failed, "failed"),
    ] {
        let of_status: Vec<String> = phases
            .iter()
            .filter(|phase| phase.status == status)
            .map(|phase| phase.number.to_string())
            .collect();
        if of_status.len() > 1 {
            findings.push(findings::several_phases(project, &of_status, word));
        }
    }
    phases
}

/// Describes the unfinished phases of the memory that the plan lacks; `None` if there are none.
///
/// A truncated plan looks like one whose phases are all done. The memory distinguishes the two: it has
/// a line for every phase that was started, and the number of all phases. Once a correction is made,
/// all planned phases were done before, and a phase beyond them is the correction itself.
pub(super) fn lacking(project: &Project, inventory: &[Phase]) -> Option<String> {
    if project.fields.correction_cycle > 0 {
        return None;
    }
    let lines = project.memory.phase_lines();
    let numbers = lines.iter().filter_map(|(_, line)| line.number);
    let unplanned: BTreeSet<u32> = numbers
        .filter(|number| inventory.iter().all(|phase| phase.number != *number))
        .collect();
    let mut begun = Vec::new();
    let mut n_completed = 0;
    for number in unplanned {
        let status = project.memory.phase_status(number);
        let is_archived = project.archived.contains(&number);
        match status.filter(|_| !is_archived) {
            Some(PhaseStatus::InProgress) => begun.push(format!("phase {number} (in progress)")),
            Some(PhaseStatus::Failed) => begun.push(format!("phase {number} (failed)")),
            Some(PhaseStatus::Pending) => {}
            Some(PhaseStatus::Completed) => n_completed += 1,
            None => n_completed += usize::from(is_archived),
        }
    }
    let total = project.fields.phase_total.unwrap_or(0);
    let n_known = inventory.len() + n_completed;
    let n_missing = usize::try_from(total)
        .unwrap_or(usize::MAX)
        .saturating_sub(n_known);
    match (n_missing, begun.as_slice()) {
        (0, []) => None,
        (0, begun) => Some(begun.join(" and ")),
        (n, []) => Some(format!("{n} of the {total} phases that MEMORY.md counts")),
        (n, begun) => Some(format!(
            "{n} of the {total} phases that MEMORY.md counts, among them {}",
            begun.join(" and ")
        )),
    }
}

/// Picks the phase that comes next; `None` when all are completed.
pub(super) fn next_phase<'p>(
    project: &Project,
    inventory: &'p [Phase],
) -> Option<(&'p Phase, Pick)> {
    let lowest = |status: PhaseStatus| {
        let of_status = inventory.iter().filter(|phase| phase.status == status);
        of_status.min_by_key(|phase| phase.number)
    };
    let in_progress = lowest(PhaseStatus::InProgress);
    let failed = lowest(PhaseStatus::Failed);
    let pending = lowest(PhaseStatus::Pending);
    let noted = handoff::phase_under_way(&project.fields.handoff_note).and_then(|number| {
        let mut pending = inventory
            .iter()
            .filter(|phase| phase.status == PhaseStatus::Pending);
        pending.find(|phase| phase.number == number)
    });
    let pick = *PICKS.decide(Open {
        has_in_progress: in_progress.is_some(),
        is_noted: noted.is_some(),
        has_failed: failed.is_some(),
        has_pending: pending.is_some(),
    });
    let phase = match pick {
        Pick::InProgress => in_progress,
        Pick::HandoffNote => noted,
        Pick::Failed => failed,
        Pick::LowestPending => pending,
        Pick::Nothing => None,
    };
    phase.map(|phase| (phase, pick))
}
