//! A summary of a workflow for a model.

use rekindle_app::{Error, Planned, Query};
use rekindle_model::{Finding, State, Summary, Then};
use rekindle_text::{excerpt, format_seconds};
use rekindle_wire::Brief;

use crate::quote::quoted;
use crate::server::Desk;

/// The most findings that are listed.
const MOST_FINDINGS: usize = 20;
/// The most bytes of the protocol's own text.
const LONGEST_REPORT: usize = 8 * 1024;

/// Returns the summary of the requested workflow.
pub(crate) fn brief(desk: &Desk, query: &Query) -> Result<Brief, Error> {
    let planned = match rekindle_app::plan(&desk.project, query) {
        Ok(planned) => planned,
        Err(Error::Nothing | Error::NothingOpen | Error::NothingOf { .. })
            if query.name.is_none() =>
        {
            return Ok(Brief {
                schema: "rekindle.brief/1",
                id: None,
                state: State::Nothing.as_str().to_owned(),
                text: "Nothing to resume here.\n".to_owned(),
            });
        }
        Err(error) => return Err(error),
    };
    let id = planned.plan.id.to_string();
    let state = planned.assessment.chosen().map(|summary| summary.state);
    let mut text = standing(&planned);
    if let Some(at_work) = rekindle_app::at_work(&desk.project, &planned.plan.id)? {
        text.push_str(&format!(
            "at work on it now: {}\n",
            excerpt(&at_work.to_string(), 300)
        ));
    }
    let origin = format!("the files of `{}`", excerpt(&id, 200));
    Ok(Brief {
        schema: "rekindle.brief/1",
        text: quoted(&origin, &text),
        id: Some(id),
        state: state
            .unwrap_or(planned.assessment.state)
            .as_str()
            .to_owned(),
    })
}

fn standing(planned: &Planned) -> String {
    let mut text = planned
        .assessment
        .chosen()
        .map_or_else(String::new, summary);
    let findings = &planned.assessment.findings;
    for finding in findings.iter().take(MOST_FINDINGS) {
        text.push_str(&line(finding));
    }
    if let rest @ 1.. = findings.len().saturating_sub(MOST_FINDINGS) {
        text.push_str(&format!("and {rest} more findings\n"));
    }
    // What a protocol prints when it is resumed would say here that it is.
    text.push_str(beginning(&planned.plan.before_asking));
    if let Then::Stop(stop) = &planned.plan.then {
        for hint in &stop.hints {
            text.push_str(&format!("hint: {}\n", excerpt(hint, 300)));
        }
    }
    text
}

fn summary(summary: &Summary) -> String {
    let at = summary
        .last_activity
        .map_or_else(|| "at an unknown time".to_owned(), format_seconds);
    format!(
        "workflow: {}\nstate: {}, {}, {} tasks, last activity {at}\nnext: {}\n",
        summary.id,
        summary.state.as_str(),
        summary.stage,
        summary.progress,
        summary.next.summary,
    )
}

fn line(finding: &Finding) -> String {
    let place = finding
        .place
        .as_ref()
        .map_or_else(String::new, |place| format!(" ({place})"));
    let message = excerpt(&finding.message, 300);
    let severity = finding.severity().as_str();
    format!(
        "{severity}[{}]: {message}{}\n",
        finding.code,
        excerpt(&place, 300)
    )
}

/// Returns as much of a report as fits.
fn beginning(report: &str) -> &str {
    let mut end = report.len().min(LONGEST_REPORT);
    while !report.is_char_boundary(end) {
        end -= 1;
    }
    &report[..end]
}
