//! The facts of `inspect --json`: the keys of `build_resume_briefing`, and where the state stands.

use rekindle_model::Fact;
use rekindle_text::python_json::Json;

use super::read::{Damage, Found, Workflow};
use crate::interruption::Interruption;
use crate::layout::Branch;
use crate::state::key;

/// Returns the facts of a branch.
pub(super) fn facts(branch: &Branch, found: &Found) -> Fact {
    let verdict = match found {
        Found::Nothing => "no_checkpoint",
        Found::Unusable(unusable) => match unusable.damage {
            Damage::Corrupt => "corrupt",
            Damage::Foreign => "not_a_map_state",
        },
        Found::Suspended(suspended) => match suspended.interruption {
            Interruption::Unclear(_) => "repair_mismatch",
            Interruption::Idle | Interruption::Open(_) => "suspended",
        },
        Found::Workflow(workflow) if workflow.is_complete() => "complete",
        Found::Workflow(workflow) if !workflow.has_plan => "missing_plan",
        Found::Workflow(_) => "interrupted",
    };
    let known = [
        ("verdict", Fact::from(verdict)),
        ("branch", branch.as_str().into()),
    ];
    match found {
        Found::Workflow(workflow) => Fact::object(known.into_iter().chain(of(workflow))),
        Found::Suspended(suspended) => {
            let facts = suspended.workflow.as_ref().map(of).unwrap_or_default();
            let status = ("interruption", interruption(&suspended.interruption));
            Fact::object(known.into_iter().chain([status]).chain(facts))
        }
        Found::Nothing | Found::Unusable(_) => Fact::object(known),
    }
}

/// Returns what `get_interruption_status` answers.
fn interruption(interruption: &Interruption) -> Fact {
    match interruption {
        Interruption::Idle => Fact::object([("status", Fact::from("idle"))]),
        Interruption::Open(repair) => Fact::object([
            ("status", Fact::from("interrupted")),
            ("operation_id", repair.operation.as_str().into()),
            ("stage", repair.stage.as_str().into()),
            ("private_checkout", repair.checkout.as_str().into()),
        ]),
        Interruption::Unclear(contradiction) => Fact::object([
            ("status", Fact::from("error")),
            ("reasons", Fact::list([contradiction.reason.clone()])),
        ]),
    }
}

fn of(workflow: &Workflow) -> Vec<(&'static str, Fact)> {
    let briefing = &workflow.briefing;
    let artifacts = &briefing.artifacts;
    let (completed, pending, suggested) = briefing.counts();
    let resume_briefing = Fact::object([
        ("branch", artifacts.branch.as_str().into()),
        (
            "verification_summary_path",
            artifacts.verification_path.clone().into(),
        ),
        ("latest_review_path", artifacts.review_path.clone().into()),
        ("latest_qa_path", artifacts.qa_path.clone().into()),
        (
            "latest_verification_verdict",
            artifacts.verdict.clone().into(),
        ),
        ("latest_review_summary", artifacts.review.as_str().into()),
        (
            "latest_verification_summary",
            artifacts.verification.as_str().into(),
        ),
        ("suggested_fixes", Fact::list(artifacts.fixes.clone())),
    ]);
    let state = |key| text(workflow.state.get(key));
    let drift = workflow
        .drift()
        .into_iter()
        .map(|(id, status)| Fact::object([("id", Fact::from(id)), ("planned", status.into())]));
    let progress = Fact::object([
        ("done", Fact::list(workflow.done())),
        ("total", workflow.total().into()),
        ("drift", Fact::List(drift.collect())),
    ]);
    vec![
        ("goal", workflow.goal.clone().into()),
        ("current_step", state(key::STEP)),
        ("current_subtask", text(&briefing.current_subtask)),
        ("current_phase", text(&briefing.current_phase)),
        ("workflow_status", text(&briefing.workflow_status)),
        ("retry_isolation", text(&briefing.retry_isolation)),
        ("retry_quarantine_path", text(&briefing.quarantine_path)),
        ("completed_count", completed.into()),
        ("pending_count", pending.into()),
        ("suggested_next", suggested.into()),
        ("resume_briefing", resume_briefing),
        ("next_action", Fact::list(briefing.next_action.clone())),
        ("tdd_mode", workflow.state.is_tdd().into()),
        ("started_at", state(key::STARTED)),
        ("progress", progress),
    ]
}

/// Returns a value of the state; what is no text is shown as it is written.
fn text(value: &Json) -> Fact {
    match value.as_text() {
        Some(text) => text.into(),
        None if *value == Json::Null => Fact::Null,
        None => value.to_line().into(),
    }
}
