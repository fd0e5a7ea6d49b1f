//! `artifact_manifest.json`: the files of each stage of a workflow.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use crate::desk::{Desk, Document};
use crate::layout;
use crate::reply::{Fault, Reply};

/// The stages of MAP's reference version, in order.
const STAGES: &str = "\
    workflow_fit spec plan test_contract repro_probe implementation review verification \
    retry_quarantine flaky_test_triage qualitative_convergence anti_repeat escalation \
    approval_hold worktree token_budget run_health learn_handoff implementer_readiness \
    context_usefulness wayfind_handoff review_verdict_ledger";

/// The record of a stage.
#[derive(Debug, Clone)]
pub(crate) struct Stage<'a> {
    pub(crate) name: &'a str,
    pub(crate) status: &'a str,
    /// Path and kind of each file.
    pub(crate) artifacts: Vec<(String, &'a str)>,
    pub(crate) metadata: Object,
}

/// Returns the effect that records a stage.
pub(crate) fn record(desk: Desk<'_>, stage: Stage<'_>) -> Result<Option<Action>, Fault> {
    let mut manifest = load(desk)?;
    let artifacts = stage.artifacts.into_iter();
    let artifacts =
        artifacts.map(|(path, kind)| Object::new().with("path", path).with("kind", kind));
    let entry = Object::new()
        .with("status", stage.status)
        .with("updated_at", desk.stamp())
        .with("artifacts", artifacts.collect::<Vec<_>>())
        .with("metadata", stage.metadata);
    if let Some(Json::Object(stages)) = manifest.get_mut("stages") {
        stages.set(stage.name, entry);
    }
    manifest.set("updated_at", desk.stamp());
    desk.written(&path(desk), format!("{}\n", manifest.to_lines()))
}

/// Returns the manifest's path.
pub(crate) fn path(desk: Desk<'_>) -> String {
    desk.branch.file(layout::MANIFEST)
}

/// Reads the manifest; missing parts, or all of an unreadable one, are as in a new manifest.
///
/// Unknown stages and keys follow the known ones.
fn load(desk: Desk<'_>) -> Result<Object, Fault> {
    let found = match desk.json(&path(desk))? {
        Document::Value(Json::Object(found)) => found,
        Document::Value(_) | Document::Broken(_) | Document::Absent => Object::new(),
    };
    let known = found.object("stages");
    let filled = |name: &str| {
        let stage = known.and_then(|known| known.object(name));
        (name.to_owned(), filled(stage).into())
    };
    let mut stages: Object = STAGES.split(' ').map(filled).collect();
    for (name, stage) in known.into_iter().flat_map(Object::iter) {
        if !stages.has(name) {
            stages.set(name, stage);
        }
    }
    let version = found.get("schema_version").cloned();
    let mut manifest = Object::new()
        .with("schema_version", version.unwrap_or_else(|| "1.0".into()))
        .with("branch", desk.branch.as_str())
        .with("updated_at", desk.stamp())
        .with("stages", stages);
    for (key, value) in found {
        if !manifest.has(&key) {
            manifest.set(key, value);
        }
    }
    Ok(manifest)
}

fn filled(stage: Option<&Object>) -> Object {
    let of = |key: &str, default: Json| {
        let found = stage.and_then(|stage| stage.get(key));
        found.cloned().unwrap_or(default)
    };
    Object::new()
        .with("status", of("status", "not_started".into()))
        .with("updated_at", of("updated_at", "".into()))
        .with("artifacts", of("artifacts", Json::List(Vec::new())))
        .with("metadata", of("metadata", Object::new().into()))
}

/// `finalize_plan`: completes the stage of the plan, if blueprint and plan exist.
pub(crate) fn finalize_plan(desk: Desk<'_>) -> Result<Reply, Fault> {
    let idle = |message: &str| {
        let answer = Object::new().with("status", "noop");
        Reply::of(answer.with("message", message))
    };
    let blueprint = desk.branch.file(layout::BLUEPRINT);
    if !desk.exists(&blueprint) || !desk.exists(&desk.branch.plan()) {
        return Ok(idle("There is no blueprint or no plan."));
    }
    let path = path(desk);
    let mut manifest = match desk.json(&path)? {
        Document::Absent => return Ok(idle("There is no artifact_manifest.json.")),
        Document::Broken(reason) => {
            return Ok(Reply::error(format!("{path} cannot be read: {reason}")));
        }
        Document::Value(Json::Object(manifest)) => manifest,
        Document::Value(other) => {
            let kind = other.kind();
            return Err(Fault::new(format!("`{path}` is {kind}, not an object")));
        }
    };
    let mut stages = match manifest.get("stages") {
        None => Object::new(),
        Some(Json::Object(stages)) => stages.clone(),
        Some(_) => return Ok(Reply::error(format!("`stages` in {path} is not an object"))),
    };
    let plan = stages.object("plan").cloned().unwrap_or_default();
    let plan = plan.with("status", "complete");
    let plan = plan.with("updated_at", desk.stamp());
    stages.set("plan", plan.clone());
    manifest.set("stages", stages);
    let action = desk.written(&path, manifest.to_lines())?;
    Ok(Reply::of(Reply::success().with("plan_stage", plan)).doing(action))
}
