//! The Task Retry Ledger: a table of STATE.md, read and edited by the names of its columns.
//!
//! The table is recognized by its header, anywhere in the file. Columns may be reordered, and unknown
//! columns are kept.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rekindle_text::{Edit, Span, parse_instant};

use super::page::Page;
use super::table::{Column, Table, clean, line_cells, trimmed};

const HEADING: &str = "Task Retry Ledger";
const HEADER: &str = "| Plan Task ID | Wave | Retries | Last Attempt | Last Status | Next Action |";
const SEPARATOR: &str =
    "| ------------ | ---- | ------- | ------------ | ----------- | ----------- |";

/// A row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerRow {
    pub(crate) plan_task: String,
    pub(crate) wave: String,
    /// The retries already launched; 0 if the cell holds no number.
    pub(crate) retries: u32,
    /// Whether the cell of the retries holds a number.
    pub(crate) is_readable: bool,
    pub(crate) last_attempt: Option<Timestamp>,
    pub(crate) last_status: String,
    /// In lower case.
    pub(crate) next_action: String,
    /// The 1-based line.
    pub(crate) line: usize,
}

/// A row to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewRow<'a> {
    pub(crate) plan_task: String,
    pub(crate) wave: u32,
    pub(crate) retries: u32,
    pub(crate) last_attempt: String,
    pub(crate) last_status: &'a str,
    pub(crate) next_action: &'a str,
}

impl NewRow<'_> {
    fn cell(&self, column: Column) -> String {
        let text = match column {
            Column::PlanTask => self.plan_task.clone(),
            Column::Wave => self.wave.to_string(),
            Column::Retries => self.retries.to_string(),
            Column::LastAttempt => self.last_attempt.clone(),
            Column::LastStatus => self.last_status.to_owned(),
            Column::NextAction => self.next_action.to_owned(),
        };
        let on_one_line = text.replace(['\n', '\r'], " ");
        on_one_line.trim().replace('|', "\\|")
    }

    /// Writes the row for columns, some of which may be unknown.
    fn line(&self, columns: &[Option<Column>]) -> String {
        let cells = columns
            .iter()
            .map(|column| column.map_or_else(String::new, |column| self.cell(column)));
        cells.fold("|".to_owned(), |line, cell| line + " " + &cell + " |")
    }
}

/// Returns the rows in order; of two rows of the same task, the last.
pub(super) fn rows(page: &Page) -> Vec<LedgerRow> {
    let Some(table) = Table::find(page) else {
        return Vec::new();
    };
    let mut last = BTreeMap::new();
    for row in table.rows.iter().filter_map(|&at| table.row(page, at)) {
        last.insert(row.plan_task.clone(), row);
    }
    let mut rows: Vec<LedgerRow> = last.into_values().collect();
    rows.sort_by_key(|row| row.line);
    rows
}

/// Returns the edits that put a row into the ledger, one row a task.
pub(super) fn upsert(page: &Page, new: &NewRow<'_>) -> Vec<Edit> {
    let Some(table) = Table::find(page) else {
        return vec![creation(page, new)];
    };
    if let Some(at) = table.row_of(page, &new.cell(Column::PlanTask)) {
        return table.replacements(page, at, |column| Some(new.cell(column)));
    }
    let line = indent(page, table.header) + &new.line(&table.columns);
    vec![insert_below(page, table.last, &[line])]
}

/// Returns the edits that change the next action in the row of a task, if it has one.
pub(super) fn next_action(page: &Page, plan_task: &str, action: &str) -> Vec<Edit> {
    let table = Table::find(page);
    let row = table.and_then(|table| Some((table.row_of(page, plan_task)?, table)));
    row.map_or_else(Vec::new, |(at, table)| {
        let is_it = |column| column == Column::NextAction;
        table.replacements(page, at, |column| is_it(column).then(|| action.to_owned()))
    })
}

impl Table {
    /// Returns the line of a task's last row.
    fn row_of(&self, page: &Page, plan_task: &str) -> Option<usize> {
        let plan_task = clean(plan_task.as_bytes());
        let is_its = |at: &&usize| {
            self.cell(page, **at, Column::PlanTask).as_deref() == Some(plan_task.as_str())
        };
        self.rows.iter().rfind(is_its).copied()
    }

