//! What is odd about a branch's files.

use rekindle_model::{Code, Finding, Place};
use rekindle_text::excerpt;

use super::read::{self, Damage, Found, Suspended, Workflow};
use super::words;
use crate::desk::Desk;
use crate::interruption::Interruption;
use crate::layout;
use crate::root;

/// Returns the findings of one reading.
pub(super) fn noticed(desk: Desk<'_>, found: &Found) -> Vec<Finding> {
    let state = Place::path(desk.branch.file(layout::STATE));
    let mut findings = match found {
        Found::Nothing => Vec::new(),
        Found::Unusable(unusable) => {
            let code = match unusable.damage {
                Damage::Corrupt => Code::StateCorrupt,
                Damage::Foreign => Code::NotAMapState,
            };
            vec![Finding::new(code, unusable.reason.clone()).at(state)]
        }
        Found::Workflow(workflow) => of_workflow(desk, workflow),
        Found::Suspended(suspended) => of_suspended(desk, suspended),
    };
    if let Some(path) = read::by_the_pipeline(desk.world, desk.branch) {
        let message = format!(
            "`{path}` is where /map-resume looks for this branch, and MAP itself keeps its state in `.map/{}`",
            desk.branch
        );
        findings.push(Finding::new(Code::OtherCheckpoint, message).at(Place::path(path)));
    }
    let current = root::branch(desk.world, None);
    if !matches!(found, Found::Nothing) && *desk.branch != current {
        let message = format!(
            "the workflow belongs to `.map/{}`, and what is checked out belongs to `.map/{current}`: work would go on in the wrong files",
            desk.branch
        );
        findings.push(Finding::new(Code::OtherBranch, message));
    }
    findings
}

fn of_suspended(desk: Desk<'_>, suspended: &Suspended) -> Vec<Finding> {
    let workflow = suspended.workflow.as_ref();
    let mut findings = workflow.map_or_else(Vec::new, |workflow| of_workflow(desk, workflow));
    if let Interruption::Unclear(contradiction) = &suspended.interruption {
        let finding = Finding::new(Code::RepairMismatch, contradiction.reason.clone());
        let finding = finding.at(Place::path(contradiction.place.as_str()));
        findings.push(finding.hint(words::REPAIR_HINT));
    }
    findings
}

fn of_workflow(desk: Desk<'_>, workflow: &Workflow) -> Vec<Finding> {
    let mut findings = workflow.findings.clone();
    let plan = Place::path(desk.branch.plan());
    if !workflow.has_plan && !workflow.is_complete() && !workflow.is_before_plan() {
        let message = "there is a state and no task plan";
        findings.push(Finding::new(Code::PlanMissing, message).at(plan.clone()));
    }
    let strays = workflow.briefing.progress.iter();
    let strays: Vec<&str> = strays
        .flat_map(|progress| &progress.strays)
        .map(String::as_str)
        .collect();
    if !strays.is_empty() {
        let message = format!(
            "{} have no `- **Status:**` line of their own below their headings, so MAP hides them or gives them another's status",
            excerpt(&strays.join(", "), 200)
        );
        findings.push(Finding::new(Code::HiddenSubtask, message).at(plan.clone()));
    }
    let (planned, stated) = workflow.unmatched();
    for (ids, has, lacks) in [(planned, "plan", "state"), (stated, "state", "plan")] {
        if !ids.is_empty() {
            let message = format!(
                "the {has} has {}, and the {lacks} does not; the state decides",
                excerpt(&ids.join(", "), 200)
            );
            findings.push(Finding::new(Code::PlanDrift, message).at(plan.clone()));
        }
    }
    let drift = workflow.drift();
    if !drift.is_empty() {
        let ids: Vec<&str> = drift.iter().map(|(id, _)| id.as_str()).collect();
        let message = format!(
            "plan and state disagree about {}; the state decides",
            excerpt(&ids.join(", "), 200)
        );
        findings.push(Finding::new(Code::PlanDrift, message).at(plan));
    }
    findings
}
