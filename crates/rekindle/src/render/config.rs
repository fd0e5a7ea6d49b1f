//! What is configured, and where it is from.

use camino::Utf8Path;
use rekindle_app::{Configured, Project};
use rekindle_text::{excerpt, printable};

use super::table::{Cell, table};
use super::{FAINT, STRONG, WARNING, styled};

/// Returns a line for each setting: where it is from comes last, where there is room for it.
pub(crate) fn settings(configured: &Configured, project: &Project, width: usize) -> String {
    let rows: Vec<Vec<Cell>> = configured
        .config
        .settings()
        .iter()
        .map(|setting| {
            let from = match &setting.place {
                Some((path, line)) => {
                    let name = path.strip_prefix(&project.folder).unwrap_or(path);
                    format!("{}:{line}", excerpt(name.as_str(), 200))
                }
                None => "built in".to_owned(),
            };
            vec![
                Cell::styled(excerpt(&setting.key, 60), STRONG),
                Cell::styled(from, FAINT),
                Cell::new(printable(&setting.value)),
            ]
        })
        .collect();
    table(&rows, width)
}

/// Returns what was written.
pub(crate) fn initiated(path: &Utf8Path, agent: Option<&str>) -> String {
    let path = printable(path.as_str());
    match agent {
        Some(agent) => format!("wrote `{path}`; the default agent is `{agent}`\n"),
        None => format!("wrote `{path}`; no agent was found in `PATH`\n"),
    }
}

/// Returns a warning in a line of its own.
pub(crate) fn warning(warning: &str) -> String {
    format!("{}: {}\n", styled(WARNING, "warning"), printable(warning))
}
