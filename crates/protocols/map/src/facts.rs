//! The facts of `inspect --json`: the keys of `build_resume_briefing` and the position of the workflow.

use rekindle_map_machine::Branch;
use rekindle_map_machine::interruption::Interruption;
use rekindle_map_machine::state::key;
use rekindle_model::Fact;
use rekindle_text::python_json::{Json, Object};

use crate::read::{Damage, Found, Workflow};

/// Returns the facts about a branch.
pub(crate) fn facts(branch: &Branch, found: &Found) -> Fact {
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
    let mut facts = vec![
        ("verdict".to_owned(), verdict.into()),
        ("branch".to_owned(), branch.as_str().into()),
    ];
    if let Found::Suspended(suspended) = found {
        let status = object(suspended.interruption.status());
        facts.push(("interruption".to_owned(), status));
    }
    facts.extend(found.workflow().into_iter().flat_map(of_workflow));
    Fact::object(facts)
}

fn of_workflow(workflow: &Workflow) -> Vec<(String, Fact)> {
    let state = |key| fact(workflow.state.get(key).clone());
    let drift = workflow.drift().into_iter().map(|planned| {
        let (id, status) = (planned.id.as_str(), planned.status.as_str());
        Fact::object([("id", Fact::from(id)), ("planned", status.into())])
    });
    let progress = Fact::object([
        ("done", Fact::list(workflow.done())),
        ("total", workflow.total().into()),
        ("drift", Fact::List(drift.collect())),
    ]);
    let mut facts = vec![
        ("goal".to_owned(), workflow.goal.clone().into()),
        ("current_step".to_owned(), state(key::STEP)),
    ];
    let briefing = workflow.briefing.to_json().into_iter();
    let briefing = briefing.filter(|(key, _)| key != "branch");
    facts.extend(briefing.map(|(key, value)| (key, fact(value))));
    facts.extend([
        ("tdd_mode".to_owned(), workflow.state.is_tdd().into()),
        ("started_at".to_owned(), state(key::STARTED)),
        ("progress".to_owned(), progress),
    ]);
    facts
}

fn object(object: Object) -> Fact {
    Fact::object(object.into_iter().map(|(key, value)| (key, fact(value))))
}

fn fact(value: Json) -> Fact {
    match value {
        Json::Null => Fact::Null,
        Json::Bool(value) => value.into(),
        Json::Int(number) => number.into(),
        Json::Text(text) => text.into(),
        Json::List(items) => Fact::List(items.into_iter().map(fact).collect()),
        Json::Object(inner) => object(inner),
        Json::LargeInt(_) | Json::Float(_) => value.to_line().into(),
    }
}
