//! Commands for protocols with validators and a migration.

use rekindle_app::{Migrated, Project, Validated};
use rekindle_wire::{ErrorBody, MigrateOut, ReportOut, ValidateOut, exit};

use super::looked;
use crate::arguments::ValidateArguments;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

/// The exit codes of the migration, as its script has them.
const NOTHING_TO_MIGRATE: u8 = 1;
const OTHER_FEATURE: u8 = 2;
const NOT_WRITTEN: u8 = 3;

pub(super) fn validate(
    project: &Project,
    arguments: ValidateArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let rules = arguments.rules;
    let spec = arguments.spec.map(Validated::Spec);
    let plan = arguments.plan.map(|path| Validated::Plan { path, rules });
    let feature = arguments.feature.map(Validated::Feature);
    let Some(what) = spec.or(plan).or(feature) else {
        return Err(Failure::usage(
            "no feature, spec or plan was named".to_owned(),
        ));
    };
    let found = rekindle_app::validate(project, &what)?;
    let valid = found.iter().all(|validation| validation.is_valid);
    if terminal.is_json() {
        terminal.json(&ValidateOut {
            schema: "rekindle.validate/1",
            valid,
            reports: found
                .into_iter()
                .map(|validation| ReportOut {
                    valid: validation.is_valid,
                    faults: validation.faults,
                    text: validation.report,
                })
                .collect(),
        });
    } else {
        let reports: Vec<&str> = found.iter().map(|found| found.report.as_str()).collect();
        terminal.result(&rekindle_text::printable_block(&reports.join("\n")));
    }
    Ok(looked(valid))
}

pub(super) fn migrate(
    project: &Project,
    feature: Option<&str>,
    yes: bool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let (outcome, code, id, summary, notes) =
        match rekindle_app::migrate(project, feature, yes, terminal)? {
            Migrated::Done { id, summary, notes } => ("done", exit::DONE, Some(id), summary, notes),
            Migrated::Declined => {
                let summary = "nothing was changed".to_owned();
                ("declined", exit::DONE, None, summary, Vec::new())
            }
            Migrated::Nothing { reason } => {
                ("nothing", NOTHING_TO_MIGRATE, None, reason, Vec::new())
            }
            Migrated::Mismatch { reason } => ("mismatch", OTHER_FEATURE, None, reason, Vec::new()),
            Migrated::Failed { source } => {
                let first: &dyn std::error::Error = &source;
                let causes = std::iter::successors(Some(first), |error| error.source());
                let causes: Vec<String> = causes.map(ToString::to_string).collect();
                let summary = causes.join(": ");
                ("failed", NOT_WRITTEN, None, summary, Vec::new())
            }
        };
    if terminal.is_json() {
        terminal.json(&MigrateOut {
            schema: "rekindle.migrate/1",
            id: id.map(|id| id.to_string()),
            outcome: outcome.to_owned(),
            summary,
            notes,
        });
    } else if outcome == "declined" {
        terminal.hint(&format!("{summary}\n"));
    } else if code == exit::DONE {
        terminal.result(&format!("{}\n", rekindle_text::printable(&summary)));
        for note in notes {
            terminal.hint(&render::hint(&note));
        }
    } else {
        terminal.note(&render::failure(&ErrorBody {
            code: None,
            message: summary,
            causes: Vec::new(),
            findings: Vec::new(),
            hints: Vec::new(),
            exit: code,
        }));
    }
    Ok(code)
}