    fn row(&self, page: &Page, at: usize) -> Option<LedgerRow> {
        let cell = |column| self.cell(page, at, column).unwrap_or_default();
        let plan_task = cell(Column::PlanTask);
        if plan_task.trim_matches(['-', '—', '–']).is_empty() {
            return None;
        }
        // The other counts of the file are written as `1 / 2`.
        let retries = cell(Column::Retries);
        let retries = retries.split('/').next().unwrap_or_default().trim();
        let retries = match retries.trim_matches(['-', '—', '–']) {
            "" => Ok(0),
            number => number.parse(),
        };
        Some(LedgerRow {
            plan_task,
            wave: cell(Column::Wave),
            is_readable: retries.is_ok(),
            retries: retries.unwrap_or(0),
            last_attempt: parse_instant(&cell(Column::LastAttempt)),
            last_status: cell(Column::LastStatus),
            next_action: cell(Column::NextAction).to_lowercase(),
            line: page.lines.get(at)?.line.number,
        })
    }

    /// Replaces the cells of a row that differ, and adds missing ones; a column without a new value is
    /// kept.
    fn replacements(
        &self,
        page: &Page,
        at: usize,
        new: impl Fn(Column) -> Option<String>,
    ) -> Vec<Edit> {
        let cells = line_cells(page, at);
        let mut edits = Vec::new();
        let mut added = String::new();
        for (place, column) in self.columns.iter().enumerate() {
            let text = column.and_then(&new);
            let Some(&span) = cells.get(place) else {
                added = format!("{added} {} |", text.unwrap_or_default());
                continue;
            };
            let Some((text, column)) = text.zip(*column) else {
                continue;
            };
            let old = clean(page.bytes(span));
            let is_wave =
                column == Column::Wave && old.strip_prefix("wave-").unwrap_or(&old) == text;
            if old == clean(text.as_bytes()) || is_wave {
                continue;
            }
            let inner = trimmed(page, span);
            edits.push(if inner.is_empty() {
                Edit::replace(&page.document, span, format!(" {text} "))
            } else {
                Edit::replace(&page.document, inner, text)
            });
        }
        if let Some(line) = page.lines.get(at).filter(|_| !added.is_empty()) {
            let content = trimmed(page, line.line.content);
            let is_closed = page.bytes(content).ends_with(b"|") && content.len() > 1;
            let opening = if is_closed { "" } else { " |" };
            edits.push(Edit::insert(content.end, format!("{opening}{added}")));
        }
        edits
    }
}

/// Creates the table under its own heading, under Correction Cycles, or at the end.
fn creation(page: &Page, new: &NewRow<'_>) -> Edit {
    let row = new.line(&Column::ALL.map(Some));
    let mut lines = vec![String::new(), HEADER.to_owned(), SEPARATOR.to_owned(), row];
    let end = if let Some((at, _)) = page.find_heading(HEADING) {
        page.end_of_section(at, usize::MAX)
    } else {
        lines.splice(0..0, [String::new(), format!("### {HEADING}")]);
        let cycles = page.find_heading("Correction Cycles");
        cycles.map_or(page.lines.len(), |(at, level)| {
            page.end_of_section(at, level)
        })
    };
    // At the end of a section no line below can be taken for a row.
    let section = page.lines.get(..end).unwrap_or_default();
    let Some(last) = section.iter().rposition(|line| !page.is_blank(line)) else {
        let eol = page.document.eol();
        let text = lines[1..].join(eol) + eol;
        return Edit::insert(page.document.as_bytes().len(), text);
    };
    if page
        .lines
        .get(last + 1)
        .is_some_and(|next| !page.is_blank(next))
    {
        lines.push(String::new());
    }
    insert_below(page, last, &lines)
}

/// Inserts lines below a line, or at the end if there is no such line.
fn insert_below(page: &Page, at: usize, lines: &[String]) -> Edit {
    if let Some(line) = page.lines.get(at) {
        return page.document.insert_below(line.line, lines);
    }
    let eol = page.document.eol();
    Edit::insert(page.document.as_bytes().len(), lines.join(eol) + eol)
}

fn indent(page: &Page, at: usize) -> String {
    let content = page
        .lines
        .get(at)
        .map_or(Span::default(), |line| line.line.content);
    let inner = trimmed(page, content);
    let blanks = page.bytes(Span::new(content.start, inner.start));
    String::from_utf8_lossy(blanks).into_owned()
}
