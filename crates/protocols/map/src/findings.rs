//! The findings about a branch's files.

use rekindle_map_machine::interruption::Interruption;
use rekindle_map_machine::{Desk, layout, root};
use rekindle_model::{Code, Finding, Place};
use rekindle_text::excerpt;

use crate::messages;
use crate::read::{self, Damage, Found, Workflow};

/// Returns the findings of one reading.
pub(crate) fn findings(desk: Desk<'_>, found: &Found) -> Vec<Finding> {
    let workflow = found.workflow();
    let mut findings = workflow.map_or_else(Vec::new, |workflow| of_workflow(desk, workflow));
    match found {
        Found::Unusable(unusable) => {
            let code = match unusable.damage {
                Damage::Corrupt => Code::StateCorrupt,
                Damage::Foreign => Code::NotAMapState,
            };
            let state = Place::path(desk.branch.file(layout::STATE));
            findings.push(Finding::new(code, unusable.reason.clone()).at(state));
        }
        Found::Suspended(suspended) => {
            if let Interruption::Unclear(unclear) = &suspended.interruption {
                let finding = Finding::new(Code::RepairMismatch, unclear.reason.clone());
                let finding = finding.at(Place::path(unclear.place.as_str()));
                findings.push(finding.hint(messages::REPAIR_HINT));
            }
        }
        Found::Nothing | Found::Workflow(_) => {}
    }
    let branch = desk.branch;
    if let Some(path) = read::other_checkpoint(desk.world, branch) {
        let message = format!(
            "`{path}` is where /map-resume looks for this branch, but MAP itself keeps the state in `.map/{branch}`"
        );
        findings.push(Finding::new(Code::OtherCheckpoint, message).at(Place::path(path)));
    }
    let current = root::branch(desk.world, None);
    if !matches!(found, Found::Nothing) && *branch != current {
        let message = format!(
            "the workflow belongs to `.map/{branch}`, but the branch that is checked out belongs to `.map/{current}`: agents would change the wrong files"
        );
        findings.push(Finding::new(Code::OtherBranch, message));
    }
    findings
}

fn of_workflow(desk: Desk<'_>, workflow: &Workflow) -> Vec<Finding> {
    let mut findings = workflow.findings.clone();
    let mut add = |code, message: String| {
        findings.push(Finding::new(code, message).at(Place::path(desk.branch.plan())));
    };
    let listed = |ids: &[&str]| excerpt(&ids.join(", "), 200);
    if !workflow.has_plan && !workflow.is_complete() && !workflow.is_before_plan() {
        let message = "there is a state but no task plan";
        add(Code::PlanMissing, message.to_owned());
    }
    let strays = workflow.briefing.progress.iter();
    let strays = strays.flat_map(|progress| &progress.strays);
    let strays: Vec<&str> = strays.map(String::as_str).collect();
    if !strays.is_empty() {
        let message = format!(
            "{} have no `- **Status:**` line below their headings, so MAP hides them or shows the status of another subtask",
            listed(&strays)
        );
        add(Code::HiddenSubtask, message);
    }
    let (planned, stated) = workflow.unmatched();
    for (ids, has, lacks) in [(planned, "plan", "state"), (stated, "state", "plan")] {
        if !ids.is_empty() {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let ids = listed(&ids);
            let message =
                format!("the {has} has {ids}, but the {lacks} does not; the state decides");
            add(Code::PlanDrift, message);
        }
    }
    let drift = workflow.drift();
    if !drift.is_empty() {
        let ids: Vec<&str> = drift.iter().map(|planned| planned.id.as_str()).collect();
        let ids = listed(&ids);
        let message = format!("plan and state disagree about {ids}; the state decides");
        add(Code::PlanDrift, message);
    }
    findings
}
