//! The facts of `inspect --json`.

use rekindle_model::Fact;

use super::assess::{Execution, Judged, Routing};
use super::layout::{self, Layout};
use super::values::{Event, SubStage};

/// Returns the facts of a project whose memory can be followed.
pub(super) fn facts(judged: &Judged) -> Fact {
    let project = &judged.project;
    let fields = &project.fields;
    let (execution, branch) = match &judged.routing {
        Routing::Execution(execution) => (Some(execution), None),
        Routing::Validation(branch) => (None, Some(branch.as_str())),
        Routing::Brainstorm
        | Routing::Planning(_)
        | Routing::NoPhases
        | Routing::PhasesMissing(_)
        | Routing::Complete => (None, None),
    };
    let sub_stage = match &judged.routing {
        Routing::Planning(sub_stage) => Some(*sub_stage),
        Routing::Brainstorm
        | Routing::Execution(_)
        | Routing::NoPhases
        | Routing::PhasesMissing(_)
        | Routing::Validation(_)
        | Routing::Complete => fields.sub_stage,
    };
    let reason = match execution {
        Some(execution) => Some(execution.reason.as_str()),
        None => judged.is_past_execution.then_some("all_done"),
    };
    let inventory = judged.inventory.iter().map(|phase| {
        Fact::object([
            ("number", phase.number.into()),
            ("name", phase.name.as_str().into()),
            ("status", phase.status.as_str().into()),
        ])
    });
    let last_event = execution
        .and_then(|execution| execution.last_event)
        .map(Event::as_str);
    Fact::object([
        ("verdict", "ok".into()),
        ("corrupt_fields", Fact::List(Vec::new())),
        ("stage", fields.stage.as_str().into()),
        ("status", fields.status.as_str().into()),
        ("planning_sub_stage", sub_stage.map(SubStage::as_str).into()),
        ("debate_mode", fields.debate_mode.into()),
        ("correction_cycle", fields.correction_cycle.into()),
        ("route", Fact::list(judged.route())),
        (
            "phase",
            execution.map(|execution| execution.phase.number).into(),
        ),
        ("reason", reason.into()),
        ("inventory", Fact::List(inventory.collect())),
        ("last_event", last_event.into()),
        ("restart", execution.map(restart).into()),
        ("spawn", spawn(judged)),
        ("validation_branch", branch.into()),
        ("absent", Fact::list(absent(judged))),
        ("memory_dir", project.memory_dir.as_str().into()),
        ("handoff_note", fields.handoff_note.as_str().into()),
        ("recommended", fields.recommended.clone().into()),
    ])
}

/// Returns the facts of a project whose memory is missing or corrupt.
pub(super) fn unreadable(layout: &Layout, corrupt_fields: Option<&[&'static str]>) -> Fact {
    let verdict = if corrupt_fields.is_some() {
        "corrupt"
    } else {
        "no_memory"
    };
    let fields = corrupt_fields.unwrap_or_default().iter().copied();
    let unknown = [
        "stage",
        "status",
        "planning_sub_stage",
        "debate_mode",
        "correction_cycle",
        "phase",
        "reason",
        "last_event",
        "restart",
        "spawn",
        "validation_branch",
        "handoff_note",
        "recommended",
    ];
    let known = [
        ("verdict", Fact::from(verdict)),
        ("corrupt_fields", Fact::list(fields)),
        ("route", Fact::List(Vec::new())),
        ("inventory", Fact::List(Vec::new())),
        ("absent", Fact::List(Vec::new())),
        (
            "memory_dir",
            layout.memory().map(camino::Utf8PathBuf::into_string).into(),
        ),
    ];
    Fact::object(
        known
            .into_iter()
            .chain(unknown.map(|key| (key, Fact::Null))),
    )
}

fn restart(execution: &Execution) -> Fact {
    let restart = &execution.restart;
    Fact::object([
        ("step", restart.step.as_str().into()),
        ("task", restart.task.clone().into()),
        ("review_round", restart.review_round.into()),
    ])
}

fn spawn(judged: &Judged) -> Fact {
    let Some(helper) = judged.helper() else {
        return Fact::Null;
    };
    let quote = judged.quote(helper).map_or("", |(_, quote)| quote);
    Fact::object([
        ("name", helper.alias().into()),
        ("subagent_type", helper.kind().into()),
        ("description", quote.into()),
    ])
}

/// Returns the supporting files that are not there, sorted.
pub(super) fn absent(judged: &Judged) -> Vec<&'static str> {
    let is_absent = |name: &&str| !judged.project.documents.contains_key(*name);
    let mut absent: Vec<&str> = layout::SUPPORTING.into_iter().filter(is_absent).collect();
    absent.sort_unstable();
    absent
}
