//! Commands that look and change nothing.

use rekindle_app::{EngineWish, Explained, ExplainedObject, Inspected, Listing, Project, Query};
use rekindle_model::{Finding, Severity, State};
use rekindle_wire::{CheckOut, Doctor, exit};

use super::{elsewhere, looked, started};
use crate::arguments::{ExplainArguments, InspectArguments, VERSION};
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn status(project: &Project, listing: Listing, terminal: &mut Terminal) -> u8 {
    let overview = rekindle_app::status(project, listing);
    rekindle_app::notify_interrupted(project, &overview, terminal);
    if terminal.is_json() {
        terminal.json(&overview.object(project));
        return exit::DONE;
    }
    let width = terminal.width();
    let text = render::status(&overview, &project.zone, width, terminal.is_verbose());
    terminal.result(&text);
    if let Some(last) = &overview.last_session {
        terminal.hint(&render::last_session(last));
    }
    if let Some(hint) = render::next_step(&overview) {
        terminal.hint(&hint);
    } else if overview.workflows.is_empty()
        && let Some(hint) = elsewhere(project)
    {
        terminal.hint(&render::hint(&hint));
    }
    exit::DONE
}

pub(super) fn inspect(
    project: &Project,
    arguments: &InspectArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    if let (Some(id), true) = (&arguments.workflow.id, arguments.handover) {
        let page = rekindle_app::handover_page(project, id)?;
        terminal.verbatim(&page);
        return Ok(exit::DONE);
    }
    let query = started(project, &arguments.workflow, &arguments.start);
    let inspected = if let Some(file) = &arguments.from {
        rekindle_app::inspect_recording(project, file, &query)?
    } else {
        let capture = arguments
            .capture
            .as_ref()
            .map(|file| project.typed_path(file));
        rekindle_app::inspect(project, &query, capture.as_deref())?
    };
    if let Some(file) = &arguments.capture {
        terminal.hint(&render::captured(file));
    }
    show(&inspected, terminal);
    if let Some(last) = &inspected.last_session {
        terminal.hint(&render::last_session(last));
    }
    Ok(looked(inspected.assessment().state != State::Unknown))
}

fn show(inspected: &Inspected, terminal: &mut Terminal) {
    let assessment = inspected.assessment();
    if terminal.is_json() {
        terminal.json(&inspected.object());
        return;
    }
    if inspected.is_nothing() {
        // The facts of a protocol that nobody named would say less.
        terminal.result(render::NOTHING);
        return;
    }
    terminal.result(&render::inspection(inspected));
    let least = if terminal.is_verbose() {
        Severity::Note
    } else {
        Severity::Warning
    };
    let findings: Vec<&Finding> = assessment
        .findings
        .iter()
        .chain(&inspected.of_records)
        .filter(|finding| finding.severity() >= least)
        .collect();
    terminal.result(&render::findings(&findings));
}

pub(super) fn plan(
    project: &Project,
    query: &Query,
    wish: &EngineWish,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let planned = rekindle_app::plan(project, query)?;
    if terminal.is_json() {
        let mut object = planned.object();
        let outline = rekindle_app::outline(project, &planned, wish);
        object.outline = outline.map(|outline| outline.object());
        terminal.json(&object);
    } else {
        let summary = planned.assessment.chosen();
        terminal.result(&render::plan(
            &planned.plan,
            summary,
            &planned.unfinished,
            &planned.commands,
            &planned.digest,
        ));
        let findings = planned.assessment.findings.iter();
        let findings = findings.filter(|finding| finding.severity() != Severity::Note);
        terminal.hint(&render::findings(&findings.collect::<Vec<_>>()));
        if let Some(last) = &planned.last_session {
            terminal.hint(&render::last_session(last));
        }
    }
    Ok(looked(planned.assessment.blockers().next().is_none()))
}

pub(super) fn explain(
    project: &Project,
    arguments: &ExplainArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let query = Query {
        protocol: arguments.protocol,
        name: Some(arguments.subject.clone()),
        ..Query::default()
    };
    let explained = rekindle_app::explain(project, &query, arguments.task.as_deref())?;
    match &explained {
        _ if terminal.is_json() => match explained.object() {
            ExplainedObject::Task(object) => terminal.json(&object),
            ExplainedObject::Code(object) => terminal.json(&object),
        },
        Explained::Task(explanation) => terminal.result(&render::explanation(explanation)),
        Explained::Code(code) => terminal.result(code.page()),
    }
    Ok(exit::DONE)
}

pub(super) fn doctor(project: &Project, terminal: &mut Terminal) -> u8 {
    let checks = rekindle_app::doctor(project, VERSION);
    let healthy = checks
        .iter()
        .all(|check| check.verdict != rekindle_app::Verdict::Problem);
    if terminal.is_json() {
        terminal.json(&Doctor {
            schema: "rekindle.doctor/1",
            healthy,
            checks: checks
                .into_iter()
                .map(|check| CheckOut {
                    name: check.name,
                    verdict: check.verdict.as_str().to_owned(),
                    seen: check.seen,
                    hint: check.hint,
                })
                .collect(),
        });
    } else {
        terminal.result(&render::doctor(&checks));
    }
    looked(healthy)
}
