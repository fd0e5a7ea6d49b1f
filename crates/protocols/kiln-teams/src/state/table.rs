//! A Markdown table that is recognized by the names of its columns.

use rekindle_text::Span;
pub(super) use rekindle_text::markdown::line::cell_text as clean;
use rekindle_text::markdown::line::{cells, is_table_rule};

use super::page::Page;

/// The known columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    PlanTask,
    Wave,
    Retries,
    LastAttempt,
    LastStatus,
    NextAction,
}

impl Column {
    /// In the order of a new table.
    pub(super) const ALL: [Self; 6] = [
        Self::PlanTask,
        Self::Wave,
        Self::Retries,
        Self::LastAttempt,
        Self::LastStatus,
        Self::NextAction,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::PlanTask => "plan task id",
            Self::Wave => "wave",
            Self::Retries => "retries",
            Self::LastAttempt => "last attempt",
            Self::LastStatus => "last status",
            Self::NextAction => "next action",
        }
    }
}

/// The table, as positions in the list of lines.
pub(super) struct Table {
    pub(super) header: usize,
    pub(super) columns: Vec<Option<Column>>,
    pub(super) rows: Vec<usize>,
    /// The last line of the table.
    pub(super) last: usize,
}

impl Table {
    pub(super) fn find(page: &Page) -> Option<Self> {
        let mut lines = page.lines.iter().enumerate();
        let (header, columns) = lines.find_map(|(at, _)| Some((at, header(page, at)?)))?;
        let mut table = Self {
            header,
            columns,
            rows: Vec::new(),
            last: header,
        };
        for (at, line) in lines {
            if line.is_hidden || page.is_blank(line) {
                continue;
            }
            let Some(cells) = cells(page.bytes(line.line.content)) else {
                break;
            };
            if cells.is_empty() || !is_table_rule(page.bytes(line.line.content)) {
                table.rows.push(at);
            } else if table.rows.is_empty() {
                table.last = at;
            } else {
                // What looked like the last row may have been the header of another table.
                table.rows.pop_if(|row| *row + 1 == at);
                break;
            }
        }
        table.last = table.rows.last().copied().unwrap_or(table.last);
        Some(table)
    }

    /// Returns what a cell says, without bold, backticks and blanks.
    pub(super) fn cell(&self, page: &Page, at: usize, column: Column) -> Option<String> {
        let place = self
            .columns
            .iter()
            .position(|found| *found == Some(column))?;
        let cells = line_cells(page, at);
        cells.get(place).map(|span| clean(page.bytes(*span)))
    }
}

/// Reads a line as the header of the ledger.
fn header(page: &Page, at: usize) -> Option<Vec<Option<Column>>> {
    let mut columns: Vec<Option<Column>> = Vec::new();
    for span in line_cells(page, at) {
        let name = clean(page.bytes(span)).to_lowercase();
        let name: Vec<&str> = name.split_whitespace().collect();
        let name = name.join(" ");
        let column = Column::ALL.into_iter().find(|column| column.name() == name);
        // Of two columns of the same name the first is meant.
        columns.push(column.filter(|column| !columns.contains(&Some(*column))));
    }
    let has = |column| columns.contains(&Some(column));
    (has(Column::PlanTask) && has(Column::Retries)).then_some(columns)
}

/// Returns the cells of a line that can be seen.
pub(super) fn line_cells(page: &Page, at: usize) -> Vec<Span> {
    let line = page.lines.get(at).filter(|line| !line.is_hidden);
    let Some(content) = line.map(|line| line.line.content) else {
        return Vec::new();
    };
    let cells = cells(page.bytes(content)).unwrap_or_default();
    let moved = |cell: Span| Span::new(content.start + cell.start, content.start + cell.end);
    cells.into_iter().map(moved).collect()
}

pub(super) fn trimmed(page: &Page, span: Span) -> Span {
    let bytes = page.bytes(span);
    let start = span.start + bytes.len() - bytes.trim_ascii_start().len();
    Span::new(start, start + bytes.trim_ascii().len())
}
